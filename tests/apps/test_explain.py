"""``nary explain``: readable, and the same as the JSON."""

from pathlib import Path

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


def test_json(nary: Nary, run: TrainedModel, fact: Fact) -> None:
    found = nary("explain", run.folder, fact, "--position", "value 1", "--json").json
    assert found == run.explain(fact, "value 1").as_dict()
    assert found["answer"] == fact.qualifiers[0][1]


def test_the_tables(nary: Nary, run: TrainedModel, fact: Fact) -> None:
    found = run.explain(fact, "object")
    shown = nary("explain", run.folder, fact)
    assert shown.code == 0
    assert f"object: {fact.object}" in shown.out
    for one in found.contributions:
        assert f"{one.contribution:+.2f}" in shown.out
    for similar in found.supporting:
        assert similar.fact in shown.out
    assert ("█" in shown.out) == any(one.contribution > 0 for one in found.contributions)
    assert "Where attention goes" in shown.out


def test_a_model_without_vectors_or_attention(nary: Nary, fact: Fact, tmp_path: Path) -> None:
    small_run(tmp_path / "run", model="frequency", dataset=small_data(100))
    shown = nary("explain", tmp_path / "run", fact)
    assert shown.code == 0
    assert "note: frequency needs the primary triple" in shown.err
    assert "note: frequency has no query vectors" in shown.err
    assert "Where attention goes" not in shown.out


def test_mistakes(nary: Nary, run: TrainedModel, fact: Fact) -> None:
    for position in ("verb", "value 9"):
        found = nary("explain", run.folder, fact, "--position", position, "--json")
        assert found.code == 2
        assert position in found.error["message"]
