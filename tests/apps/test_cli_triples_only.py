"""``data.qualifiers = false`` and ``--candidates`` as the shell sees them."""

import json
from pathlib import Path

import pytest
from apps.command import Nary
from runs.small import options, small_run

FACTS = """\
{"subject": "Ada", "relation": "won", "object": "Prize", "qualifiers": [["in", "1901"]]}
{"subject": "Ada", "relation": "won", "object": "Prize", "qualifiers": [["in", "1902"]]}
{"subject": "Ben", "relation": "won", "object": "Medal", "qualifiers": [["in", "1901"]]}
{"subject": "Ben", "relation": "won", "object": "Prize"}
{"subject": "Cy", "relation": "won", "object": "Medal", "qualifiers": [["in", "1902"]]}
{"subject": "Cy", "relation": "won", "object": "Prize"}
"""


@pytest.fixture
def run(nary: Nary, tmp_path: Path) -> Path:
    (tmp_path / "facts.jsonl").write_text(FACTS)
    settings = options(data__qualifiers="false", training__batch_size=8)
    outcome = nary("train", tmp_path / "facts.jsonl", *settings, "--out", tmp_path / "run")
    assert outcome.code == 0
    assert "note: Qualifiers are left out. Distinct triples: " in outcome.err
    return tmp_path / "run"


def test_from_training_to_a_recorded_result(nary: Nary, run: Path, tmp_path: Path) -> None:
    outcome = nary("evaluate", run, "--record", tmp_path / "results", "--label", "mine")
    assert outcome.code == 0
    assert "Qualifiers are left out: the model was trained on primary triples and is ranked on them." in outcome.out
    (path,) = (tmp_path / "results").rglob("*.json")
    assert path.name == "gran-hete-triples-mine-seed0.json"
    content = json.loads(path.read_text())
    assert content["recipe"]["data"]["qualifiers"] is False
    assert content["notes"][0].startswith("Qualifiers are left out")


def test_other_facts_lose_their_qualifiers_even_unknown_ones(nary: Nary, run: Path, tmp_path: Path) -> None:
    (tmp_path / "more.jsonl").write_text(
        '{"subject": "Ada", "relation": "won", "object": "Medal", "qualifiers": [["never", "seen"]]}\n'
    )
    ranks = tmp_path / "ranks.jsonl"
    result = nary("evaluate", run, tmp_path / "more.jsonl", "--ranks", ranks, "--json").json
    assert result["metrics"]["entity"]["count"] == 2
    assert {json.loads(line)["fact"] for line in ranks.read_text().splitlines()} == {"Ada | won | Medal"}


def test_a_question_with_qualifiers_is_refused(nary: Nary, run: Path) -> None:
    assert nary("predict", run, "Ada | won | ?").code == 0
    outcome = nary("predict", run, "Ada | won | ? | in: 1901", "--json")
    assert outcome.code == 2
    assert outcome.error["message"] == "gran knows no qualifiers: it was trained on triples alone"
    assert outcome.error["hint"] == "Leave the qualifiers out."


def test_candidates(nary: Nary, tmp_path: Path) -> None:
    small_run(tmp_path / "run", "frequency")
    result = nary("evaluate", tmp_path / "run", "--candidates", "seen", "--json").json
    assert result["protocol"]["candidates"] == "seen"
    assert result["notes"][0].startswith("Subjects and objects are ranked among ")
    same = nary("evaluate", tmp_path / "run", "--set", "evaluation.candidates=seen", "--json").json
    assert same == result
    wrong = nary("evaluate", tmp_path / "run", "--candidates", "some", "--json")
    assert (wrong.code, wrong.error["message"]) == (2, "evaluation.candidates is 'some'")
    assert "'all' or 'seen'" in wrong.error["hint"]
