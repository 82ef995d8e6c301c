"""Separated text with a header, and Parquet: exact rows, lines of rows, and what is wrong where."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from nary.data.importers.tables import read_header, read_table, read_text
from nary.errors import DataError


@pytest.mark.parametrize(
    ("text", "rows", "lines"),
    [
        ("a,b\n1,2\n\n3,4\n", [("1", "2"), ("3", "4")], [2, 4]),
        ("a;b\r\n1;2\r\n3;4", [("1", "2"), ("3", "4")], [2, 3]),
        ("a\tb\n1\t\n", [("1", None)], [2]),
        ("a|b\n1|2\n", [("1", "2")], [2]),
        ('a,b\n1,"x\ny"\n2,z\n', [("1", "x\ny"), ("2", "z")], [2, 4]),
        ('a,b\n"x, y","say ""hi"""\n', [("x, y", 'say "hi"')], [2]),
        ('a,b\n1,2"x\n', [("1", '2"x')], [2]),
        ('a,b\n1,"x\ny"\n,\n3,\n', [("1", "x\ny"), ("3", "")], [2, 5]),
    ],
)
def test_rows(text: str, rows: list[tuple[str | None, ...]], lines: list[int]) -> None:
    table = read_text(text, "f.csv")
    assert table.frame.rows() == rows
    assert [table.line_of(i) for i in range(len(rows))] == lines


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("a,b,c\n1,2\n", "2 fields, but the header has 3", 2),
        ("a,b,c\n1,2,3\n1,2,3,4\n", "4 fields, but the header has 3", 3),
        ('a,b,c\n"x\ny",2,3\n1,2\n', "2 fields, but the header has 3", 4),
        ('a,b\n1,"x\n2,y\n', "bad quotes", 2),
        ('a,b\n1,"x"y\n', "bad quotes", 2),
        ("a,b\n", "has a header, but no rows", None),
        ("\n1,2\n", "has no header", 1),
        ("", "has no header", 1),
        ("a\n1\n", "its header has one column: a", 1),
        ("a,b,a\n1,2,3\n", "two columns are called 'a'", 1),
        ("a,,c\n1,2,3\n", "column 2 of the header has no name", 1),
    ],
)
def test_what_is_wrong(text: str, message: str, line: int | None) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_text(text, "f.csv")
    assert (caught.value.file, caught.value.line) == ("f.csv", line)
    assert caught.value.hint


def test_files(tmp_path: Path) -> None:
    (tmp_path / "f.csv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfa,b\n1,2\n"))
    assert read_table(tmp_path / "f.csv.gz").frame.to_dict(as_series=False) == {"a": ["1"], "b": ["2"]}
    (tmp_path / "bad.csv").write_bytes(b"a,b\n1,2\n\xe9,3\n")
    with pytest.raises(DataError, match="not UTF-8: byte 0xe9") as caught:
        read_table(tmp_path / "bad.csv")
    assert caught.value.line == 3
    (tmp_path / "nul.csv").write_bytes(b"a,b\n1,\0\n")
    with pytest.raises(DataError, match="NUL") as caught:
        read_table(tmp_path / "nul.csv")
    assert caught.value.line == 2
    (tmp_path / "h.csv").write_text("x,y\n")
    (tmp_path / "rows.csv").write_text("1,2\n3,4\n")
    table = read_table(tmp_path / "rows.csv", read_header(tmp_path / "h.csv"))
    assert table.frame.rows(named=True) == [{"x": "1", "y": "2"}, {"x": "3", "y": "4"}]
    assert table.line_of(1) == 2


def test_parquet(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1, 2], "b": ["x", None]}).write_parquet(tmp_path / "f.parquet")
    table = read_table(tmp_path / "f.parquet")
    assert (table.frame.height, table.is_text) == (2, False)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 or not")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_table(tmp_path / "bad.parquet")
    pl.DataFrame({"a": []}).write_parquet(tmp_path / "none.parquet")
    with pytest.raises(DataError, match="has no rows"):
        read_table(tmp_path / "none.parquet")
