"""Facts in Parquet files: golden content, rows that are not facts, files that are not ours."""

import gzip
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from nary.data.dataset import Dataset
from nary.data.io import parquet
from nary.data.io.reader import InputFile, read, read_files
from nary.data.io.writer import write
from nary.errors import DataError
from nary.facts import Fact

PAIRS = pl.List(pl.Struct({"attribute": pl.String, "value": pl.String}))
SCHEMA = {"subject": pl.String(), "relation": pl.String(), "object": pl.String(), "qualifiers": PAIRS}


def save(path: Path, rows: Sequence[tuple[object, ...]], **further: pl.Series) -> None:
    pl.DataFrame(rows, SCHEMA, orient="row").with_columns(**further).write_parquet(path)


def pairs(*given: tuple[str | None, str | None]) -> list[dict[str, str | None]]:
    return [{"attribute": attribute, "value": value} for attribute, value in given]


def facts_of(dataset: Dataset, split: str = "train") -> list[Fact]:
    return list(dataset[split].facts(dataset.vocabulary))


def test_golden_file(tmp_path: Path) -> None:
    save(
        tmp_path / "facts.parquet",
        [("Marie", "award", "Physics", pairs(("year", "1903"), ("with", "Pierre"))), ("Ä", "born in", "\n", [])],
    )
    expected = [Fact("Marie", "award", "Physics", [("with", "Pierre"), ("year", "1903")]), Fact("Ä", "born in", "\n")]
    assert facts_of(read(tmp_path / "facts.parquet")) == expected


def test_splits_and_the_order_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "facts"
    save(
        path,
        [("a", "r", "b", []), ("b", "r", "c", []), ("c", "r", "d", [])],
        split=pl.Series(["test", "train", "test"]),
    )
    pl.read_parquet(path).select("split", "qualifiers", "object", "relation", "subject").write_parquet(path)
    dataset = read(path)
    assert facts_of(dataset) == [Fact("b", "r", "c")]
    assert facts_of(dataset, "test") == [Fact("a", "r", "b"), Fact("c", "r", "d")]


def test_parts_of_a_large_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(f"s{i}", "r", "o", pairs(*[("a", f"v{k}") for k in range(i % 3)])) for i in range(20)]
    rows[13] = ("?", "r", "o", [])
    save(tmp_path / "facts.parquet", rows)
    monkeypatch.setattr(parquet, "_ROWS", 6)
    dataset, [report] = read_files("x", [InputFile(tmp_path / "facts.parquet")], on_error="skip")
    assert [fact.subject for fact in facts_of(dataset)] == [f"s{i}" for i in range(20) if i != 13]
    assert [fact.arity for fact in facts_of(dataset)] == [2 + i % 3 for i in range(20) if i != 13]
    assert (report.lines, report.kept, report.skipped) == (20, 19, {"bad label": 1})
    assert [problem.line for problem in report.problems] == [14]


@pytest.mark.parametrize(
    "row",
    [
        (None, "r", "o", []),
        ("s", "", "o", []),
        ("s", "r", "?", []),
        ("s\0", "r", "o", []),
        ("s", "r", "o", None),
        ("s", "r", "o", [None]),
        ("s", "r", "o", pairs(("a", "v"), (None, "v"))),
        ("s", "r", "o", pairs(("a", ""))),
        ("s", "r", "o", pairs(("?", "v"))),
    ],
)
def test_rows_that_are_not_facts(tmp_path: Path, row: tuple[object, ...]) -> None:
    path = tmp_path / "facts.parquet"
    save(path, [("s", "r", "o", []), row])
    with pytest.raises(DataError, match=r"a label is missing, empty, \? or contains a NUL character") as error:
        read(path)
    assert (error.value.file, error.value.line) == (str(path), 2)
    assert facts_of(read(path, on_error="skip")) == [Fact("s", "r", "o")]


def test_splits_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "facts.parquet"
    for name in ("dev", None):
        save(path, [("s", "r", "o", []), ("s", "r", "p", [])], split=pl.Series(["train", name]))
        with pytest.raises(DataError, match="the split is none of train, valid, test, context") as error:
            read(path)
        assert error.value.line == 2


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"subject": ["s"], "relation": ["r"], "object": ["o"]}),
        pl.DataFrame({"subject": [1], "relation": ["r"], "object": ["o"], "qualifiers": [pairs(("a", "v"))]}),
        pl.DataFrame({"subject": ["s"], "relation": ["r"], "object": ["o"], "qualifiers": [[["a", "v"]]]}),
        pl.DataFrame(
            {"subject": ["s"], "relation": ["r"], "object": ["o"], "qualifiers": [pairs(("a", "v"))], "x": [1]}
        ),
    ],
    ids=["no qualifiers", "numbers", "lists of lists", "a further column"],
)
def test_other_columns(tmp_path: Path, frame: pl.DataFrame) -> None:
    frame.write_parquet(tmp_path / "facts.parquet")
    with pytest.raises(DataError, match="it has the columns subject: ") as error:
        read(tmp_path / "facts.parquet")
    assert error.value.hint is not None
    assert error.value.hint.startswith("Expected subject: String, ")


def test_a_cut_off_file(tmp_path: Path) -> None:
    path = tmp_path / "facts.parquet"
    save(path, [("s", "r", "o", [])])
    whole = path.read_bytes()
    for content in (whole[:-10], whole[:20], b"PAR1"):
        path.write_bytes(content)
        with pytest.raises(DataError, match="cannot be read as Parquet"):
            read(path)


def test_a_name_is_not_a_pattern(tmp_path: Path) -> None:
    path = tmp_path / "facts[1]*.parquet"
    save(path, [("s", "r", "o", [])])
    assert facts_of(read(path)) == [Fact("s", "r", "o")]


def test_packed_parquet_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "facts.parquet", [("s", "r", "o", [])])
    (tmp_path / "facts.gz").write_bytes(gzip.compress((tmp_path / "facts.parquet").read_bytes()))
    for format in (None, "parquet"):
        with pytest.raises(DataError, match="only read from a plain file"):
            read(tmp_path / "facts.gz", format=format)


def test_our_own_file_has_the_columns_we_read(tmp_path: Path) -> None:
    save(tmp_path / "a.parquet", [("s", "r", "o", pairs(("a", "v")))])
    write(read(tmp_path / "a.parquet"), tmp_path / "b.parquet")
    assert pl.read_parquet_schema(tmp_path / "b.parquet") == pl.read_parquet_schema(tmp_path / "a.parquet")


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_a_file_is_written_in_parts(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train = [Fact(f"s{i}", "r", "o", [("a", "v")] * (i % 3)) for i in range(7)]
    data = Dataset.from_facts("x", {"train": train, "test": [Fact("s1", "r", "s2")]})
    monkeypatch.setattr(parquet, "_ROWS", size)
    write(data, tmp_path / "facts.parquet")
    again = read(tmp_path / "facts.parquet")
    assert {split: facts_of(again, split) for split in again.splits} == {"train": train, "test": facts_of(data, "test")}
