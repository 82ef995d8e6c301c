"""How well an element fits compared with those of true facts in the same slot.

Models are surer in some slots than in others: the prize of a physicist is easy, the year of birth is not. So the same
probability speaks against a fact in one slot and says nothing in another. The percentile of an element is the share of
held-out true facts that fit no better in its slot.
"""

import numpy as np

from nary.facts.table import Rows
from nary.inference.evidence import Floats, Measured, smallest
from nary.inference.slots import Slots

NUM_PERCENTILES = 6
"""How many features a fact has: one for each role and one for the whole fact."""
_DECIMALS = 3
"""Of what is compared. Scores differ in the last digits from batch to batch, and equal elements must stay equal."""
_PRIOR = 5.0
"""How many facts the percentile among all slots of the same role counts."""


class Percentiles:
    """The percentiles of elements among those of ``reference``, measured true facts."""

    def __init__(self, slots: Slots, reference: list[Measured]) -> None:
        self._slots = slots
        numbers = np.concatenate([slots.of(one.block.ids).ravel() for one in reference])
        values = np.concatenate([one.log_lift.ravel() for one in reference])
        kept = ~np.isnan(values)
        self._in_slot = _Groups(numbers[kept], values[kept])
        self._in_role = _Groups(slots.roles(numbers[kept]), values[kept])

    def features(self, measured: Measured, in_reference: bool = False) -> Floats:
        """The logarithm of the smallest percentile for each role and for the whole fact [n, 6].

        Facts ``in_reference`` do not count for themselves.
        """
        numbers = self._slots.of(measured.block.ids)
        count, total = self._in_role.count(self._slots.roles(numbers), measured.log_lift, in_reference)
        of_role = (count + 1) / (total + 1)
        count, total = self._in_slot.count(numbers, measured.log_lift, in_reference)
        percentile = (count + _PRIOR * of_role) / (total + _PRIOR)
        return smallest(np.where(np.isnan(measured.log_lift), np.nan, np.log(percentile)), measured.block.qualifiers)


class _Groups:
    """Sorted values in groups."""

    def __init__(self, groups: Rows, values: Floats) -> None:
        self._values = np.sort(np.round(values, _DECIMALS))
        self._keys = np.sort(self._key(groups, values))

    def count(self, groups: Rows, values: Floats, without_itself: bool) -> tuple[Rows, Rows]:
        """How many values of its group are no greater than each value, and how many there are."""
        span = len(self._values) + 1
        first, last = (np.searchsorted(self._keys, (groups + offset) * span) for offset in (0, 1))
        no_greater = np.searchsorted(self._keys, self._key(groups, values), "right")
        return np.maximum(no_greater - first - without_itself, 0), np.maximum(last - first - without_itself, 0)

    def _key(self, groups: Rows, values: Floats) -> Rows:
        """A number that sorts by group, then by value."""
        return groups * (len(self._values) + 1) + np.searchsorted(self._values, np.round(values, _DECIMALS), "right")
