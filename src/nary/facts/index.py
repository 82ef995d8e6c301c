"""An index of stored facts: everything that matches a pattern with gaps, at once among a million facts.

A fact matches a pattern by containment: the known elements of the pattern's primary triple are equal, and each
qualifier of the pattern is matched by a qualifier of its own in the fact. The fact may have further qualifiers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nary.facts.fact import GAP, Element, Fact, Query
from nary.facts.layout import OBJECT, RELATION, SUBJECT
from nary.facts.table import Block, FactTable, Ids, Rows
from nary.facts.vocabulary import Vocabulary


@dataclass(frozen=True)
class Pattern:
    """The ids of a fact with None for every gap; ``qualifiers`` are (attribute, value) pairs."""

    relation: int | None
    subject: int | None
    object: int | None
    qualifiers: tuple[tuple[int | None, int | None], ...] = ()

    @classmethod
    def encode(cls, statement: Fact | Query, vocabulary: Vocabulary) -> "Pattern":
        """The pattern of a fact or query; an unknown name is an error that lists the nearest ones."""

        def entity(element: Element) -> int | None:
            return None if element is GAP else vocabulary.entity(str(element))

        def relation(element: Element) -> int | None:
            return None if element is GAP else vocabulary.relation(str(element))

        pairs = tuple((relation(attribute), entity(value)) for attribute, value in statement.qualifiers)
        return cls(relation(statement.relation), entity(statement.subject), entity(statement.object), pairs)


class FactIndex:
    """The facts of a table by their elements; sorted columns are built when a pattern first needs them."""

    def __init__(self, table: FactTable) -> None:
        self.table = table
        self._blocks = [_BlockIndex(block) for block in table.blocks]

    def match(self, pattern: Pattern) -> Iterator[tuple[Block, Rows]]:
        """The matching facts: blocks with the positions of their matching rows, ascending."""
        for index in self._blocks:
            if index.block.qualifiers >= len(pattern.qualifiers):
                rows = index.match(pattern)
                if len(rows):
                    yield index.block, rows

    def count(self, pattern: Pattern) -> int:
        """The number of matching facts."""
        return sum(len(rows) for _, rows in self.match(pattern))


class _BlockIndex:
    """The facts of one arity, in the order of each kind of element."""

    def __init__(self, block: Block) -> None:
        self.block = block

    def match(self, pattern: Pattern) -> Rows:
        primary = ((SUBJECT, pattern.subject), (OBJECT, pattern.object), (RELATION, pattern.relation))
        postings = [self._primary[column].with_key(key) for column, key in primary if key is not None]
        postings += [self._pairs.with_key(_pair_key(*pair)) for pair in pattern.qualifiers if None not in pair]
        rows = np.unique(min(postings, key=len)) if postings else np.arange(len(self.block))
        ids = self.block.ids[rows]
        matches = np.ones(len(rows), bool)
        for column, key in primary:
            if key is not None:
                matches &= ids[:, column] == key
        rows = rows[matches]
        if pattern.qualifiers:
            rows = rows[self._contain(rows, pattern.qualifiers)]
        return rows

    def _contain(self, rows: Rows, pairs: Sequence[tuple[int | None, int | None]]) -> npt.NDArray[np.bool_]:
        """Whether the fact in each row has a qualifier of its own for each of ``pairs``."""
        attributes, values = self.block.attributes[rows], self.block.values[rows]  # [n, m]
        fits = [
            (np.ones(attributes.shape, bool) if attribute is None else attributes == attribute)
            & (np.ones(values.shape, bool) if value is None else values == value)
            for attribute, value in pairs
        ]
        contained: npt.NDArray[np.bool_] = np.logical_and.reduce([fit.any(axis=1) for fit in fits])
        alike = len(set(pairs)) < len(pairs) or any(None in pair for pair in pairs)
        if len(pairs) > 1 and alike:  # each needs a qualifier of its own
            together = np.stack(fits, axis=1)  # [n, pairs, m]
            for place in np.flatnonzero(contained):
                contained[place] = _assignable(together[place])
        return contained

    @cached_property
    def _primary(self) -> "dict[int, _Posting]":
        return {column: _Posting(self.block.ids[:, column].astype(np.int64)) for column in (RELATION, SUBJECT, OBJECT)}

    @cached_property
    def _pairs(self) -> "_Posting":
        """Rows by (attribute, value)."""
        keys = (self.block.attributes.astype(np.int64) << 32) | self.block.values
        return _Posting(keys.ravel(), self.block.qualifiers)


class _Posting:
    """The rows with each key; row i has the keys ``keys[i * width : (i + 1) * width]``."""

    def __init__(self, keys: Ids | Rows, width: int = 1) -> None:
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        self._rows = order // max(1, width)

    def with_key(self, key: int) -> Rows:
        """The rows with ``key``, perhaps more than once each."""
        first, last = np.searchsorted(self._keys, [key, key + 1])
        return self._rows[first:last]


def _pair_key(attribute: int | None, value: int | None) -> int:
    return (int(attribute or 0) << 32) | int(value or 0)


def _assignable(fits: npt.NDArray[np.bool_]) -> bool:
    """Whether each row of ``fits`` [pairs, m] can have a column of its own in which it is true."""
    taken: dict[int, int] = {}

    def place(pair: int, tried: set[int]) -> bool:
        for column in np.flatnonzero(fits[pair]).tolist():
            if column not in tried:
                tried.add(column)
                if column not in taken or place(taken[column], tried):
                    taken[column] = pair
                    return True
        return False

    return all(place(pair, set()) for pair in range(len(fits)))
