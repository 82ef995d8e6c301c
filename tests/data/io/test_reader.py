"""Reading files, folders and standard input into a dataset."""

import bz2
import gzip
import io
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from nary.data import files
from nary.data.dataset import Dataset
from nary.data.io.reader import InputFile, read, read_files, read_labels
from nary.errors import DataError, SettingError
from nary.facts import Fact

A, B, C = Fact("a", "r", "b", [("q", "c")]), Fact("b", "r", "c"), Fact("c", "s", "a")
TSV = "a\tr\tb\tq\tc\nb\tr\tc\nc\ts\ta\n"


def facts_of(dataset: Dataset) -> dict[str, list[Fact]]:
    return {split: list(table.facts(dataset.vocabulary)) for split, table in dataset.splits.items()}


def test_a_file_is_one_split(tmp_path: Path) -> None:
    (tmp_path / "my-facts.tsv").write_text(TSV)
    dataset = read(tmp_path / "my-facts.tsv")
    assert dataset.name == "my-facts"
    assert facts_of(dataset) == {"train": [A, B, C]}
    assert dataset.vocabulary.entities == ("a", "b", "c")
    assert dataset.vocabulary.relations == ("q", "r", "s")
    assert dataset.notes == ()


def test_a_path_may_be_a_string(tmp_path: Path) -> None:
    (tmp_path / "facts.tsv").write_text(TSV)
    assert facts_of(read(str(tmp_path / "facts.tsv"))) == {"train": [A, B, C]}


def test_lines_may_name_their_splits(tmp_path: Path) -> None:
    lines = [
        '{"subject": "c", "relation": "s", "object": "a", "split": "test"}',
        '{"subject": "b", "relation": "r", "object": "c"}',
        '{"subject": "b", "relation": "r", "object": "c", "qualifiers": [], "split": "valid"}',
        '{"subject":"a","relation":"r","object":"b","qualifiers":[["q","c"]],"split":"test"}',
        '{"subject":"a","relation":"r","object":"b","qualifiers":[["q","c"]],"split":"context"}',
        '{"subject":"a","relation":"r","object":"b","qualifiers":[["q","c"]],"split":null}',
    ]
    (tmp_path / "facts.jsonl").write_text("\n".join(lines))
    dataset = read(tmp_path / "facts.jsonl")
    assert facts_of(dataset) == {"train": [B, A], "valid": [B], "test": [C, A], "context": [A]}
    assert list(dataset.splits) == ["train", "valid", "test", "context"]


def test_a_folder_has_a_file_a_split(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("a\tr\tb\tq\tc\n")
    (tmp_path / "dev.csv").write_text("b,r,c\n")
    (tmp_path / "test.jsonl.gz").write_bytes(gzip.compress(b'{"subject": "c", "relation": "s", "object": "a"}'))
    (tmp_path / "labels.tsv").write_text("a\tan entity\nr\ta relation\tand more\r\n\n", encoding="utf-8-sig")
    (tmp_path / "notes.md").write_text("not facts")
    (tmp_path / "train").mkdir()
    dataset = read(tmp_path)
    assert facts_of(dataset) == {"train": [A], "valid": [B], "test": [C]}
    assert dataset.vocabulary.labels == {"a": "an entity", "r": "a relation"}


def test_files_of_a_folder_may_name_splits_too(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text(TSV)
    (tmp_path / "test.jsonl").write_text('{"subject": "d", "relation": "r", "object": "d", "split": "train"}\n')
    assert facts_of(read(tmp_path)) == {"train": [A, B, C, Fact("d", "r", "d")]}


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, zstandard.compress, bytes])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]) -> None:
    half = TSV.index("\n") + 3  # two packed parts, the first ends within a line
    content = pack(TSV[:half].encode()) + pack(TSV[half:].encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    dataset = read("-")
    assert dataset.name == "standard input"
    assert facts_of(dataset) == {"train": [A, B, C]}


def test_mistakes_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\tr\tb\na\tr\n")))
    with pytest.raises(DataError) as error:
        read("-")
    assert (error.value.file, error.value.line) == ("standard input", 2)


def test_a_format_may_be_given(tmp_path: Path) -> None:
    (tmp_path / "facts.tsv").write_text("r\ta\tb\tc\nr\tb\tc\n")
    dataset = read(tmp_path / "facts.tsv", format="tuples")
    assert facts_of(dataset) == {"train": [Fact("a", "r", "b", [("r_0", "c")]), Fact("b", "r", "c")]}
    with pytest.raises(SettingError, match="unknown format 'tupels'"):
        read(tmp_path / "facts.tsv", format="tupels")


BROKEN: list[str | bytes] = [
    "a\tr\tb\tq\tc",
    "a\tr",
    "",
    "b\tr\tc",
    "a\tr\tb\tq",
    "a\tr",
    "\xe9".encode("latin-1"),
    'c\ts\t"a"',
    "?\ts\ta",
]


def test_mistakes_stop_or_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "facts.tsv"
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in BROKEN))
    with pytest.raises(DataError, match="2 of at least three fields") as error:
        read(path)
    assert (error.value.file, error.value.line) == (str(path), 2)
    dataset, [report] = read_files("x", [InputFile(path)], on_error="skip")
    assert facts_of(dataset) == {"train": [A, B, C]}
    assert (report.source, report.format) == (str(path), "hyper-relational")
    assert (report.lines, report.kept, report.blank) == (9, 3, 1)
    assert report.skipped == {"too few fields": 2, "odd qualifier fields": 1, "not UTF-8": 1, "gap in data": 1}
    assert [problem.line for problem in report.problems] == [2, 5, 6, 7, 9]
    assert read(path, on_error="skip").notes == (
        f"{path}: 3 facts kept, 5 lines skipped "
        "(2 too few fields, 1 odd qualifier fields, 1 not UTF-8, 1 gap in data); "
        "the first is line 2: 2 of at least three fields (subject, relation, object), separated by tabs",
    )


