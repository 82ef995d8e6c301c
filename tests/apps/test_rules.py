"""``nary rules``, and rules in ``nary explain``."""

from pathlib import Path

import pytest
from apps.command import Nary
from runs.small import dataset_of, small_run

from nary.facts import Fact

FACTS = [Fact(f"{a}{i}", "sibling", f"{b}{i}") for i in range(5) for a, b in (("A", "B"), ("B", "A"))]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rules") / "run"
    data = dataset_of(train=[*FACTS, Fact("B9", "sibling", "A9")], test=[Fact("A9", "sibling", "B9")])
    small_run(folder, "rules", data, training__batch_size=8)
    return folder


def test_rules_with_support_confidence_and_an_example(nary: Nary, run: Path) -> None:
    shown = nary("rules", run, "--relation", "sibling", "--kind", "link", "--role", "object")
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[0].startswith("object of sibling   [link] given subject of sibling:")
    assert lines[1] == "    confidence 0.667: holds in 10 of 10 cases"
    assert lines[2] == "    such as A0 | sibling | B0, because B0 | sibling | A0 is known"
    assert lines[-1].startswith("The 1 most confident rules about sibling, of ")


def test_as_json(nary: Nary, run: Path) -> None:
    listed = nary("rules", run, "--limit", "3", "--json").json
    assert len(listed["rules"]) == 3
    assert set(listed["rules"][0]) >= {"kind", "target", "body", "support", "cases", "confidence", "example"}


def test_an_explanation_names_the_facts(nary: Nary, run: Path) -> None:
    shown = nary("explain", run, "A9 | sibling | B9")
    assert "because B9 | sibling | A9 is known; holds in 100% of 10 cases" in shown.out
    assert nary("explain", run, "A9 | sibling | B9", "--json").json["rules"][0]["cases"] == 10


def test_a_model_without_rules(nary: Nary, run_folder: Path) -> None:
    refused = nary("rules", run_folder)
    assert (refused.code, refused.out) == (2, "")
    assert "gran has no rules" in refused.err
