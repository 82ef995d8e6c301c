"""Logistic regression by hand and by its laws; fact classification on a model trained here."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference.laureates import laureates
from inference.memory import remembering
from runs.small import small_data

from nary.facts import Fact
from nary.inference.classification import FactClassifier, LogisticRegression
from nary.inference.corruption import Corruption, rows_of_table, table_of_rows
from nary.inference.evidence import FROM_MODEL
from nary.inference.percentiles import NUM_PERCENTILES
from nary.inference.predictor import Predictor
from nary.models.base import DatasetInfo
from nary.models.frequency import Frequency, FrequencySettings


def test_regression_by_hand() -> None:
    # 3 of 4 with the feature are true, 1 of 4 without: many of them, so that the penalty does not matter
    values = np.repeat([[1.0], [1.0], [0.0], [0.0]], [3000, 1000, 1000, 3000], axis=0)
    labels = np.repeat([1.0, 0.0, 1.0, 0.0], [3000, 1000, 1000, 3000])
    fitted = LogisticRegression.fit(values, labels)
    np.testing.assert_allclose(fitted.probability(np.array([[1.0], [0.0]])), [0.75, 0.25], atol=1e-3)


def test_a_weight_that_may_not_be_negative_is_zero() -> None:
    values = np.repeat([[1.0], [0.0]], [1000, 1000], axis=0)
    labels = np.repeat([0.0, 1.0], [1000, 1000])
    fitted = LogisticRegression.fit(values, labels, nonnegative=1)
    np.testing.assert_allclose(fitted.probability(np.array([[1.0], [0.0]])), [0.5, 0.5], atol=1e-3)


@given(st.integers(0, 1000))
def test_probabilities_of_the_sample_add_up_and_no_nearby_weights_are_more_likely(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = random.normal(size=(400, 3))
    labels = (random.random(400) < 1 / (1 + np.exp(-values @ [2.0, -1.0, 0.0]))).astype(float)
    fitted = LogisticRegression.fit(values, labels)
    probability = fitted.probability(values)
    assert probability.sum() == pytest.approx(labels.sum(), abs=1e-2)  # what the free bias brings about
    assert ((probability > 0.5) == (labels == 1)).mean() > 0.7


def frequency(held_out_facts: int) -> Predictor:
    data = laureates()
    model = Frequency(FrequencySettings(), DatasetInfo.from_dataset(data))
    return Predictor(model, data, data.valid.take(np.arange(held_out_facts)))


def test_better_evidence_of_the_model_never_makes_a_fact_less_plausible() -> None:
    classifier = frequency(24).classifier
    (before, *_) = classifier.evidence.measure(laureates().test)
    percentiles, regression = classifier._fitted
    features = classifier._features(percentiles, before)
    for column in range(NUM_PERCENTILES + FROM_MODEL):
        better = features.copy()
        better[:, column] += 1.0
        assert (regression.probability(better) >= regression.probability(features)).all()


def test_the_fit_is_the_same_every_time() -> None:
    one, two = (frequency(24).score_table(laureates().test) for _ in range(2))
    assert one == two
    assert all(scored.calibrated and not scored.notes for scored in one)


def test_a_frequent_answer_is_more_plausible_than_what_never_stood_there() -> None:
    person = "physics person 5"
    facts = [Fact(person, "award received", name) for name in ("Nobel Prize in Chemistry", "Berlin")]
    prize, place = (scored.plausibility for scored in frequency(24).score(facts))
    assert place < 0.5 < prize


def test_few_held_out_facts_are_no_calibration() -> None:
    predictor = frequency(19)
    (scored, *_) = predictor.score_table(laureates().test)
    assert not scored.calibrated
    assert scored.notes == ["plausibility is not calibrated: fewer than 20 valid facts are held out from training"]
    assert scored.plausibility == pytest.approx(np.prod([element.fit for element in scored.elements]))


def test_corrupted_facts_are_less_plausible() -> None:
    predictor = frequency(24)
    random, corruption = np.random.default_rng(5), Corruption(predictor.context)
    true = rows_of_table(laureates().test)
    changed = [corruption.corrupt(row, bool(i % 2), random) for i, row in enumerate(true)]
    scores = [predictor.score_table(table_of_rows([row for row in part if row])) for part in (true, changed)]
    means = [np.mean([one.plausibility for one in part]) for part in scores]
    assert means[1] < 0.5 < means[0]


def test_a_fact_is_no_evidence_for_itself() -> None:
    """The counts about a training fact are those of a model that has not seen it."""
    data = small_data(200)
    row = rows_of_table(data.train)[0]
    whole = remembering(data)
    without = remembering(
        type(data)("rest", data.vocabulary, {**data.splits, "train": data.train.take(np.arange(1, len(data.train)))})
    )
    features = []
    for predictor in (whole, without):
        evidence = FactClassifier(predictor.context, None).evidence
        (measured,) = evidence.measure(table_of_rows([row]))
        features.append(evidence.features(measured)[0, FROM_MODEL:])
    np.testing.assert_allclose(features[0], features[1])
