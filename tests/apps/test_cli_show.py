"""``nary show``."""

import json
from pathlib import Path

import pytest
from apps.command import Nary

QUERY = "Ada | wrote | ? | year: 1843"


@pytest.fixture
def show(nary: Nary) -> Nary:
    return lambda *arguments: nary("show", *arguments)


def test_vertices_and_edges_for_people(show: Nary) -> None:
    outcome = show(QUERY)
    assert outcome.code == 0
    rows = [line.split() for line in outcome.out.splitlines()]
    assert ["object", "?"] in rows
    assert ["value", "1", "1843"] in rows
    assert ["subject", "relation", "1", "Ada", "–", "wrote"] in rows
    assert ["attribute", "1", "value", "1", "4", "year", "–", "1843"] in rows
    assert outcome.err == ""


def test_vertices_and_edges_for_machines(show: Nary) -> None:
    assert show(QUERY, "--json").json == {
        "fact": QUERY,
        "variant": "hete",
        "vertices": [
            {"position": "relation", "role": "relation", "name": "wrote"},
            {"position": "subject", "role": "subject", "name": "Ada"},
            {"position": "object", "role": "object", "name": None},
            {"position": "attribute 1", "role": "attribute", "name": "year"},
            {"position": "value 1", "role": "value", "name": "1843"},
        ],
        "edges": [
            {"from": "subject", "to": "relation", "type": 1, "label": "subject-relation"},
            {"from": "object", "to": "relation", "type": 2, "label": "object-relation"},
            {"from": "relation", "to": "attribute 1", "type": 3, "label": "relation-attribute"},
            {"from": "attribute 1", "to": "value 1", "type": 4, "label": "attribute-value"},
        ],
    }


@pytest.mark.parametrize(("variant", "types"), [("homo", [1] * 4), ("complete", [0] * 10)])
def test_a_variant(show: Nary, variant: str, types: list[int]) -> None:
    outcome = show(QUERY, "--variant", variant, "--json").json
    assert outcome["variant"] == variant
    assert [edge["type"] for edge in outcome["edges"]] == types


def test_a_question_mark_and_a_line_break_are_told_from_a_gap_and_a_row(show: Nary) -> None:
    outcome = show('"?" | wrote | "two\\nlines"')
    assert '"?" – wrote' in outcome.out
    assert '"two\\nlines" – wrote' in outcome.out
    assert show('"?" | wrote | ?', "--json").json["vertices"][1:] == [
        {"position": "subject", "role": "subject", "name": "?"},
        {"position": "object", "role": "object", "name": None},
    ]


@pytest.mark.parametrize(("name", "head"), [("fact.svg", b"<svg "), ("fact.png", b"\x89PNG")])
def test_a_picture(show: Nary, tmp_path: Path, name: str, head: bytes) -> None:
    outcome = show(QUERY, "--out", tmp_path / name, "--json")
    assert outcome.code == 0
    assert outcome.json["fact"] == QUERY  # what was drawn is said on standard error
    assert f"drew {tmp_path / name}" in outcome.err
    assert (tmp_path / name).read_bytes().startswith(head)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (["Ada | wrote"], "fact", "2 of the three parts"),
        ([QUERY, "--variant", "complet"], "setting", "unknown variant 'complet'"),
        ([QUERY, "--out", "fact.jpeg"], "output", "cannot draw fact.jpeg"),
    ],
)
def test_mistakes(show: Nary, arguments: list[str], kind: str, message: str) -> None:
    outcome = show(*arguments, "--json")
    assert (outcome.code, outcome.out) == (2, "")
    error = json.loads(outcome.err)["error"]
    assert error["kind"] == kind
    assert message in error["message"]


def test_a_mistake_leaves_no_picture_behind(show: Nary, tmp_path: Path) -> None:
    assert show(QUERY, "--out", tmp_path / "fact.svg", "--variant", "no").code == 2
    assert not list(tmp_path.iterdir())
