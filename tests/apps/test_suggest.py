"""``nary suggest``: the table shows what the JSON says."""

from pathlib import Path

import pytest
from apps.command import Nary

from nary.facts import Fact
from nary.runs import TrainedModel


@pytest.fixture(scope="module")
def fact(model: TrainedModel) -> Fact:
    return next(fact for fact in model.dataset.test.facts(model.dataset.vocabulary) if fact.qualifiers)


def test_suggest(nary: Nary, model: TrainedModel, run_folder: Path, fact: Fact) -> None:
    result = nary("suggest", run_folder, fact, "-k", 4, "--json").json
    assert result == model.suggest(fact, 4).as_dict()
    assert len(result["suggestions"]) == 4
    shown = nary("suggest", run_folder, fact, "-k", 4).out
    assert str(fact) in shown
    for one in result["suggestions"]:
        assert one["value_label"] in shown
        assert f"{one['probability']:.1%}" in shown


def test_what_stored_facts_add_comes_first(nary: Nary, run_folder: Path, fact: Fact) -> None:
    part = Fact(*fact.primary)
    attribute, value = fact.qualifiers[0]
    first = nary("suggest", run_folder, part).out.splitlines()[2]
    assert str(fact) in first
    known = nary("suggest", run_folder, part, "--known", "only", "--json").json["suggestions"]
    assert (attribute, value) in {(one["attribute"], one["value"]) for one in known}
    assert all(one["known"] for one in known)
    hidden = nary("suggest", run_folder, part, "--known", "hide", "--json").json["suggestions"]
    assert hidden
    assert not any(one["known"] for one in hidden)


def test_suggest_says_what_to_know(nary: Nary, model: TrainedModel, run_folder: Path) -> None:
    names = model.dataset.vocabulary
    long = " | ".join(["", *(f"{names.relations[0]}: {name}" for name in names.entities[:6])])
    outcome = nary("suggest", run_folder, f"{names.entities[0]} | {names.relations[0]} | {names.entities[1]}{long}")
    assert "note: no stored fact has arity 9" in outcome.err


@pytest.mark.parametrize("command", ["suggest", "explain"])
def test_a_whole_fact_is_needed(nary: Nary, model: TrainedModel, run_folder: Path, command: str) -> None:
    outcome = nary(command, run_folder, f"? | {model.dataset.vocabulary.relations[0]} | x", "--json")
    assert outcome.code == 2
    assert "has a gap" in outcome.error["message"]
