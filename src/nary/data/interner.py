"""Interner: numbers for strings, a column at a time.

A Python dictionary costs a fifth of a microsecond a look-up once it outgrows the caches, and a fact needs seven. Here
whole columns are hashed outside Python and looked up in an open-addressing table held in numpy arrays.
"""

import numpy as np
import numpy.typing as npt
import polars as pl

_FIRST_BITS = 12
_LOAD = 4  # slots per name at the least: most look-ups end at the first slot

_Hashes = npt.NDArray[np.uint64]
_Numbers = npt.NDArray[np.int32]


class Interner:
    """Gives equal strings equal numbers, counted from 0.

    A string is known by two independent 64-bit hashes: one says where in the table to look, the other whether it is the
    same string. Among ten million different strings, two are confused with a probability of three in a million at most.
    """

    def __init__(self) -> None:
        self._names: list[str] = []
        self._places: _Hashes = np.empty(0, np.uint64)  # of each number
        self._checks: _Hashes = np.empty(0, np.uint64)
        self._clear(_FIRST_BITS)

    def __len__(self) -> int:
        return self._checks.size

    @property
    def names(self) -> pl.Series:
        """The strings by number."""
        return pl.Series(self._names, dtype=pl.String)

    def numbers(self, column: pl.Series) -> _Numbers:
        """The number of each string of ``column``; new strings get new numbers."""
        places, checks = column.hash(0).to_numpy(), column.hash(1).to_numpy()
        found = self._find(places, checks)
        new = np.flatnonzero(found < 0)
        if new.size:
            _, first, inverse = np.unique(checks[new], return_index=True, return_inverse=True)
            found[new] = len(self) + inverse
            first = new[first]
            self._names += column.gather(
                first
            ).to_list()  # as Python strings: a column would keep its whole chunk alive
            self._add(places[first], checks[first])
        return found

    def _find(self, places: _Hashes, checks: _Hashes) -> _Numbers:
        """The number of each string, -1 where it is not in the table."""
        slots = self._slots(places)
        numbers = self._table[slots]
        if not len(self):
            return numbers
        todo = np.flatnonzero((numbers >= 0) & (self._checks[numbers] != checks))
        while todo.size:  # somebody else's slot: look at the next one
            slots[todo] = (slots[todo] + 1) & ((1 << self._bits) - 1)
            numbers[todo] = own = self._table[slots[todo]]
            todo = todo[(own >= 0) & (self._checks[own] != checks[todo])]
        return numbers

    def _add(self, places: _Hashes, checks: _Hashes) -> None:
        first = len(self)
        self._places, self._checks = np.append(self._places, places), np.append(self._checks, checks)
        if len(self) * _LOAD > self._table.size:
            first = 0
            self._clear((len(self) * _LOAD * 2).bit_length())
        todo = np.arange(first, len(self), dtype=np.int32)
        slots = self._slots(self._places[todo])
        while todo.size:
            free = self._table[slots] < 0
            self._table[slots[free]] = todo[free]  # where several want one slot, the last one written has it
            lost = self._table[slots] != todo
            todo, slots = todo[lost], (slots[lost] + 1) & ((1 << self._bits) - 1)

    def _clear(self, bits: int) -> None:
        self._bits = bits
        self._table: _Numbers = np.full(1 << bits, -1, np.int32)

    def _slots(self, places: _Hashes) -> npt.NDArray[np.int64]:
        return (places >> np.uint64(64 - self._bits)).astype(np.int64)
