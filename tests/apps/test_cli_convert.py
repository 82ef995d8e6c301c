"""``nary convert``: files and folders in, files and folders out."""

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nary.apps.cli.main import main
from nary.data.dataset import Dataset
from nary.data.io.reader import read
from nary.facts import Fact

A, B, C = (
    Fact("Ada", "wrote", "Notes", [("year", "1843")]),
    Fact("Ada", "knows", "Boole"),
    Fact("Boole", "knows", "Ada"),
)
TSV = "Ada\twrote\tNotes\tyear\t1843\nAda\tknows\tBoole\n"


class Outcome(NamedTuple):
    code: object
    out: str
    err: str


@pytest.fixture
def nary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run the command as the shell does, in ``tmp_path``."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "argv", ["nary", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as exit:
            main()
        return Outcome(exit.value.code, *capsys.readouterr())

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    (path / "train.tsv").write_text(TSV)
    (path / "test.tsv").write_text("Boole\tknows\tAda\n")
    (path / "labels.tsv").write_text("Ada\tAda Lovelace\n")
    return path


def facts_of(dataset: Dataset) -> dict[str, list[Fact]]:
    return {split: list(table.facts(dataset.vocabulary)) for split, table in dataset.splits.items()}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "out", ["out.jsonl", "out.parquet", "out.jsonl.gz", "out.ndjson.zst", "new/folder/out.jsonl.bz2"]
)
def test_a_folder_to_a_file(nary: Callable[..., Outcome], out: str) -> None:
    outcome = nary("convert", "folder", out)
    assert outcome == (
        0,
        f"{out}: 2 train, 1 test facts\n",
        "note: labels are not kept in a single file; give a folder to keep them\n",
    )
    assert facts_of(read(out)) == {"train": [A, B], "test": [C]}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("format", ["jsonl", "parquet", "hyper-relational", "gran"])
def test_a_folder_to_a_folder(nary: Callable[..., Outcome], format: str) -> None:
    assert nary("convert", "folder", "out", "--to", format) == (0, "out: 2 train, 1 test facts\n", "")
    converted = read("out")
    assert facts_of(converted) == {"train": [A, B], "test": [C]}
    assert converted.vocabulary.labels == {"Ada": "Ada Lovelace"}


def test_json_says_what_was_written(nary: Callable[..., Outcome], folder: Path) -> None:
    outcome = nary("convert", str(folder), "out", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out) == {"out": "out", "facts": {"train": 2, "test": 1}}


def test_standard_input_of_another_format(nary: Callable[..., Outcome], tmp_path: Path) -> None:
    packed = gzip.compress(b"wrote Ada Notes 1843\n")
    assert nary("convert", "-", "out.csv", "--format", "tuples", stdin=packed).code == 0
    assert (tmp_path / "out.csv").read_text() == "Ada,wrote,Notes,wrote_0,1843\n"


def test_content_tells_more_than_a_name(nary: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "facts.tsv").write_text(TSV)
    assert nary("convert", "facts.tsv", "wrong.jsonl", "--to", "parquet").code == 0
    assert nary("convert", "wrong.jsonl", "again.tsv").code == 0
    assert (tmp_path / "again.tsv").read_text() == TSV


def test_skipped_lines_are_told(nary: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "facts.tsv").write_text(TSV + "oops\n")
    outcome = nary("convert", "facts.tsv", "out.jsonl", "--on-error", "skip")
    assert outcome.code == 0
    assert outcome.err.startswith(
        "note: facts.tsv: 2 facts kept, 1 line skipped (1 too few fields); the first is line 3"
    )


def test_literals_may_be_dropped(nary: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "facts.tsv").write_text("Ada\twrote\tNotes\tyear\t1843#http://x\nAda\tborn\t1815#http://x\n")
    outcome = nary("convert", "facts.tsv", "out.tsv", "--drop-literals")
    assert outcome == (0, "out.tsv: 1 train fact\n", "note: literals dropped: 2 names, and 1 fact about them\n")
    assert (tmp_path / "out.tsv").read_text() == "Ada\twrote\tNotes\n"


def test_a_dataset_by_name(nary: Callable[..., Outcome], tmp_path: Path) -> None:
    assert nary("convert", "nobel", "nobel.parquet").code == 0
    assert nary("convert", "nobel.parquet", "nobel").code == 0
    assert {path.name for path in (tmp_path / "nobel").iterdir()} == {"train.jsonl", "valid.jsonl", "test.jsonl"}


def test_progress_only_for_people(nary: Callable[..., Outcome], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal there is a bar; its code must not end up in the output."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    outcome: Any = nary("convert", str(folder), "out.jsonl", "--json")
    assert json.loads(outcome.out)["out"] == "out.jsonl"


def test_a_mapped_dataset_is_read_and_verified_like_other_folders(
    nary: Callable[..., Outcome], folder: Path, tmp_path: Path
) -> None:
    assert nary("convert", "folder", "mapped", "--to", "mapped").code == 0
    for command in ("stats", "check"):
        plain, mapped = (json.loads(nary(command, name, "--json").out) for name in ("folder", "mapped"))
        assert {**mapped, "name": "folder"} == {**plain, "name": "folder"}
    assert facts_of(read(tmp_path / "mapped")) == facts_of(read(folder))
    assert nary("verify", "mapped").code == 0
    names = tmp_path / "mapped" / "entities-text.npy"
    names.write_bytes(names.read_bytes()[:-1] + b"!")
    assert nary("verify", "mapped").code == 1
