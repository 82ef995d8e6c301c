"""Slots, anchors and contexts: how a fact with one masked element is described to the rules.

A *slot* is what an element does in a fact: subject of a relation, object of a relation, value of an attribute of a
relation, and so on; it is written as one integer. For a masked element (the *target*) the known elements are its
*anchors*. A set of anchors has a *head key*, which names the target slot and the slots of the anchors, and a *context
key*, which names their elements as well. Both are sums of hashes, so the order of qualifiers changes nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nary.facts import layout
from nary.facts.fact import Role
from nary.facts.layout import OBJECT, RELATION, SUBJECT
from nary.facts.table import Rows

Keys = npt.NDArray[np.uint64]
ROLES = tuple(Role)
_CODES = {role: code for code, role in enumerate(ROLES)}
_MOST_PAIRED = 6
"""With more known entities than this, only pairs with the subject or the object are contexts."""


class Slot(NamedTuple):
    """A slot in plain words; ``relation`` and ``attribute`` are -1 where they play no part."""

    relation: int
    role: Role
    attribute: int


@dataclass(frozen=True)
class Slots:
    """Slots as integers, for so many relations."""

    num_relations: int

    def code(self, role: Role, relation: Rows | int = -1, attribute: Rows | int = -1) -> Rows:
        """The integer of each slot."""
        width = self.num_relations + 1
        return ((np.asarray(relation, np.int64) + 1) * width + np.asarray(attribute, np.int64) + 1) * 8 + _CODES[role]

    def decode(self, code: int) -> Slot:
        """The slot behind an integer."""
        rest, role = divmod(int(code), 8)
        relation, attribute = divmod(rest, self.num_relations + 1)
        return Slot(relation - 1, ROLES[role], attribute - 1)

    def known(self, ids: Rows, column: int) -> Rows:
        """The slot [n] of an entity column of whole facts ``ids`` [n, 2m+3]."""
        return self.anchor(ids, column, None)

    def target(self, ids: Rows, column: int) -> Rows:
        """The slot [n] of a masked column."""
        m = layout.num_qualifiers(ids.shape[1])
        role = layout.position_at(column, m).role
        if role is Role.RELATION:
            return np.full(len(ids), self.code(role))
        attribute = ids[:, column - m] if role is Role.VALUE else -1
        return self.code(role, ids[:, RELATION], attribute)

    def anchor(self, ids: Rows, column: int, masked: int | None) -> Rows:
        """The slot [n] of a known column, as far as it can be told while column ``masked`` is not known."""
        m = layout.num_qualifiers(ids.shape[1])
        role = layout.position_at(column, m).role
        relation = -1 if masked == RELATION else ids[:, RELATION]
        attribute = ids[:, column - m] if role is Role.VALUE and column - m != masked else -1
        return np.broadcast_to(self.code(role, relation, attribute), len(ids))


class Context(NamedTuple):
    """One set of anchors of n masked facts: their columns, their head keys [n] and context keys [n]."""

    columns: tuple[int, ...]
    heads: Keys
    keys: Keys


def contexts(slots: Slots, ids: Rows, masked: int) -> Iterator[Context]:
    """Every set of anchors of the facts ``ids`` [n, 2m+3] with column ``masked`` hidden."""
    target = slots.target(ids, masked)
    base = mix(target, -1)
    single: dict[int, tuple[Keys, Keys]] = {}
    for columns in anchor_sets(layout.num_qualifiers(ids.shape[1]), masked):
        heads, keys = base, base
        for column in columns:
            if column not in single:
                slot = slots.anchor(ids, column, masked)
                single[column] = mix(slot, -2), mix(slot, ids[:, column])
            heads, keys = heads + single[column][0], keys + single[column][1]
        yield Context(columns, heads, keys)


@cache
def anchor_sets(num_qualifiers: int, masked: int) -> list[tuple[int, ...]]:
    """The sets of columns that serve as contexts: none, each, pairs, all but one, and all known entities.

    A masked relation or attribute has each other attribute, and all of them, as contexts too.
    """
    entities = [column for column in layout.entity_columns(num_qualifiers) if column != masked]
    sets: list[tuple[int, ...]] = [(), *((column,) for column in entities)]
    if masked in layout.relation_columns(num_qualifiers):
        attributes = [column for column in layout.attribute_columns(num_qualifiers) if column != masked]
        sets += [*((column,) for column in attributes), tuple(attributes)]
    few = len(entities) <= _MOST_PAIRED
    sets += [pair for pair in combinations(entities, 2) if few or pair[0] in (SUBJECT, OBJECT)]
    if few:
        sets += combinations(entities, max(len(entities) - 1, 0))
    sets.append(tuple(entities))
    return list(dict.fromkeys(sets))


def single_anchors(num_qualifiers: int, masked: int) -> list[tuple[int, ...]]:
    """The known entity columns, each alone."""
    return [(column,) for column in layout.entity_columns(num_qualifiers) if column != masked]


def linked_anchors(num_qualifiers: int, masked: int) -> list[tuple[int, ...]]:
    """The pairs of known entity columns whose other links tell a masked relation or attribute."""
    if masked not in layout.relation_columns(num_qualifiers):
        return []
    values = layout.value_columns(num_qualifiers)
    return [(SUBJECT, OBJECT), *((first, value) for first in (SUBJECT, OBJECT) for value in values)]


def mix(slot: Rows, element: Rows | int) -> Keys:
    """A hash of each slot and element (splitmix64)."""
    key = np.asarray(slot).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    key = key + np.atleast_1d(np.asarray(element, np.int64) + 3).astype(np.uint64) * np.uint64(0xD1B54A32D192ED03)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))
