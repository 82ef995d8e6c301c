"""The documentation tells the truth: its commands, links and figures exist."""

import importlib
import re
from pathlib import Path

import pytest

from nary.apps.cli.main import _COMMANDS
from nary.apps.results_page import results_page

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    missing = [one for one in targets if "://" not in one and not (page.parent / one).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist(page: Path) -> None:
    known = {command.__name__ for command in _COMMANDS}
    used = set(re.findall(r"^nary ([a-z]+)", page.read_text(), re.MULTILINE))
    used |= set(re.findall(r"`nary ([a-z]+)", page.read_text()))
    assert used <= known


def test_results_are_made_from_their_files() -> None:
    assert (ROOT / "docs" / "results.md").read_text() == results_page(ROOT / "results")


def test_every_published_figure_has_its_source() -> None:
    import tomllib

    published = tomllib.loads((ROOT / "results" / "published.toml").read_text())
    assert {figure["source"] for figure in published["figure"]} <= set(published["sources"])


def test_the_figures_on_performance_are_those_of_the_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    report = importlib.import_module("report")
    assert report.page() == report.PAGE.read_text(encoding="utf-8"), "run python benchmarks/report.py"
