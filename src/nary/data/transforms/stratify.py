"""Choosing facts to set aside so that each relation keeps its share, and train every name.

Facts that must stay together form a unit. Units leave train in random order, relation by relation up to its share, and
only as long as train keeps another unit with each of their names. Literals need no other unit: a model can know them by
their value. Where too few units of a relation can leave, the part shrinks, so that shares hardly differ.
"""

import numpy as np
import numpy.typing as npt

from nary.facts import FactTable
from nary.facts.layout import RELATION
from nary.facts.table import Rows

TOLERANCE = 0.02
"""How much the share of a relation in a part may differ from its share of all facts."""

_ABANDONED = 0.5  # a relation with less than this part of its quota does not shrink the others
_Numbers = npt.NDArray[np.int64]


class Stratifier:
    """Assigns units to parts: 0 is the rest, train; others are numbered from 1.

    ``unit`` [n] is the unit of each fact, numbered in random order; ``literals`` tells by entity id what is a literal.
    """

    def __init__(self, table: FactTable, unit: Rows, literals: npt.NDArray[np.bool_]) -> None:
        self.sizes = np.bincount(unit)
        self.relations = _relation_of_units(table, unit)
        self.part: _Numbers = np.zeros(len(self.sizes), np.int64)
        self._owners, self._names = _names_of_units(table, unit, literals)
        self._counts = np.bincount(self._names)  # units of train with each name
        self._totals = np.bincount(self.relations, self.sizes).astype(np.int64)  # facts of each relation

    def fill(self, number: int, size: int) -> None:
        """Set aside ``size`` facts, or fewer if train needs the others or shares would differ, as part ``number``."""
        quotas = _quotas(self._totals, size)
        filled = self._move(number, quotas)
        if missing := size - filled.sum():  # other relations may have a few more than their share
            others = np.where(filled == quotas, self._totals, 0)
            more = np.minimum(_quotas(others, missing), int(TOLERANCE / 2 * size))
            filled += self._move(number, more)
        self._shrink(number, filled, quotas)

    def shares(self, number: int) -> npt.NDArray[np.float64]:
        """Return the share of each relation in a part."""
        facts = np.bincount(self.relations, self.sizes * (self.part == number), len(self._totals))
        return np.asarray(facts / max(1, facts.sum()))

    @property
    def all_shares(self) -> npt.NDArray[np.float64]:
        """The share of each relation among all facts."""
        return np.asarray(self._totals / self._totals.sum())

    def _move(self, number: int, quotas: _Numbers) -> _Numbers:
        """Move up to ``quotas`` facts of each relation from train to a part, and return how many could be moved."""
        moved = np.zeros(len(quotas), np.int64)
        while len(units := self._next(quotas - moved)):
            leaving = units[self._can_leave(units)]
            self.part[leaving] = number
            moved += np.bincount(self.relations[leaving], self.sizes[leaving], len(moved)).astype(np.int64)
            self._count(leaving, -1)
        return moved

    def _next(self, remaining: _Numbers) -> _Numbers:
        """Return the next units of train that may leave it and fit what remains of their relations, in random order."""
        needed = np.zeros(len(self.sizes), bool)
        needed[self._owners[self._counts[self._names] == 1]] = True
        units = np.flatnonzero((self.part == 0) & ~needed & (self.sizes <= remaining[self.relations]))
        by_relation = units[np.argsort(self.relations[units], kind="stable")]
        relations = self.relations[by_relation]
        total = np.cumsum(self.sizes[by_relation])
        first = np.searchsorted(relations, relations)
        before = total[first] - self.sizes[by_relation][first]
        return np.sort(by_relation[total - before <= remaining[relations]])

    def _can_leave(self, units: _Numbers) -> npt.NDArray[np.bool_]:
        """Tell which of ``units`` can leave train if all before them leave, too; the first one always can."""
        place = np.full(len(self.sizes), -1)
        place[units] = np.arange(len(units))
        mine = place[self._owners] >= 0
        places, names = place[self._owners[mine]], self._names[mine]
        order = np.lexsort((places, names))
        places, names = places[order], names[order]
        earlier = np.arange(len(names)) - np.searchsorted(names, names)  # units before this one with the same name
        can_leave = np.ones(len(units), bool)
        can_leave[places[earlier + 1 >= self._counts[names]]] = False
        return can_leave

    def _shrink(self, number: int, filled: _Numbers, quotas: _Numbers) -> None:
        """Return facts to train until the shares of relations differ by no more than the tolerance."""
        considered = filled >= _ABANDONED * quotas
        if not (filled[considered] < quotas[considered]).any():
            return
        shares = np.where(considered, self._totals, 0) / max(1, self._totals[considered].sum())
        kept = fair_counts(np.where(considered, filled, 0), shares)
        excess = np.where(considered, filled - kept, 0)
        units = np.flatnonzero(self.part == number)[::-1]
        for relation in np.flatnonzero(excess).tolist():
            mine = units[self.relations[units] == relation]
            returned = mine[np.cumsum(self.sizes[mine]) <= excess[relation]]
            self.part[returned] = 0
            self._count(returned, 1)

    def _count(self, units: _Numbers, change: int) -> None:
        chosen = np.zeros(len(self.sizes), bool)
        chosen[units] = True
        self._counts += change * np.bincount(self._names[chosen[self._owners]], minlength=len(self._counts))


def fair_counts(available: _Numbers, shares: npt.NDArray[np.float64]) -> _Numbers:
    """Return the most facts of each relation that keep every share within the tolerance."""
    bound = shares > TOLERANCE
    counts, size = available, int(available.sum())
    while counts.any() and (np.abs(counts / counts.sum() - shares) > TOLERANCE).any():
        size = min(size - 1, int(np.min(counts[bound] / (shares[bound] - TOLERANCE), initial=size)))
        most = np.minimum(available, ((shares + TOLERANCE) * size).astype(np.int64))
        counts = np.minimum(most, (shares * size).astype(np.int64))
        room = most - counts
        counts = counts + (room * min(1.0, (size - counts.sum()) / max(1, room.sum()))).astype(np.int64)
    return counts


def _quotas(totals: _Numbers, size: int) -> _Numbers:
    """Divide ``size`` facts among the relations by their totals, rounding those with the largest remainders up."""
    exact = totals * (size / max(1, totals.sum()))
    quotas: _Numbers = np.floor(exact).astype(np.int64)
    largest = np.argsort(quotas - exact, kind="stable")[: size - quotas.sum()]
    quotas[largest] += 1
    return quotas


def _relation_of_units(table: FactTable, unit: Rows) -> _Numbers:
    relations = np.zeros(int(unit.max(initial=-1)) + 1, np.int64)
    for block in table.blocks:
        relations[unit[block.rows]] = block.ids[:, RELATION]
    return relations


def _names_of_units(table: FactTable, unit: Rows, literals: npt.NDArray[np.bool_]) -> tuple[_Numbers, _Numbers]:
    """Return distinct pairs of a unit and a name in it: an id of an entity that is no literal, or of a relation."""
    width = len(literals) + 1 + max((int(block.relations.max()) for block in table.blocks), default=0)
    keys: list[_Numbers] = []
    for block in table.blocks:
        names = np.concatenate([block.entities, block.relations + np.int64(len(literals))], axis=1)
        exempt = np.zeros(names.shape, bool)
        exempt[:, : block.entities.shape[1]] = literals[block.entities]
        keys.append((unit[block.rows][:, None] * width + names)[~exempt])
    ordered = np.sort(np.concatenate(keys))
    distinct = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    return distinct // width, distinct % width
