"""The rules by which two queries count as the same, so that the answer of one is a known answer to the other.

A rule gives each query a *context*, a row of ids, within a *space*: queries are the same if they have the same space
and the same context.
"""

from collections.abc import Hashable

import numpy as np

from nary.evaluation.protocol import FilterRule
from nary.facts import Role
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT
from nary.facts.table import Ids


class Slots:
    """The gap is in the same column, and all other columns are equal."""

    def space(self, qualifiers: int, column: int) -> Hashable:
        """What must be equal before contexts may be compared."""
        return qualifiers, column

    def contexts(self, ids: Ids, column: int) -> Ids:
        """The context [n, w] of each row of ``ids`` [n, 2m+3] with a gap at ``column``."""
        return np.delete(ids, column, axis=1)


class OrderFree(Slots):
    """As slots, but a gap in a qualifier may be in any qualifier: its partner and the other qualifiers are equal."""

    def space(self, qualifiers: int, column: int) -> Hashable:
        """A gap in any attribute is like one in any other; the same for values."""
        if column <= OBJECT:
            return super().space(qualifiers, column)
        return qualifiers, Role.ATTRIBUTE if column < FIRST_ATTRIBUTE + qualifiers else Role.VALUE

    def contexts(self, ids: Ids, column: int) -> Ids:
        """The partner of the gap, then all but the qualifier with the gap; the others stay sorted without it."""
        if column <= OBJECT:
            return super().contexts(ids, column)
        qualifiers = (ids.shape[1] - FIRST_ATTRIBUTE) // 2
        is_value = column >= FIRST_ATTRIBUTE + qualifiers
        partner = column - qualifiers if is_value else column + qualifiers
        return np.concatenate([ids[:, [partner]], np.delete(ids, [column, partner], axis=1)], axis=1)


class Primary(Slots):
    """As slots, but for a gap in the primary triple only its other two elements count, whatever the arity."""

    def space(self, qualifiers: int, column: int) -> Hashable:
        """Primary triples are compared across arities."""
        return column if column <= OBJECT else super().space(qualifiers, column)

    def contexts(self, ids: Ids, column: int) -> Ids:
        """The rest of the primary triple."""
        return super().contexts(ids[:, :FIRST_ATTRIBUTE] if column <= OBJECT else ids, column)


RULES: dict[FilterRule, Slots | None] = {
    "slots": Slots(),
    "order-free": OrderFree(),
    "primary": Primary(),
    "none": None,
}
"""Every rule by its name in the protocol; none makes nothing known."""
