"""``nary suggest``: the table shows what the JSON says."""

import pytest
from apps.command import Nary
from runs.small import small_data, small_run

from nary.facts import Fact
from nary.runs import TrainedModel


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    return small_run(tmp_path_factory.mktemp("trained") / "run", dataset=small_data(100))


@pytest.fixture(scope="module")
def fact(run: TrainedModel) -> Fact:
    return next(fact for fact in run.dataset.test.facts(run.dataset.vocabulary) if fact.qualifiers)


def test_suggest(nary: Nary, run: TrainedModel, fact: Fact) -> None:
    found = nary("suggest", run.folder, fact, "-k", 4, "--json").json
    assert found == run.suggest(fact, 4).as_dict()
    assert len(found["suggestions"]) == 4
    shown = nary("suggest", run.folder, fact, "-k", 4).out
    assert str(fact) in shown
    for one in found["suggestions"]:
        assert one["value_label"] in shown
        assert f"{one['probability']:.1%}" in shown


def test_suggest_says_what_to_know(nary: Nary, run: TrainedModel) -> None:
    names = run.dataset.vocabulary
    long = " | ".join(["", *(f"{names.relations[0]}: {name}" for name in names.entities[:6])])
    found = nary("suggest", run.folder, f"{names.entities[0]} | {names.relations[0]} | {names.entities[1]}{long}")
    assert "note: the model has never seen a fact of arity 9" in found.err


@pytest.mark.parametrize("command", ["suggest", "explain"])
def test_a_whole_fact_is_needed(nary: Nary, run: TrainedModel, command: str) -> None:
    found = nary(command, run.folder, f"? | {run.dataset.vocabulary.relations[0]} | x", "--json")
    assert found.code == 2
    assert "has a gap" in found.error["message"]