def test_mistakes_in_many_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "facts.tsv"
    lines = [f"s{i}\tr\to" if i % 7 else f"s{i}" for i in range(200)]
    path.write_text("\n".join(lines))
    monkeypatch.setattr(files, "CHUNK", 50)
    dataset, [report] = read_files("x", [InputFile(path)], on_error="skip")
    assert [fact.subject for fact in facts_of(dataset)["train"]] == [f"s{i}" for i in range(200) if i % 7]
    assert report.skipped == {"too few fields": 29}
    assert [problem.line for problem in report.problems] == [1 + 7 * k for k in range(10)]  # the first ten
    with pytest.raises(DataError) as error:
        read(path)
    assert error.value.line == 1


def test_only_two_ways_to_treat_mistakes(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="on_error is 'ignore'"):
        read(tmp_path / "facts.tsv", on_error="ignore")


def test_several_files_may_make_one_split(tmp_path: Path) -> None:
    for name, content in (
        ("1.tsv", "c\ts\ta\nc\ts\ta\n"),
        ("2.csv", "a,r,b,q,c\n"),
        ("3.tsv", "b\tr\tc\na\tr\tb\tq\tc"),
    ):
        (tmp_path / name).write_text(content)
    inputs = [InputFile(tmp_path / "1.tsv"), InputFile(tmp_path / "2.csv", "test"), InputFile(tmp_path / "3.tsv")]
    dataset, reports = read_files("x", inputs)
    assert facts_of(dataset) == {"train": [C, C, B, A], "test": [A]}
    assert [report.kept for report in reports] == [2, 1, 2]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("size", [1, 8, 1 << 20])
def test_the_first_lines_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, size: int) -> None:
    monkeypatch.setattr(files, "CHUNK", size)
    (tmp_path / "facts.tsv").write_text("a\tr\tb\tq\tc\n\nb\tr\tc\nnot a fact\n")
    dataset, [report] = read_files(
        "x", [InputFile(tmp_path / "facts.tsv", format="hyper-relational", first_lines=count)], on_error="skip"
    )
    assert facts_of(dataset)["train"] == ([A] if count < 3 else [A, B])
    assert report.lines == min(count, 4)
    assert sum(report.skipped.values()) == (count > 3)


@pytest.mark.parametrize(
    ("content", "words"),
    [("", "is empty"), ("\n \n\t\n", "is empty"), ("\ufeff", "is empty"), ("oops", "contains no facts")],
)
@pytest.mark.parametrize("name", ["facts.tsv", "facts.jsonl", "facts"])
def test_files_without_facts(tmp_path: Path, name: str, content: str, words: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=words):
        read(tmp_path / name, on_error="skip")


def test_folders_that_are_no_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="no train file"):
        read(tmp_path)
    (tmp_path / "train.tsv").write_text(TSV)
    (tmp_path / "dev.tsv").write_text(TSV)
    (tmp_path / "valid.tsv").write_text(TSV)
    with pytest.raises(DataError, match=r"two valid files: dev\.tsv and valid\.tsv"):
        read(tmp_path)

    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(DataError, match="cannot be opened: Permission denied"):
        read(tmp_path)


def test_labels_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text("a\tA\nb\n")
    with pytest.raises(DataError, match="no label after the name") as error:
        read_labels(path)
    assert error.value.line == 2
    path.write_bytes(b"a\t\xff\n")
    with pytest.raises(DataError, match="cannot be read"):
        read_labels(path)


def test_progress_reaches_the_size_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "facts.tsv").write_text(TSV)
    seen: list[tuple[int, int | None]] = []
    read(tmp_path / "facts.tsv", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(TSV), len(TSV))


def test_equal_facts_from_different_formats_have_equal_fingerprints(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(TSV)
    (tmp_path / "b.json").write_text(
        '{"N": 3, "relation": "r", "subject": "a", "object": "b", "q": ["c"]}\n'
        '{"N": 2, "relation": "r", "subject": "b", "object": "c"}\n'
        '{"N": 2, "relation": "s", "subject": "c", "object": "a"}\n'
    )
    one, other = read(tmp_path / "a.tsv"), read(tmp_path / "b.json")
    assert one.train.fingerprint == other.train.fingerprint
    assert one.vocabulary.fingerprint == other.vocabulary.fingerprint


def test_no_thread_is_left_behind_by_an_error(tmp_path: Path) -> None:
    """Not even while the error, and with it the frames it came through, is still held."""
    (tmp_path / "bad.tsv").write_text("a\tr\n" * 5)
    before = threading.active_count()
    with pytest.raises(DataError) as held:
        read(tmp_path / "bad.tsv")
    assert threading.active_count() == before
    assert held.value.line == 1
