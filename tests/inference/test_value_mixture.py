"""Values of attributes: the model corrected by the range, by hand and by the laws of mixtures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference.memory import remembering
from runs.small import dataset_of

from nary.facts import Fact
from nary.inference.predictor import Predictor
from nary.inference.value_mixture import Floats, ValueMixture, fit_weights

TRAIN = [
    *[Fact("Ada", "studies", "art", [("at", "Bonn")])] * 3,
    Fact("Ben", "studies", "law", [("at", "Jena")]),
    Fact("Cy", "studies", "law"),
]
DATA = dataset_of(train=TRAIN)
NAMES = DATA.vocabulary
AT = NAMES.relation("at")


def mixed(present: list[int] = [], **probabilities: float) -> dict[str, float]:  # noqa: B006 (never changed)
    """The mixture without held-out facts; entities that are not named share what is left."""
    size = len(NAMES.entities)
    model = np.full(size, (1 - sum(probabilities.values())) / (size - len(probabilities)))
    for name, probability in probabilities.items():
        model[NAMES.entity(name)] = probability
    mixture = ValueMixture(remembering(DATA).context, None).mix(model, AT, present)
    assert mixture.sum() == pytest.approx(1)
    return dict(zip(NAMES.entities, mixture.tolist(), strict=True))


def test_by_hand() -> None:
    # all entities are as probable: each of the three powers says 1/7, or 1/2 within the range; the range 3/4 and 1/4
    numbers = mixed()
    assert len(numbers) == 7
    assert numbers["Bonn"] == pytest.approx((3 / 7 + 3 / 2 + 3 / 4) / 7)
    assert numbers["Jena"] == pytest.approx((3 / 7 + 3 / 2 + 1 / 4) / 7)
    assert numbers["law"] == pytest.approx((3 / 7) / 7)


def test_a_value_outside_of_the_range_is_first_only_if_the_model_is_sure() -> None:
    unsure = mixed(law=0.2, Bonn=0.2, Jena=0.2)
    assert unsure["Bonn"] > unsure["Jena"] > unsure["law"]
    sure = mixed(law=0.95)
    assert max(sure, key=lambda name: sure[name]) == "law"


def test_what_a_fact_has_is_not_its_next_value() -> None:
    numbers = mixed([NAMES.entity("Bonn")])
    assert numbers["Bonn"] == 0
    assert numbers["Jena"] == pytest.approx((3 / 6 + 3 + 1) / 7)
    nothing_left = mixed([NAMES.entity("Bonn"), NAMES.entity("Jena")])
    assert nothing_left["law"] == pytest.approx(1 / 5)  # what the model says


def test_held_out_facts_decide_whether_the_range_counts() -> None:
    """In valid ``at`` has a value that it never has in train, or one that it often has."""
    sums = []
    for value in ("Bonn", "Jena"):
        valid = [Fact(f"P{i}", "studies", "art", [("at", value)]) for i in range(40)]
        data = dataset_of(train=TRAIN, valid=valid)
        predictor = Predictor(remembering(data).context.model, data, data["valid"])
        names = data.vocabulary
        flat = np.full(len(names.entities), 1 / len(names.entities))
        sums.append(predictor.suggester.mixture.mix(flat, names.relation("at"), [])[names.entity("Bonn")])
    assert sums[0] > 0.6 > 0.5 > sums[1]


_LIKELIHOODS = st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), max_size=8)


@given(_LIKELIHOODS)
def test_fitted_weights_are_a_distribution_and_no_worse_than_the_prior(rows: list[list[float]]) -> None:
    likelihoods, prior = np.array(rows, float).reshape(-1, 3), np.array([1.0, 2.0, 1.0])
    weights = fit_weights(likelihoods, prior)
    assert weights.sum() == pytest.approx(1)

    def objective(of: Floats) -> float:
        logs = np.log(np.maximum(likelihoods @ of, 1e-300))[likelihoods.sum(axis=1) > 0]
        return float(logs.sum() + (prior * np.log(of)).sum())

    assert objective(weights) >= objective(prior / 4) - 1e-9


def test_weights_by_hand() -> None:
    # with the first component always right: (n + prior) / (n + all priors)
    assert fit_weights(np.tile([1.0, 0.0], (8, 1)), np.ones(2)) == pytest.approx([9 / 10, 1 / 10])
    assert fit_weights(np.empty((0, 2)), np.array([3.0, 1.0])) == pytest.approx([0.75, 0.25])
