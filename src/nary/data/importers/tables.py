"""Tables with a header: separated text, or Parquet."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from nary.data.files import Source, extension
from nary.data.importers.values import guess_type, without_missing
from nary.errors import DataError
from nary.progress import Progress, no_progress

_DELIMITERS = ",\t;|"
_EXTENSIONS = (".csv", ".tsv", ".tab", ".txt", ".parquet")
_OTHER_FILES = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), ("a spreadsheet", "Save it as CSV.")),
    **dict.fromkeys((".rdf", ".owl", ".jsonld"), ("RDF in a syntax that is not read", "Convert it to Turtle (.ttl).")),
    **dict.fromkeys((".cypher", ".dump", ".zip"), ("no table", "Export tables, as CSV or Parquet.")),
}
"""Files that users may give as tables, by extension, and what to do instead."""


@dataclass(frozen=True)
class Table:
    """A table of nodes or edges.

    ``is_text`` tells that values are texts whose types must be guessed; ``types`` are those that the source declares.
    ``spaces`` are the id spaces of columns of ids: equal ids of different spaces are different nodes. ``line_of`` gives
    the line of a row, for messages.
    """

    name: str
    frame: pl.DataFrame
    is_text: bool = False
    types: Mapping[str, str] = field(default_factory=dict)
    spaces: Mapping[str, str] = field(default_factory=dict)
    line_of: Callable[[int], int | None] = field(default=lambda row: row + 1, repr=False)

    @property
    def stem(self) -> str:
        """The name without extensions, which may serve as a relation or type."""
        return Path(self.name).name.partition(".")[0]

    def error(self, message: str, hint: str | None = None, row: int | None = None) -> DataError:
        """Return an error about the table, or about one of its rows."""
        return DataError(message, hint, self.name, None if row is None else self.line_of(row))


def table_of_rows(name: str, rows: Sequence[Mapping[str, Any]], lines: Sequence[int]) -> Table:
    """Make a table of rows with values by column; ``lines`` are their lines.

    Values of several types become text. Text that is a date or time in every row is one: such sources have no other way
    to write it.
    """
    columns = list(dict.fromkeys(key for row in rows for key in row))
    frame = pl.DataFrame({column: _series([row.get(column) for row in rows]) for column in columns})
    text = [column for column in columns if frame[column].dtype == pl.String]
    guessed = {column: guess_type(without_missing(frame[column]), column) for column in text}
    types = {column: type for column, type in guessed.items() if type in ("date", "time", "datetime")}
    return Table(name, frame, types=types, line_of=lines.__getitem__)


def _series(values: Sequence[Any]) -> pl.Series:
    try:
        return pl.Series(values, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        return pl.Series([None if value is None else str(value) for value in values], dtype=pl.String)


def is_table(path: Path) -> bool:
    """Whether the extension is that of a table."""
    return extension(path).lower() in _EXTENSIONS


def read_table(path: Path, header: Sequence[str] | None = None, progress: Progress = no_progress) -> Table:
    """Read a table; ``header`` are the names of its columns if it has none itself."""
    if extension(path).lower() == ".parquet":
        return _read_parquet(path)
    with Source(path, progress) as source:
        if other := _OTHER_FILES.get(extension(path).lower()):
            raise DataError(f"is {other[0]}", other[1], source.name)
        content = b"".join(source.pieces()).removeprefix(b"\xef\xbb\xbf")
    text = _decode(content, source.name)
    return read_text(text, source.name, header)


def read_header(path: Path) -> list[str]:
    """Read the first row of a file of separated text."""
    with Source(path) as source:
        text = source.head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    return _header(text, source.name)[0]


def read_text(text: str, name: str, header: Sequence[str] | None = None) -> Table:
    """Read separated text; the delimiter is that of the header."""
    columns, delimiter = _header(text, name)
    skipped = 1 if header is None else 0
    if header is not None:
        columns = list(header)
    _check_columns(columns, name)
    frame = _parse(text, columns, delimiter, skipped, name)
    if not frame.height:
        raise DataError("has a header, but no rows", "Expected at least one row.", name)
    rows = frame["row"].to_list() if frame["row"][-1] + 1 != frame.height else None

    def line_of(row: int) -> int:
        return _line_of(text, delimiter, (rows[row] if rows else row) + skipped)

    return Table(name, frame.drop("row"), is_text=True, line_of=line_of)


def _header(text: str, name: str) -> tuple[list[str], str]:
    """Return the fields of the first line and the delimiter, the one that makes the most fields of it."""
    line = text.partition("\n")[0].rstrip("\r")
    if not line.strip():
        raise DataError("has no header", "Its first line must name the columns.", name, 1)
    delimiter = max(_DELIMITERS, key=line.count)
    try:
        fields = next(csv.reader([line], delimiter=delimiter))
    except csv.Error:
        raise DataError("its header holds a carriage return", "End lines in LF or CR LF.", name, 1) from None
    if len(fields) < 2:
        raise DataError(
            f"its header has one column: {line[:60]}", "Separate columns by commas, tabs or semicolons.", name, 1
        )
    return [field.strip() for field in fields], delimiter


def _check_columns(columns: Sequence[str], name: str) -> None:
    for number, column in enumerate(columns, 1):
        if not column:
            raise DataError(f"column {number} of the header has no name", "Name it, or remove it.", name, 1)
        if column in columns[: number - 1] and column != ":IGNORE":
            raise DataError(f"two columns are called {column!r}", "Rename one of them.", name, 1)


def _parse(text: str, columns: Sequence[str], delimiter: str, skipped: int, name: str) -> pl.DataFrame:
    """Parse all rows as text, with their numbers; rows without any field are left out."""
    names = [column if column not in columns[:i] else f"{column} {i}" for i, column in enumerate(columns)]
    try:
        frame = pl.read_csv(
            io.BytesIO(text.encode()),
            has_header=False,
            skip_rows=skipped,
            new_columns=names,
            separator=delimiter,
            infer_schema=False,
            row_index_name="row",
            raise_if_empty=False,
        )
        complete = frame.width == len(names) + 1
        complete = complete and (not frame[names[-1]].has_nulls() or _have_equal_lengths(text, delimiter, len(names)))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        complete = False
    if not complete:  # a row may have too few or too many fields, or bad quotes
        frame = _parse_exactly(text, names, delimiter, skipped, name)
    return frame.filter(pl.any_horizontal(pl.col(names).is_not_null() & (pl.col(names) != "")))


def _have_equal_lengths(text: str, delimiter: str, width: int) -> bool:
    """Whether every line certainly has ``width`` fields, unless it is blank."""
    if '"' in text:
        return False
    lines = pl.Series([text]).str.split("\n").explode()
    lengths = lines.str.count_matches(delimiter, literal=True) + 1
    return bool(((lengths == width) | lines.str.contains(r"^\s*$")).all())


def _parse_exactly(text: str, names: Sequence[str], delimiter: str, skipped: int, name: str) -> pl.DataFrame:
    """Parse row by row, and say which line is not like the header."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    start = 0
    try:
        for number, fields in enumerate(reader):
            if number >= skipped and fields and len(fields) != len(names):
                raise DataError(
                    f"{len(fields)} fields, but the header has {len(names)}",
                    "A field that contains the delimiter must be in double quotes.",
                    name,
                    start + 1,
                )
            if number >= skipped:
                rows.append(fields or [""] * len(names))
            start = reader.line_num
    except csv.Error as error:
        raise DataError(f"bad quotes: {error}", 'Write a quote inside a quoted field as "".', name, start + 1) from None
    frame = pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row")
    return frame.with_row_index("row")


def _line_of(text: str, delimiter: str, row: int) -> int:
    """Return the line on which a row starts; a field may contain line ends."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    line = 0
    for number, _ in enumerate(reader):
        if number == row:
            return line + 1
        line = reader.line_num
    return line


def _decode(content: bytes, name: str) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"not UTF-8: byte 0x{content[error.start]:02x}", "Convert the file to UTF-8.", name, line
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError("contains a NUL character", "Is this a text file?", name, line)
    return text


def _read_parquet(path: Path) -> Table:
    try:
        frame = pl.read_parquet(path, glob=False)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"cannot be read as Parquet: {reason}", "Get the file again.", str(path)) from None
    if not frame.height:
        raise DataError("has no rows", "Expected at least one row.", str(path))
    return Table(str(path), frame)
