"""Check the commands, links and figures in the documentation."""

import importlib
import re
from collections.abc import Iterable
from functools import cache
from math import isnan
from pathlib import Path
from statistics import mean

import pytest

import nary
from nary.apps.cli.main import app
from nary.data import catalog
from nary.evaluation.metrics import GROUPS
from nary.models.registry import MODELS
from nary.reproduction.page import results_page
from nary.reproduction.published import PUBLISHED_METRICS, read_published
from nary.reproduction.records import read_result_rows

ROOT = Path(__file__).parent.parent
FIGURE_PAGES = [ROOT / "README.md", *sorted(page for page in (ROOT / "docs").rglob("*.md") if page.stem != "results")]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    missing = [one for one in targets if "://" not in one and not (page.parent / one).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist(page: Path) -> None:
    known = {command.name for command in app.registered_commands}
    used = set(re.findall(r"^nary ([a-z]+)", page.read_text(), re.MULTILINE))
    used |= set(re.findall(r"`nary ([a-z]+)", page.read_text()))
    assert used <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_have_a_cell_for_each_column(page: Path) -> None:
    columns = 0
    for line in page.read_text().splitlines():
        cells = re.sub(r"`[^`]*`|\\\|", "", line).count("|") if line.startswith("|") else 0
        columns = columns if columns and cells else cells
        assert cells == columns, line


def test_every_page_is_part_of_the_site() -> None:
    docs = ROOT / "docs"
    listed = {docs / "index.md"}
    for page in docs.rglob("*.md"):
        for names in re.findall(r"(?ms)^```{toctree}\n(?::[^\n]*\n)*\n(.*?)^```", page.read_text()):
            listed |= {(page.parent / f"{name}.md").resolve() for name in names.split()}
    assert not set(docs.rglob("*.md")) - listed, "list it in docs/index.md"


def test_every_public_name_is_in_the_api_reference() -> None:
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "api").glob("*.md"))
    documented = set(re.findall(r"^\.\. auto\w+:: (?:nary\.)?(\w+)$", pages, re.MULTILINE))
    assert set(nary.__all__) - documented <= {"NaryError"}, (
        "give it a place in docs/api"
    )  # errors are listed as a module


@pytest.mark.parametrize("name", [*MODELS])
def test_every_model_has_a_page(name: str) -> None:
    page = ROOT / "docs" / ("gran.md" if name == "gran" else f"models/{name}.md")
    text = page.read_text()
    assert re.search(r"^    \S", text, re.MULTILINE), "no formula"
    assert re.search(r"^\| cost of a query \|", text, re.MULTILINE), "no cost"
    assert "**When to use it.**" in text


def test_the_model_zoo_says_what_each_model_predicts() -> None:
    zoo = (ROOT / "docs" / "models" / "index.md").read_text()
    rows = dict(re.findall(r"^\| \[([\w-]+)\]\(.*\| ([^|]+) \|$", zoo, re.MULTILINE))
    assert set(rows) == {*MODELS, "auto"}
    for name in MODELS:
        everything = {"subject", "relation", "object", "attribute", "value"} == {
            role.value for role in MODELS.get(name).roles
        }
        assert rows[name] == (
            "what its parts predict" if name == "blend" else "every position" if everything else "entities"
        )


def test_every_feature_has_its_page() -> None:
    for line in (ROOT / "docs" / "features.md").read_text().splitlines():
        if line.startswith("|") and not line.startswith(("| what |", "|---")):
            assert re.search(r"\| (\[[^]]+\]\([^)]+\)(, )?)+ \|$", line), line
    for line in (ROOT / "docs" / "libraries.md").read_text().splitlines():
        if line.startswith("|") and "yes" in line.split("|")[2]:
            assert re.match(r"\| [^|]+ \| \[yes\]\(", line), line


def test_results_are_made_from_their_files() -> None:
    assert (ROOT / "docs" / "results.md").read_text() == results_page(ROOT / "results", ROOT / "docs" / "results.md")


def test_the_readme_shows_the_first_table_of_the_results() -> None:
    page, readme = ((ROOT / path).read_text() for path in ("docs/results.md", "README.md"))
    table = [line for line in page.split("\n## ")[0].splitlines() if line.startswith("|")]
    assert "\n".join(table) in readme, "copy the first table of docs/results.md to README.md"


