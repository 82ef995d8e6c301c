"""Patterns of facts with gaps, and which facts contain them.

A fact matches a pattern by containment: the known elements of the pattern's primary triple are equal, and each
qualifier of the pattern is matched by a qualifier of its own in the fact. The fact may have further qualifiers.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nary.facts import layout
from nary.facts.fact import GAP, Element, Fact, Query
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT
from nary.facts.table import Block, Ids, Rows
from nary.facts.vocabulary import Vocabulary

Pair = tuple[int | None, int | None]
"""An attribute and a value; None for a gap."""
PRIMARY = (SUBJECT, OBJECT, RELATION)
_Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Pattern:
    """The ids of a fact with None for every gap; ``qualifiers`` are (attribute, value) pairs."""

    relation: int | None
    subject: int | None
    object: int | None
    qualifiers: tuple[Pair, ...] = ()

    @classmethod
    def encode(cls, statement: Fact | Query, vocabulary: Vocabulary) -> "Pattern":
        """The pattern of a fact or query; an unknown name is an error that lists the nearest ones."""

        def entity(element: Element) -> int | None:
            return None if element is GAP else vocabulary.entity(str(element))

        def relation(element: Element) -> int | None:
            return None if element is GAP else vocabulary.relation(str(element))

        pairs = tuple((relation(attribute), entity(value)) for attribute, value in statement.qualifiers)
        return cls(relation(statement.relation), entity(statement.subject), entity(statement.object), pairs)

    @classmethod
    def of_row(cls, ids: Sequence[int], gaps: Collection[int] = ()) -> "Pattern":
        """The pattern of an id row [2m+3] with gaps in some columns."""
        elements = [None if column in gaps else i for column, i in enumerate(ids)]
        m = layout.num_qualifiers(len(elements))
        attributes, values = elements[FIRST_ATTRIBUTE : layout.first_value(m)], elements[layout.first_value(m) :]
        return cls(elements[RELATION], elements[SUBJECT], elements[OBJECT], tuple(zip(attributes, values, strict=True)))

    def element(self, column: int) -> int | None:
        """The id in a column of the primary triple."""
        return (self.relation, self.subject, self.object)[column]


def matching(block: Block, rows: Rows, pattern: Pattern) -> Rows:
    """Those of ``rows`` of a block whose facts match."""
    matches = np.ones(len(rows), bool)
    for column in PRIMARY:
        if (key := pattern.element(column)) is not None:
            matches &= block.ids[rows, column] == key
    rows = rows[matches]
    return rows[_contain(block.attributes[rows], block.values[rows], pattern.qualifiers)]


def answers_of(block: Block, rows: Rows, pattern: Pattern, column: int) -> Iterator[tuple[Rows, Rows]]:
    """What the facts in ``rows``, which match, have in the gap, and the rows it is in; a part at a time."""
    if column < FIRST_ATTRIBUTE:
        yield block.ids[rows, column], rows
        return
    m = len(pattern.qualifiers)
    asks_value = column >= layout.first_value(m)
    asked = column - (layout.first_value(m) if asks_value else FIRST_ATTRIBUTE)
    given = pattern.qualifiers[asked][0 if asks_value else 1]
    others = pattern.qualifiers[:asked] + pattern.qualifiers[asked + 1 :]
    attributes, values = block.attributes[rows], block.values[rows]
    partners, answers = (attributes, values) if asks_value else (values, attributes)
    for place in range(block.qualifiers):  # the gap takes this qualifier, the others take theirs among the rest
        rest = [np.delete(part, place, axis=1) for part in (attributes, values)]
        fits = _contain(rest[0], rest[1], others)
        if given is not None:
            fits &= partners[:, place] == given
        yield answers[fits, place], rows[fits]


def _contain(attributes: Ids, values: Ids, pairs: Sequence[Pair]) -> _Flags:
    """Whether each fact, with its ``attributes`` and ``values`` [n, m], has a qualifier of its own for each pair."""
    if not pairs:
        return np.ones(len(attributes), bool)
    fits = [
        (np.ones(attributes.shape, bool) if attribute is None else attributes == attribute)
        & (np.ones(values.shape, bool) if value is None else values == value)
        for attribute, value in pairs
    ]
    contained: _Flags = np.logical_and.reduce([fit.any(axis=1) for fit in fits])
    if len(pairs) > 1 and (len(set(pairs)) < len(pairs) or any(None in pair for pair in pairs)):
        contained &= _assigned(np.stack(fits, axis=1)[:, np.argsort([pair.count(None) for pair in pairs])])
    return contained


def _assigned(fits: _Flags) -> _Flags:
    """Whether each fact has a qualifier of its own for every pair that it ``fits`` [n, pairs, m], strictest first."""
    free = np.ones((len(fits), fits.shape[2]), bool)
    assigned = np.ones(len(fits), bool)
    for pair in range(fits.shape[1]):  # the first qualifier that fits and is free nearly always does
        usable = fits[:, pair] & free
        assigned &= usable.any(axis=1)
        free[np.arange(len(fits)), usable.argmax(axis=1)] = False
    possible = np.logical_and.reduce(fits.any(axis=2), axis=1)
    for place in np.flatnonzero(possible & ~assigned):
        assigned[place] = _assignable(fits[place])
    return assigned


def _assignable(fits: _Flags) -> bool:
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
