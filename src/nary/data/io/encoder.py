"""Encoding columns of names as ids of a vocabulary.

Looking up names in a Python dictionary takes a fifth of a microsecond each once it outgrows the caches, and a fact
needs seven. :class:`Interner` hashes whole columns outside Python and looks them up in an open-addressing hash table
held in numpy arrays.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from nary.data.io.base import FactColumns
from nary.facts import FactTable, Vocabulary
from nary.facts.names import MANY_NAMES, PackedNames

_FIRST_BITS = 12
_NAMES = 1 << 16  # packed at a time
_SLOTS_PER_NAME = 2  # at least, so that most look-ups end at the first slot

_Hashes = npt.NDArray[np.uint64]
_Numbers = npt.NDArray[np.int32]


class Interner:
    """Assigns consecutive numbers to distinct strings.

    A string is identified by two independent 64-bit hashes: one determines its slot in the table, the other is compared
    there. The probability that any two of ten million strings are confused is at most three in a million.
    """

    def __init__(self) -> None:
        self._names: list[pl.Series] = []
        self._size = 0
        self._places: _Hashes = np.empty(0, np.uint64)  # by number; those beyond the size are not in use
        self._checks: _Hashes = np.empty(0, np.uint64)
        self._clear(_FIRST_BITS)

    def __len__(self) -> int:
        return self._size

    @property
    def names(self) -> pl.Series:
        """All strings, by number."""
        return pl.concat([pl.Series([], dtype=pl.String), *self._names])

    def numbers(self, column: pl.Series) -> _Numbers:
        """Return the number of each string of ``column``; new strings get new numbers."""
        places, checks = column.hash(0).to_numpy(), column.hash(1).to_numpy()
        numbers = self._find(places, checks)
        new = np.flatnonzero(numbers < 0)
        if new.size:
            _, first, inverse = np.unique(checks[new], return_index=True, return_inverse=True)
            numbers[new] = len(self) + inverse
            first = new[first]
            # through Python strings, because a part of a column would keep the memory of the whole chunk alive
            self._names.append(pl.Series(column.gather(first).to_list(), dtype=pl.String))
            self._add(places[first], checks[first])
        return numbers

    def _find(self, places: _Hashes, checks: _Hashes) -> _Numbers:
        """Return the number of each string, -1 for those that are not in the table."""
        slots = self._slots(places)
        numbers = self._table[slots]
        if not len(self):
            return numbers
        todo = np.flatnonzero((numbers >= 0) & (self._checks[numbers] != checks))
        while todo.size:  # the slot holds another string: probe the next one
            slots[todo] = (slots[todo] + 1) & ((1 << self._bits) - 1)
            numbers[todo] = candidates = self._table[slots[todo]]
            todo = todo[(candidates >= 0) & (self._checks[candidates] != checks[todo])]
        return numbers

    def _add(self, places: _Hashes, checks: _Hashes) -> None:
        first, self._size = len(self), len(self) + places.size
        if len(self) > self._places.size:  # not by as many as are new: very many names would be copied too often
            more = len(self) // 4 + places.size
            self._places, self._checks = (
                np.append(old, np.empty(more, np.uint64)) for old in (self._places, self._checks)
            )
        self._places[first : len(self)], self._checks[first : len(self)] = places, checks
        if len(self) * _SLOTS_PER_NAME > self._table.size:
            first = 0
            self._clear((len(self) * _SLOTS_PER_NAME * 2).bit_length())
        todo = np.arange(first, len(self), dtype=np.int32)
        slots = self._slots(self._places[todo])
        while todo.size:
            free = self._table[slots] < 0
            self._table[slots[free]] = todo[free]  # of several strings for one slot, the last one gets it
            displaced = self._table[slots] != todo
            todo, slots = todo[displaced], (slots[displaced] + 1) & ((1 << self._bits) - 1)

    def _clear(self, bits: int) -> None:
        self._bits = bits
        self._table: _Numbers = np.full(1 << bits, -1, np.int32)

    def _slots(self, places: _Hashes) -> npt.NDArray[np.int64]:
        return (places >> np.uint64(64 - self._bits)).astype(np.int64)


class _Part(NamedTuple):
    rows: npt.NDArray[np.int64]
    heads: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    pairs: npt.NDArray[np.int32]


class _Collected:
    """Concatenated parts, in buffers that grow in place: joining a list of arrays would need twice the memory."""

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
    """Collects facts by name, split by split, and encodes them with one sorted vocabulary."""

    def __init__(self, keep_rows: bool = False) -> None:
        self._keep_rows = keep_rows
        self.rows: dict[str, npt.NDArray[np.int64]] = {}
        """In the end, if it is kept, the row of each fact of each split, in the order of its table."""
        self._names = Interner()
        self._collected: dict[str, _Collected] = {}

    def add(self, columns: FactColumns, split: str, offset: int = 0) -> None:
        """Add facts to ``split`` (or to the splits they name); ``offset`` is added to their rows."""
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
        """Return the vocabulary of all facts, and one table per split."""
        parts = {split: collected.all() for split, collected in self._collected.items()}
        self._collected.clear()
        names, self._names = self._names.names, Interner()  # whose table is not needed any longer
        entities, entity_ids = _sorted(
            names, *(a for part in parts.values() for a in (part.heads[:, 1:], part.pairs[:, 1]))
        )
        relations, relation_ids = _sorted(
            names, *(a for part in parts.values() for a in (part.heads[:, 0], part.pairs[:, 0]))
        )
        del names
        tables = {}
        for split in list(parts):
            part = parts.pop(split)
            for numbers, ids in ((part.heads[:, :1], relation_ids), (part.heads[:, 1:], entity_ids)):
                numbers[...] = ids[numbers]  # in place, to hold a large table only once
            for numbers, ids in ((part.pairs[:, 0], relation_ids), (part.pairs[:, 1], entity_ids)):
                numbers[...] = ids[numbers]
            tables[split] = FactTable.from_columns(part.heads, part.counts, part.pairs, part.rows)
            if self._keep_rows:
                self.rows[split] = np.sort(part.rows)
        return Vocabulary(entities, relations), tables


def _sorted(names: pl.Series, *used: npt.NDArray[np.int32]) -> tuple[Sequence[str], npt.NDArray[np.int32]]:
    """Sort the names of the ``used`` numbers by code point; also return the id of each number."""
    is_used = np.zeros(len(names), bool)
    for numbers in used:
        is_used[numbers] = True
    numbers_used = np.flatnonzero(is_used)
    chosen = names.gather(numbers_used)
    order = chosen.arg_sort().to_numpy()  # UTF-8 bytes sort like code points
    ids = np.full(len(names), -1, np.int32)
    ids[numbers_used[order]] = np.arange(order.size, dtype=np.int32)
    return _pack(chosen, order), ids


def _pack(names: pl.Series, order: npt.NDArray[np.integer]) -> Sequence[str]:
    if order.size < MANY_NAMES:
        return tuple(names.gather(order).to_list())
    starts = range(0, order.size, _NAMES)
    return PackedNames.of(name for start in starts for name in names.gather(order[start : start + _NAMES]).to_list())


def _select(part: _Part, mask: npt.NDArray[np.bool_]) -> _Part:
    return _Part(part.rows[mask], part.heads[mask], part.counts[mask], part.pairs[np.repeat(mask, part.counts)])
