"""``nary explain``: readable, and the same as the JSON."""

from pathlib import Path

import pytest
from apps.command import Nary
from runs.small import small_data, small_run

from nary.facts import Fact
from nary.runs import TrainedModel


@pytest.fixture(scope="module")
def fact(model: TrainedModel) -> Fact:
    return next(fact for fact in model.dataset.test.facts(model.dataset.vocabulary) if fact.qualifiers)


def test_json(nary: Nary, model: TrainedModel, run_folder: Path, fact: Fact) -> None:
    result = nary("explain", run_folder, fact, "--position", "value 1", "--json").json
    assert result == model.explain(fact, "value 1").as_dict()
    assert result["answer"] == fact.qualifiers[0][1]


def test_the_tables(nary: Nary, model: TrainedModel, run_folder: Path, fact: Fact) -> None:
    explanation = model.explain(fact, "object")
    shown = nary("explain", run_folder, fact)
    assert shown.code == 0
    assert f"object: {fact.object}" in shown.out
    for one in explanation.contributions:
        assert f"{one.contribution:+.2f}" in shown.out
    for similar in explanation.supporting:
        assert similar.fact in shown.out
    assert ("█" in shown.out) == any(one.contribution > 0 for one in explanation.contributions)
    assert "Attention weights" in shown.out


def test_a_model_without_vectors_or_attention(nary: Nary, fact: Fact, tmp_path: Path) -> None:
    small_run(tmp_path / "run", model="frequency", dataset=small_data(100))
    shown = nary("explain", tmp_path / "run", fact)
    assert shown.code == 0
    assert "note: frequency cannot mask several elements" in shown.err
    assert "note: frequency has no query embeddings" in shown.err
    assert "Attention weights" not in shown.out


def test_mistakes(nary: Nary, run_folder: Path, fact: Fact) -> None:
    for position in ("verb", "value 9"):
        outcome = nary("explain", run_folder, fact, "--position", position, "--json")
        assert outcome.code == 2
        assert position in outcome.error["message"]
