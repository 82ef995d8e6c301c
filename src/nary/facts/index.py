"""An index of stored facts: everything that contains a pattern with gaps, at once among a million facts."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nary.facts.containment import PRIMARY, Pattern, answers_of, matching
from nary.facts.table import Block, FactTable, Rows


class Fillings(NamedTuple):
    """What stored facts put into one gap of a pattern: an entry for each fact and way to fill the gap."""

    answers: Rows
    """The id in the gap."""
    places: Rows
    """The place of the fact in its table."""
    extra: Rows
    """How many qualifiers the fact has beyond the pattern."""


class FactIndex:
    """The facts of a table by their elements; what is sorted is sorted when a pattern first needs it."""

    def __init__(self, table: FactTable) -> None:
        self.table = table
        self._starts = np.cumsum([0, *map(len, table.blocks)])  # facts are numbered block after block

    def match(self, pattern: Pattern) -> Iterator[tuple[Block, Rows]]:
        """The matching facts: blocks with the positions of their matching rows, ascending."""
        numbers = self._possible(pattern)
        bounds = np.searchsorted(numbers, self._starts).tolist()
        for i, block in enumerate(self.table.blocks):
            if block.qualifiers >= len(pattern.qualifiers) and bounds[i] < bounds[i + 1]:
                rows = matching(block, numbers[bounds[i] : bounds[i + 1]] - self._starts[i], pattern)
                if len(rows):
                    yield block, rows

    def count(self, pattern: Pattern) -> int:
        """The number of matching facts."""
        return sum(len(rows) for _, rows in self.match(pattern))

    def places(self, pattern: Pattern) -> Rows:
        """The places of the matching facts in the table, ascending."""
        return np.sort(np.concatenate([np.empty(0, np.int64), *(b.rows[rows] for b, rows in self.match(pattern))]))

    def fillings(self, pattern: Pattern, column: int) -> Fillings:
        """What the matching facts have in the gap at ``column`` of the pattern's row [2m+3]."""
        parts = [np.empty((3, 0), np.int64)]
        for block, rows in self.match(pattern):
            for answers, at in answers_of(block, rows, pattern, column):
                extra = block.qualifiers - len(pattern.qualifiers)
                parts.append(np.stack(np.broadcast_arrays(answers, block.rows[at], extra)))
        return Fillings(*np.concatenate(parts, axis=1))

    def mentioning(self, entity: int) -> Iterator[tuple[Block, Rows]]:
        """The facts that mention an entity: blocks with the positions of their rows, ascending."""
        numbers = np.unique(self._mentions.with_key(entity))
        bounds = np.searchsorted(numbers, self._starts).tolist()
        for i, block in enumerate(self.table.blocks):
            if bounds[i] < bounds[i + 1]:
                yield block, numbers[bounds[i] : bounds[i + 1]] - self._starts[i]

    def mentions(self, entity: int) -> Rows:
        """The places of the facts that mention an entity, ascending."""
        parts = [block.rows[rows] for block, rows in self.mentioning(entity)]
        return np.sort(np.concatenate([np.empty(0, np.int64), *parts]))

    def row(self, place: int) -> list[int]:
        """The ids of the fact at a place of the table."""
        for block in self.table.blocks:
            at = int(np.searchsorted(block.rows, place))
            if at < len(block) and block.rows[at] == place:
                return list(block.ids[at].tolist())
        raise IndexError(f"there is no fact at {place}")

    def _possible(self, pattern: Pattern) -> Rows:
        """The numbers of the facts that have the rarest element of the pattern, ascending."""
        known = [(column, pattern.element(column)) for column in PRIMARY]
        postings = [self._primary[column].with_key(key) for column, key in known if key is not None]
        postings += [
            self._pairs.with_key((a << 32) | v) for a, v in pattern.qualifiers if a is not None and v is not None
        ]
        return np.unique(min(postings, key=len)) if postings else np.arange(len(self.table))

    @cached_property
    def _primary(self) -> "dict[int, _Posting]":
        return {column: self._posting([block.ids[:, [column]] for block in self.table.blocks]) for column in PRIMARY}

    @cached_property
    def _pairs(self) -> "_Posting":
        """Facts by (attribute, value)."""
        return self._posting([(b.attributes.astype(np.int64) << 32) | b.values for b in self.table.blocks])

    @cached_property
    def _mentions(self) -> "_Posting":
        return self._posting([block.entities for block in self.table.blocks])

    def _posting(self, keys: Sequence[npt.NDArray[np.integer]]) -> "_Posting":
        """A posting of all facts by the ``keys`` [n, w] that each block has."""
        numbers = [np.repeat(np.arange(s, s + len(k)), k.shape[1]) for s, k in zip(self._starts, keys, strict=False)]
        empty = np.empty(0, np.int64)
        return _Posting(np.concatenate([empty, *(k.ravel() for k in keys)]), np.concatenate([empty, *numbers]))


class _Posting:
    """The numbers of the facts with each key."""

    def __init__(self, keys: Rows, numbers: Rows) -> None:
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        self._numbers = numbers[order]

    def with_key(self, key: int) -> Rows:
        """The facts with ``key``, ascending, perhaps more than once each."""
        first, last = np.searchsorted(self._keys, [key, key + 1])
        return self._numbers[first:last]
