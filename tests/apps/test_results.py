"""``nary results`` as its users see it."""

from pathlib import Path

import pytest
from apps.command import Nary
from reproduction.recorded import PUBLISHED, record

from nary.reproduction.figure import datasets_to_plot
from nary.reproduction.page import FIGURE, results_page
from nary.reproduction.records import read_result_rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "published.toml").write_text(PUBLISHED)
    return tmp_path


def test_the_page_and_its_figure_are_written(nary: Nary, folder: Path, tmp_path: Path) -> None:
    record(folder, "gran-hete", 0.82)
    page = tmp_path / "docs" / "page.md"
    assert nary("results", folder, "--out", page).code == 0
    assert page.read_text() == results_page(folder, page)
    assert not (page.parent / FIGURE).exists()  # a point alone compares nothing
    record(folder, "ram", 0.70)
    record(folder, "getd", 0.70, seconds=None)
    assert datasets_to_plot(read_result_rows(folder)) == ["jf17k-4"]
    assert nary("results", folder, "--out", page).code == 0
    drawn = (page.parent / FIGURE).read_bytes()
    assert drawn.startswith(b"<?xml")
    assert f"]({FIGURE.as_posix()})" in page.read_text()
    nary("results", folder, "--out", page)
    assert (page.parent / FIGURE).read_bytes() == drawn


def test_a_folder_of_one_s_own_needs_no_published_figures(nary: Nary, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    empty = nary("results", folder, "--json")
    assert (empty.code, empty.error["message"]) == (2, f"{folder} holds no results")
    record(folder, "gran-hete", 0.82)
    page = nary("results", folder).out
    assert "](results/jf17k-4/gran-hete-seed0.json)" in page
    assert nary("results", folder, "--out", tmp_path / "a" / "b" / "page.md").code == 0
    assert "](../../results/jf17k-4/" in (tmp_path / "a" / "b" / "page.md").read_text()


def test_files_that_are_no_results_are_named(folder: Path, nary: Nary) -> None:
    record(folder, "gran-hete", 0.82, format=99)
    outcome = nary("results", folder, "--json")
    assert outcome.code == 2
    assert "newer Nary" in outcome.error["message"]
    assert outcome.error["file"].endswith("gran-hete-seed0.json")
