"""Rules and parts of a blend in explanations, and lists of rules."""

from pathlib import Path

import polars as pl
import pytest
from runs.small import small_recipe, train_in

from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.facts import Fact
from nary.runs import TrainedModel, blend_runs

_SIBLINGS = [Fact(f"{a}{i}", "sibling", f"{b}{i}") for i in range(5) for a, b in (("A", "B"), ("B", "A"))]
TRAIN = [*_SIBLINGS, Fact("B9", "sibling", "A9"), *(Fact(f"A{i}", "likes", "tea") for i in range(4))]
ASKED = Fact("A9", "sibling", "B9")
DATA = Dataset.from_facts("toy", {"train": TRAIN, "valid": [Fact("A4", "likes", "tea")], "test": [ASKED]})


@pytest.fixture(scope="module")
def rules() -> TrainedModel:
    return train_in(None, DATA, small_recipe(DATA, "rules", training__batch_size=8)).model


@pytest.fixture(scope="module")
def blend(rules: TrainedModel) -> TrainedModel:
    gran = train_in(None, DATA, small_recipe(DATA, training__batch_size=8)).model
    return blend_runs([rules, gran]).model


def test_an_answer_comes_with_the_rules_and_facts_behind_it(rules: TrainedModel) -> None:
    explanation = rules.explain(ASKED, "object")
    best = explanation.rules[0]
    assert [fact.fact for fact in best.facts] == ["B9 | sibling | A9"]
    assert (best.kind, best.support, best.cases) == ("link", 10, 10)
    assert explanation.parts == []
    assert explanation.as_dict()["rules"][0]["facts"] == [{"fact": "B9 | sibling | A9", "label": "B9 | sibling | A9"}]


def test_a_blend_tells_what_each_part_says(blend: TrainedModel) -> None:
    explanation = blend.explain(ASKED, "object")
    assert explanation.rules[0].facts[0].fact == "B9 | sibling | A9"
    assert {vote.model for vote in explanation.parts} <= {"rules", "gran"}
    assert sum(vote.weight for vote in explanation.parts) == pytest.approx(1)
    of_rules = next(vote for vote in explanation.parts if vote.model == "rules")
    assert of_rules.rank == 1
    assert 0 < of_rules.probability <= 1
    assert explanation.supporting  # found with the vectors of GRAN
    assert explanation.attention
    assert blend.similar("tea", k=2).neighbors


def test_other_models_have_no_rules() -> None:
    frequency = train_in(None, DATA, small_recipe(DATA, "frequency", training__batch_size=8)).model
    explanation = frequency.explain(ASKED, "object")
    assert (explanation.rules, explanation.parts) == ([], [])
    with pytest.raises(SettingError, match="frequency has no rules"):
        frequency.rules()


@pytest.mark.parametrize("name", ["rules", "blend"])
def test_rules_are_listed_and_stored(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    model: TrainedModel = request.getfixturevalue(name)
    listed = model.rules("sibling", "link", "object")
    (rule,) = listed.rules
    assert (rule.target, rule.support, rule.cases) == ("object of sibling", 10, 10)
    assert rule.example is not None
    assert listed.relation == "sibling"
    model.save(tmp_path / "model")
    stored = pl.read_parquet(tmp_path / "model" / "rules.parquet")
    assert len(stored) == listed.total
    assert stored.filter(kind="link", target="object of sibling", body=rule.body)["confidence"].to_list() == [
        rule.confidence
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "links"}, "unknown kind of rule 'links'"),
        ({"role": "verb"}, "unknown role 'verb'"),
        ({"relation": "siblin"}, "siblin"),
        ({"limit": 0}, "0 rules were asked for"),
    ],
)
def test_mistakes(rules: TrainedModel, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(Exception, match=message) as caught:
        rules.rules(**arguments)  # type: ignore[arg-type]
    assert getattr(caught.value, "hint", None)
