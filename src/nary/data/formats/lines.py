"""What formats with a fact a line have in common.

A format reads a line in two ways. ``parse`` is exact: it takes one line and says precisely what is wrong with it.
``parse_many`` is fast: it takes a whole column of lines, recognizes those that are surely right, and leaves the others
to ``parse``. Both give the same facts.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from nary.data.encoding import Columns
from nary.errors import FactError
from nary.facts.fact import check_label


class Record(NamedTuple):
    """One fact as a line holds it, and the split it names, if any."""

    subject: str
    relation: str
    object: str
    qualifiers: Sequence[tuple[str, str]]
    split: str | None = None


class LineError(Exception):
    """A line that is not a fact. ``reason`` is what such lines are counted under."""

    def __init__(self, reason: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.hint = hint


class LineFormat:
    """A format with a fact a line. One object reads one file."""

    name: str

    def start(self, line: str, extension: str) -> None:
        """Learn from the first line that is not blank, and the file's extension, such as which separator it uses."""

    def parse(self, line: str) -> Record:
        """Read one line exactly, or raise :class:`LineError`."""
        raise NotImplementedError

    def parse_many(self, lines: pl.Series) -> tuple[npt.NDArray[np.bool_], Columns | None]:
        """Which of ``lines`` [n] are surely right, and their facts; rows are numbered within ``lines``."""
        return np.zeros(len(lines), bool), None


def checked(label: object, what: str) -> str:
    """``label`` if it can be one; ``what`` it is stands in the error."""
    try:
        check_label(label)
    except FactError as error:
        reason = "empty label" if label == "" else "bad label"
        raise LineError(reason, f"{what}: {error.message}") from None
    if label == "?":
        raise LineError(
            "gap in data", f"{what} is ?, which marks a gap", "Data hold whole facts; use nary predict to fill gaps."
        )
    return str(label)


def record(subject: object, relation: object, object: object, pairs: Sequence[tuple[object, object]]) -> Record:
    """A record of checked labels."""
    qualifiers = [
        (checked(attribute, f"attribute {i}"), checked(value, f"value {i}"))
        for i, (attribute, value) in enumerate(pairs, 1)
    ]
    return Record(
        checked(subject, "the subject"), checked(relation, "the relation"), checked(object, "the object"), qualifiers
    )


def columns_of(records: Sequence[Record], rows: Sequence[int]) -> Columns:
    """Records as columns."""
    names = [name for record in records for name in (record.relation, record.subject, record.object)]
    names += [name for record in records for pair in record.qualifiers for name in pair]
    named = any(record.split for record in records)
    return Columns(
        np.array(rows, np.int64),
        np.array([len(record.qualifiers) for record in records], np.int64),
        pl.Series(names, dtype=pl.String),
        pl.Series([record.split for record in records], dtype=pl.String) if named else None,
    )


def picked(fields: pl.Series, heads: Sequence[int], first_pair: int, step: int = 1) -> pl.Series:
    """From lists of fields, the ``names`` of :class:`Columns`.

    ``fields`` [n] are lists, ``heads`` the places of relation, subject and object in each; from place ``first_pair``
    on, every ``step``-th field belongs to a qualifier.
    """
    lengths = fields.list.len().to_numpy().astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    head_places = (starts[:, None] + np.array(heads)).ravel()
    per_line = np.maximum(0, (lengths - first_pair + step - 1) // step)
    within = np.arange(per_line.sum()) - np.repeat(np.cumsum(per_line) - per_line, per_line)
    pair_places = np.repeat(starts + first_pair, per_line) + step * within
    return fields.explode().gather(np.concatenate([head_places, pair_places], dtype=np.uint32, casting="unsafe"))
