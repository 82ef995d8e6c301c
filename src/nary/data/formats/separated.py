"""Facts as separated fields: hyper-relational lines ``s r o a v a v ...`` and tuple lines ``r e1 e2 e3 ...``."""

import csv

import numpy as np
import numpy.typing as npt
import polars as pl

from nary.data.encoding import Columns
from nary.data.formats.lines import LineError, LineFormat, Record, picked, record


class HyperRelational(LineFormat):
    """``subject relation object [attribute value]...`` separated by tabs or commas.

    A label that holds the separator stands in double quotes, a quote inside it is doubled.
    """

    name = "hyper-relational"
    separator = "\t"

    def start(self, line: str, extension: str) -> None:
        """The separator is the tab, in .csv files the comma; if the first line has only the other, it is the other."""
        usual, other = ",\t" if extension == ".csv" else "\t,"
        self.separator = usual if usual in line or other not in line else other

    def parse(self, line: str) -> Record:
        """Read one line exactly."""
        fields = self._fields(line)
        if len(fields) < 3:
            raise LineError(
                "too few fields",
                f"{len(fields)} of at least three fields (subject, relation, object), {_separated(self.separator)}",
                "Lines of the form relation e1 e2 ... are read with --format tuples.",
            )
        if len(fields) % 2 == 0:
            raise LineError(
                "odd qualifier fields",
                f"an odd number of qualifier fields ({len(fields) - 3}): after subject, relation and object come "
                "attribute and value in turns",
                "If the lines are relation e1 e2 e3 ..., read them with --format tuples.",
            )
        return record(fields[0], fields[1], fields[2], list(zip(fields[3::2], fields[4::2], strict=True)))

    def parse_many(self, lines: pl.Series) -> tuple[npt.NDArray[np.bool_], Columns | None]:
        """Take the lines without quotes, empty fields or question marks."""
        fields = lines.str.split(self.separator)
        lengths = fields.list.len().to_numpy().astype(np.int64)
        right = ~_unusual(lines, self.separator, '"') & (lengths % 2 == 1) & (lengths >= 3)
        rows = np.flatnonzero(right)
        return right, Columns(rows, (lengths[rows] - 3) // 2, picked(fields.gather(rows), (1, 0, 2), 3))

    def _fields(self, line: str) -> list[str]:
        if '"' not in line:
            return line.split(self.separator)
        try:
            return next(csv.reader([line], delimiter=self.separator, strict=True))
        except csv.Error as error:
            raise LineError(
                "bad quotes", f"bad quotes: {error}", 'A label that starts with a quote is written "like ""this""".'
            ) from None


class Tuples(LineFormat):
    """``relation e1 e2 e3 ...`` separated by tabs or spaces; quotes mean nothing.

    e1 is the subject, e2 the object; the others become values of the attributes ``<relation>_0``, ``<relation>_1``, ...
    """

    name = "tuples"
    separator = "\t"
    leading = 0
    """Fields before the relation."""

    def start(self, line: str, extension: str) -> None:
        """The separator is the tab if the first line has one, otherwise the space."""
        self.separator = "\t" if "\t" in line else " "

    def parse(self, line: str) -> Record:
        """Read one line exactly."""
        fields = line.split(self.separator)
        least = self.leading + 3
        if len(fields) < least:
            wanted = "instance, relation, two entities" if self.leading else "relation, two entities"
            raise LineError(
                "too few fields",
                f"{len(fields)} of at least {least} fields ({wanted}), {_separated(self.separator)}",
                "Lines of the form subject relation object attribute value are read with --format hyper-relational.",
            )
        relation, subject, object, *values = fields[self.leading :]
        return record(subject, relation, object, [(f"{relation}_{k}", value) for k, value in enumerate(values)])

    def parse_many(self, lines: pl.Series) -> tuple[npt.NDArray[np.bool_], Columns | None]:
        """Take the lines without empty fields or question marks."""
        fields = lines.str.split(self.separator)
        lengths = fields.list.len().to_numpy().astype(np.int64)
        right = ~_unusual(lines, self.separator) & (lengths >= self.leading + 3)
        rows = np.flatnonzero(right)
        first = self.leading
        names = picked(fields.gather(rows), (first, first + 1, first + 2), first + 3)
        counts = lengths[rows] - first - 3
        return right, Columns(rows, counts, _with_attributes(names, counts))


class NumberedTuples(Tuples):
    """Tuple lines with the name of the instance in front, which is dropped."""

    name = "numbered-tuples"
    leading = 1


_BLANK = r"[\s\x1c-\x1f]"
"""What :meth:`str.strip` takes for white space."""


def _with_attributes(names: pl.Series, counts: npt.NDArray[np.int64]) -> pl.Series:
    """Put before each value its attribute: the k-th of a fact is named ``<relation>_<k>``."""
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    relations = names.gather(np.repeat(3 * np.arange(counts.size), counts))
    attributes = relations + "_" + pl.Series(number).cast(pl.String)
    heads, values = np.split(np.arange(len(names)), [3 * counts.size])
    turns = np.column_stack([len(names) + np.arange(values.size), values]).ravel()
    return pl.concat([names, attributes]).gather(np.concatenate([heads, turns]))


def _unusual(lines: pl.Series, separator: str, also: str = "") -> npt.NDArray[np.bool_]:
    """Blank lines, and those with an empty field, a field ``?``, a NUL, a carriage return or one of ``also``."""
    return lines.str.contains(rf"(?:^|{separator})\??(?:{separator}|$)|[\x00\r{also}]|^{_BLANK}*$").to_numpy()


def _separated(separator: str) -> str:
    return {"\t": "separated by tabs", ",": "separated by commas", " ": "separated by spaces"}[separator]