@pytest.mark.parametrize("page", FIGURE_PAGES, ids=lambda page: page.stem)
def test_every_figure_is_recorded_or_published(page: Path) -> None:
    assert not unknown_figures(page.read_text(), page.stem)


def test_a_result_is_looked_up_by_model_and_dataset() -> None:
    assert not unknown_figures("GRAN has an MRR of 0.656 on JF17K, and of .270 on nobel.")
    assert not unknown_figures("An MRR of 0.732 on JF17K-3.", "getd")
    assert unknown_figures("GRAN has an MRR of 0.656 on nobel.") == [".656"]  # which is JF17K's
    assert unknown_figures("GRAN has an MRR of 0.806 on JF17K.") == [".806"]  # which is JF17K-3's
    assert unknown_figures("RAM has an MRR of 0.656 on JF17K.") == [".656"]  # which is GRAN's
    assert unknown_figures("| GRAN | MRR |\n|---|---|\n| jf17k | 0.417 |") == [".417"]
    assert unknown_figures("An MRR of 0.656.") == [".656"]  # of what?
    assert not unknown_figures("A validation entity\nMRR of 0.417.\n\n```\nMRR 0.417\n```\n\n0.417 seconds.")


def unknown_figures(text: str, title: str = "") -> list[str]:
    """Find figures in paragraphs about MRR that are not results of a model and dataset named there (three decimals).

    The title of a page counts as named. Validation figures, which were used to select settings, are exempt, and so is
    the output of commands.
    """
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    unknown = []
    for part in re.split(r"\n\s*\n", text):
        if re.search(r"(?<!validation )(?<!validation entity )MRR", " ".join(part.split())):
            datasets = _named(part, catalog.dataset_names())
            models = _named(f"{title} {part}", {*MODELS, *(model for _, model, _ in _figures())})
            known = {f"{value:.3f}" for dataset, model, value in _figures() if dataset in datasets and model in models}
            figures = re.findall(r"(?<![\d.,])0?(\.\d{3})(?!\d)", part)
            unknown += [figure for figure in figures if f"0{figure}" not in known]
    return unknown


def _named(text: str, names: Iterable[str]) -> set[str]:
    """Find the ``names`` that the text mentions; a name inside a longer one does not count."""
    text, mentioned = text.casefold(), set()
    for name in sorted(names, key=len, reverse=True):
        pattern = rf"(?<![\w-]){re.escape(name)}(?!\w)"
        if re.search(pattern, text):
            mentioned.add(name)
            text = re.sub(pattern, " ", text)
    return mentioned


@cache
def _figures() -> list[tuple[str, str, float]]:
    """Dataset, model and value of every MRR and Hits, published or ours: of each seed, and the mean."""
    found = []
    for (dataset, _, system), figures in read_published(ROOT / "results").results.items():
        model = max((name for name in MODELS if f"{system}-".startswith(f"{name}-")), key=len, default=system)
        found += [(dataset.partition(" ")[0], model, value) for value in figures.values]
    for row in read_result_rows(ROOT / "results"):
        for group in GROUPS:
            for values in (row.values(group, measure) for measure in PUBLISHED_METRICS):
                found += [(row.dataset, row.model, value) for value in [*values, *([mean(values)] if values else [])]]
    return found


def test_published_figures_are_consistent_or_remarked_on() -> None:
    """Ranks up to 10 give at least 1/10 each, so MRR >= Hits@1 + (Hits@10 - Hits@1) / 10, up to rounding."""
    for key, figures in read_published(ROOT / "results").results.items():
        mrr, first, tenth = figures.values
        assert first <= tenth or isnan(first) or isnan(tenth), key
        if mrr < first + (tenth - first) / 10 - 0.001:  # false for nan
            assert "inconsistent" in figures.remark, key


def test_notes_explain_rows_that_exist() -> None:
    assert set(read_published(ROOT / "results").notes) <= {row.name for row in read_result_rows(ROOT / "results")}


def test_every_published_figure_has_its_source() -> None:
    import tomllib

    published = tomllib.loads((ROOT / "results" / "published.toml").read_text())
    assert {figure["source"] for figure in published["figure"]} <= set(published["sources"])


def test_the_figures_on_performance_are_those_of_the_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    report = importlib.import_module("report")
    assert report.page() == report.PAGE.read_text(encoding="utf-8"), "run python benchmarks/report.py"
