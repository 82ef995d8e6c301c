"""From columns of names to a vocabulary and tables of ids."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from nary.data.interner import Interner
from nary.facts import FactTable, Vocabulary


@dataclass(frozen=True)
class Columns:
    """Some facts by name, column-wise: what a reader makes of a part of a file.

    ``rows`` [n] are their places in the file, ``counts`` [n] their numbers of qualifiers, ``splits`` [n] the splits
    they name, if any do. ``names`` [3n + 2q] holds relation, subject, object of every fact and then attribute, value of
    every qualifier.
    """

    rows: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    names: pl.Series
    splits: pl.Series | None = None


class _Part(NamedTuple):
    rows: npt.NDArray[np.int64]
    heads: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    pairs: npt.NDArray[np.int32]


class _Collected:
    """Parts put one after the other, in buffers that grow in place: a list of arrays would be held twice to join it."""

    def __init__(self) -> None:
        self._rows, self._heads, self._counts, self._pairs = bytearray(), bytearray(), bytearray(), bytearray()

    def add(self, part: _Part) -> None:
        self._rows += part.rows.tobytes()
        self._heads += part.heads.tobytes()
        self._counts += part.counts.tobytes()
        self._pairs += part.pairs.tobytes()

    def all(self) -> _Part:
        return _Part(
            np.frombuffer(self._rows, np.int64),
            np.frombuffer(self._heads, np.int32).reshape(-1, 3),
            np.frombuffer(self._counts, np.int32),
            np.frombuffer(self._pairs, np.int32).reshape(-1, 2),
        )


class Encoder:
    """Collects columns of names, split by split, and turns them into ids of one sorted vocabulary."""

    def __init__(self) -> None:
        self._names = Interner()
        self._collected: dict[str, _Collected] = {}

    def add(self, columns: Columns, split: str, offset: int = 0) -> None:
        """Take in some facts of ``split`` (or of the splits they name); ``offset`` is added to their places."""
        if not columns.rows.size:
            return
        heads, pairs = np.split(self._names.numbers(columns.names), [3 * columns.rows.size])
        part = _Part(columns.rows + offset, heads.reshape(-1, 3), columns.counts.astype(np.int32), pairs.reshape(-1, 2))
        if columns.splits is None:
            self._collected.setdefault(split, _Collected()).add(part)
            return
        splits = columns.splits.fill_null(split)
        for name in splits.unique():
            self._collected.setdefault(name, _Collected()).add(_select(part, (splits == name).to_numpy()))

    def finish(self) -> tuple[Vocabulary, dict[str, FactTable]]:
        """The vocabulary of everything taken in, and a table a split."""
        parts = {split: collected.all() for split, collected in self._collected.items()}
        self._collected.clear()
        entities, entity_ids = self._sorted(
            *(a for part in parts.values() for a in (part.heads[:, 1:], part.pairs[:, 1]))
        )
        relations, relation_ids = self._sorted(
            *(a for part in parts.values() for a in (part.heads[:, 0], part.pairs[:, 0]))
        )
        tables = {}
        for split in list(parts):
            part = parts.pop(split)
            for numbers, ids in ((part.heads[:, :1], relation_ids), (part.heads[:, 1:], entity_ids)):
                numbers[...] = ids[numbers]  # in place: a large table should not stand in memory twice
            for numbers, ids in ((part.pairs[:, 0], relation_ids), (part.pairs[:, 1], entity_ids)):
                numbers[...] = ids[numbers]
            tables[split] = FactTable.from_columns(part.heads, part.counts, part.pairs, part.rows)
        return Vocabulary(entities, relations), tables

    def _sorted(self, *used: npt.NDArray[np.int32]) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
        """The names of ``used`` numbers in code-point order, and the id of each number."""
        is_used = np.zeros(len(self._names), bool)
        for numbers in used:
            is_used[numbers] = True
        numbers_used = np.flatnonzero(is_used)
        names = self._names.names.gather(numbers_used)
        order = names.arg_sort().to_numpy()  # bytes of UTF-8 sort like code points
        ids = np.full(len(self._names), -1, np.int32)
        ids[numbers_used[order]] = np.arange(order.size, dtype=np.int32)
        return tuple(names.gather(order).to_list()), ids


def _select(part: _Part, chosen: npt.NDArray[np.bool_]) -> _Part:
    return _Part(part.rows[chosen], part.heads[chosen], part.counts[chosen], part.pairs[np.repeat(chosen, part.counts)])
