"""Lines of separated fields: hyper-relational lines ``s r o a v a v ...`` and tuples ``r e1 e2 e3 ...``."""

import csv
import io
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from nary.data.io.base import FactColumns
from nary.data.io.lines import LineError, LineFormat, Record, gather_names, make_record
from nary.errors import OutputError

_MISLEADING = ("{", "[", "\ufeff", "PAR1", "BZh")
"""Beginnings that are quoted: a file with such a first line would be detected as another format."""


class HyperRelational(LineFormat):
    """``subject relation object [attribute value]...`` separated by tabs or commas.

    A label that contains the separator is enclosed in double quotes; a quote inside it is doubled.
    """

    extensions = (".tsv", ".csv")
    output_extension = ".tsv"
    separator = "\t"

    def start(self, first_line: str, extension: str) -> None:
        """Choose the separator of the file."""
        self.separator = choose_separator(first_line, extension)

    def parse(self, line: str) -> Record:
        """Parse one line."""
        fields = self._split(line)
        if len(fields) < 3:
            raise LineError(
                "too few fields",
                f"{len(fields)} of at least three fields (subject, relation, object), {_separated(self.separator)}",
                "Lines of the form relation e1 e2 ... are read with --format tuples.",
            )
        if len(fields) % 2 == 0:
            raise LineError(
                "odd qualifier fields",
                f"an odd number of qualifier fields ({len(fields) - 3}): after subject, relation and object come pairs "
                "of attribute and value",
                "If the lines are relation e1 e2 e3 ..., read them with --format tuples.",
            )
        return make_record(fields[0], fields[1], fields[2], list(zip(fields[3::2], fields[4::2], strict=True)))

    def parse_many(self, lines: pl.Series) -> tuple[npt.NDArray[np.bool_], FactColumns | None]:
        """Parse the lines without quotes, empty fields or question marks."""
        fields = lines.str.split(self.separator)
        lengths = fields.list.len().to_numpy().astype(np.int64)
        valid = ~_unusual(lines, self.separator, '"') & (lengths % 2 == 1) & (lengths >= 3)
        rows = np.flatnonzero(valid)
        return valid, FactColumns(rows, (lengths[rows] - 3) // 2, gather_names(fields.gather(rows), (1, 0, 2), 3))

    def format_line(self, record: Record) -> str:
        """Format one fact, with quotes only where they are needed."""
        fields = [
            record.subject,
            record.relation,
            record.object,
            *(name for pair in record.qualifiers for name in pair),
        ]
        for name in fields:
            if "\n" in name or "\r" in name:
                raise OutputError(
                    f"the name {name!r} contains a line end", "Write .jsonl or .parquet, which can hold it."
                )
        minimal, all_quoted = self._writers
        line = self._join(minimal, fields)
        if line.startswith(_MISLEADING) or line.isspace() or ("/" in record.subject and "_h" in record.subject):
            line = self._join(all_quoted, fields)
        return line

    @cached_property
    def _buffer(self) -> io.StringIO:
        return io.StringIO()

    @cached_property
    def _writers(self) -> tuple[Any, Any]:
        """CSV writers that quote as little as possible, and everything."""
        options: Any = {"delimiter": self.separator, "lineterminator": ""}
        return (
            csv.writer(self._buffer, quoting=csv.QUOTE_MINIMAL, **options),
            csv.writer(self._buffer, quoting=csv.QUOTE_ALL, **options),
        )

    def _join(self, writer: Any, fields: Sequence[str]) -> str:
        self._buffer.seek(0)
        self._buffer.truncate()
        writer.writerow(fields)
        return self._buffer.getvalue()

    def _split(self, line: str) -> list[str]:
        if '"' not in line:
            return line.split(self.separator)
        try:
            return next(csv.reader([line], delimiter=self.separator, strict=True))
        except csv.Error as error:
            raise LineError(
                "bad quotes", f"bad quotes: {error}", 'A label that starts with a quote is written "like ""this""".'
            ) from None


def choose_separator(first_line: str, extension: str) -> str:
    """Choose tab, or comma in .csv files, unless the first line contains only the other one."""
    usual, other = ",\t" if extension == ".csv" else "\t,"
    return usual if usual in first_line or other not in first_line else other


class Tuples(LineFormat):
    """``relation e1 e2 e3 ...`` separated by tabs or spaces; quotes have no meaning.

    e1 is the subject, e2 the object; the others become values of the attributes ``<relation>_0``, ``<relation>_1``, ...
    """

    separator = "\t"
    num_leading = 0
    """Number of fields before the relation, which are ignored."""

    def start(self, first_line: str, extension: str) -> None:
        """Choose the separator: tab if the first line has one, otherwise space."""
        self.separator = "\t" if "\t" in first_line else " "

    def parse(self, line: str) -> Record:
        """Parse one line."""
        fields = line.split(self.separator)
        minimum = self.num_leading + 3
        if len(fields) < minimum:
            expected = "instance, relation, two entities" if self.num_leading else "relation, two entities"
            raise LineError(
                "too few fields",
                f"{len(fields)} of at least {minimum} fields ({expected}), {_separated(self.separator)}",
                "Lines of the form subject relation object attribute value are read with --format hyper-relational.",
            )
        relation, subject, object, *values = fields[self.num_leading :]
        return make_record(subject, relation, object, [(f"{relation}_{k}", value) for k, value in enumerate(values)])

    def parse_many(self, lines: pl.Series) -> tuple[npt.NDArray[np.bool_], FactColumns | None]:
        """Parse the lines without empty fields or question marks."""
        fields = lines.str.split(self.separator)
        lengths = fields.list.len().to_numpy().astype(np.int64)
        valid = ~_unusual(lines, self.separator) & (lengths >= self.num_leading + 3)
        rows = np.flatnonzero(valid)
        first = self.num_leading
        names = gather_names(fields.gather(rows), (first, first + 1, first + 2), first + 3)
        counts = lengths[rows] - first - 3
        return valid, FactColumns(rows, counts, _with_attributes(names, counts))


class NumberedTuples(Tuples):
    """Tuples preceded by the name of the instance, which is ignored."""

    num_leading = 1


_BLANK = r"[\s\x1c-\x1f]"
"""White space as :meth:`str.strip` defines it."""


def _with_attributes(names: pl.Series, counts: npt.NDArray[np.int64]) -> pl.Series:
    """Insert the attribute before each value: the k-th of a fact is named ``<relation>_<k>``."""
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    relations = names.gather(np.repeat(3 * np.arange(counts.size), counts))
    attributes = relations + "_" + pl.Series(number).cast(pl.String)
    heads, values = np.split(np.arange(len(names)), [3 * counts.size])
    alternating = np.column_stack([len(names) + np.arange(values.size), values]).ravel()
    return pl.concat([names, attributes]).gather(np.concatenate([heads, alternating]))


def _unusual(lines: pl.Series, separator: str, extra: str = "") -> npt.NDArray[np.bool_]:
    """Find blank lines and lines with an empty field, a field ``?``, a NUL, a carriage return or one of ``extra``."""
    return lines.str.contains(rf"(?:^|{separator})\??(?:{separator}|$)|[\x00\r{extra}]|^{_BLANK}*$").to_numpy()


def _separated(separator: str) -> str:
    return {"\t": "separated by tabs", ",": "separated by commas", " ": "separated by spaces"}[separator]
