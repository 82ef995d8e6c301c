"""The command ``nary datasets``."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from nary.apps.cli.datasets import datasets
from nary.data.catalog import dataset_names
from nary.errors import DatasetError

app = typer.Typer()
app.command()(datasets)


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, arguments)


def run_json(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return json.loads(result.stdout)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data home without data."""
    monkeypatch.setenv("NARY_DATA_HOME", str(tmp_path))
    return tmp_path


def test_the_list_as_json(empty: Path) -> None:
    listed = {one["name"]: one for one in run_json()}
    assert tuple(listed) == dataset_names()
    assert listed["jf17k"] == {
        "name": "jf17k",
        "facts": {"train": 76_379, "test": 24_568},
        "entities": 28_645,
        "relations": 501,
        "higher_arity": 46_320,
        "arities": [2, 3, 4, 5, 6],
        "here": False,
        "complete": True,
        "description": listed["jf17k"]["description"],
    }
    assert listed["nobel"]["here"]
    assert listed["nobel"]["arities"] == list(range(2, 9))
    assert listed["wd50k_33"]["facts"]["valid"] == 10_568  # what the files hold, not the slip of the publication


def test_the_list_for_people(empty: Path) -> None:
    result = run()
    assert result.exit_code == 0
    lines = {line.split()[0]: line for line in result.stdout.splitlines() if line.strip()}
    assert set(dataset_names()) <= set(lines)
    assert "100,947" in lines["jf17k"]
    assert "2–6" in lines["jf17k"]
    assert "2, 4, 5" in lines["fb-auto"]
    assert " no " in lines["fb-auto"]
    assert " yes " in lines["nobel"]


def test_one_dataset_as_json() -> None:
    described = run_json("nobel")
    assert described["name"] == "nobel"
    assert list(described["facts"]) == ["train", "valid", "test"]
    assert sum(described["arities"].values()) == sum(described["facts"].values())
    assert described["higher_arity"] == sum(n for arity, n in described["arities"].items() if arity != "2")
    assert described["complete"] is True
    assert (described["published"], described["differences"]) == ({}, [])
    assert (described["files"], described["folder"]) == ([], None)
    assert described["license"] == "CC0"


def test_one_dataset_for_people() -> None:
    result = run("nobel")
    assert result.exit_code == 0
    assert result.stdout.startswith("nobel: ")
    assert "train facts" in result.stdout
    assert "license: CC0" in result.stdout


def test_an_unknown_dataset() -> None:
    result = run("nobell")
    assert isinstance(result.exception, DatasetError)
    assert "nobel" in str(result.exception.hint)


def test_files_that_are_not_here(empty: Path) -> None:
    result = run("jf17k")
    assert isinstance(result.exception, DatasetError)
    assert str(empty / "jf17k" / "train.txt") in str(result.exception.hint)


@pytest.mark.benchmark_data
def test_counts_beside_the_published_ones(benchmark_data: Path) -> None:
    result = run("fb-auto")
    assert result.exit_code == 0
    counts = {line.split("  ")[0]: line.split()[-2:] for line in result.stdout.splitlines()}
    assert counts["train facts"] == ["6,778", "6,778"]
    assert counts["relations"] == ["13", "8"]
    assert counts["entities"] == ["3,388", "–"]
    assert "by arity: 2: 3,786, 4: 215, 5: 7,212" in result.stdout
    assert "relations differ from the published count: the paper counts the 8 primary relations" in result.stdout


@pytest.mark.benchmark_data
def test_incompleteness_is_loud(benchmark_data: Path) -> None:
    described = run_json("wikipeople")
    assert described["complete"] is False
    assert described["facts"]["train"] == 294_439
    assert described["published"]["facts"]["train"] == 305_725
    assert "INCOMPLETE: 11,286" in described["notes"][0]
    assert {difference["count"] for difference in described["differences"]} == {"facts", "entities", "relations"}
    colored = CliRunner().invoke(app, ["wikipeople"], color=True).stdout
    assert "\x1b[31m\x1b[1mINCOMPLETE: 11,286" in colored
    assert "INCOMPLETE" in next(line for line in run().stdout.splitlines() if line.startswith("wikipeople "))
