"""Small array operations that the rules are counted and looked up with."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def ranges(starts: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """The places ``starts[i], ..., starts[i] + counts[i] - 1`` for all i, and the i of each place."""
    owners = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - counts), counts), owners


class Index(NamedTuple):
    """Rows grouped by a key: ``keys`` are distinct and sorted, those of ``keys[i]`` start at ``starts[i]``."""

    keys: npt.NDArray[np.generic]
    starts: Ints

    @classmethod
    def of(cls, sorted_keys: npt.NDArray[np.generic]) -> "Index":
        """The index of rows that are sorted by key."""
        first = np.flatnonzero(np.concatenate([[True], sorted_keys[1:] != sorted_keys[:-1]])[: len(sorted_keys)])
        return cls(sorted_keys[first], np.append(first, len(sorted_keys)))

    @property
    def counts(self) -> Ints:
        """The number of rows of each key."""
        return np.diff(self.starts)

    def find(self, keys: npt.NDArray[np.generic]) -> Ints:
        """The place of each of ``keys``, or -1."""
        if not len(self.keys):
            return np.full(len(keys), -1)
        places = np.searchsorted(self.keys, keys)
        places[places == len(self.keys)] = 0
        return np.where(self.keys[places] == keys, places, -1)

    def rows(self, keys: npt.NDArray[np.generic]) -> tuple[Ints, Ints]:
        """All rows of each of ``keys``, and which of ``keys`` each belongs to."""
        places = self.find(keys)
        known = np.flatnonzero(places >= 0)
        starts = self.starts[places[known]]
        rows, owners = ranges(starts, self.starts[places[known] + 1] - starts)
        return rows, known[owners]
