"""How far the values that a model expects are off, beside the median of the training facts, which needs no model."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nary.evaluation.values import ValueRanges
from nary.facts.scales import Numbers
from nary.facts.table import Ids, Rows
from nary.workers import ALONE, Workers

ALL_SLOTS = "all"
"""The group of all slots, whose errors are in units of the spread of each."""
_MOST_SLOTS = 20
_NUM_COLUMNS = 7  # of Guesses

ValueMetrics = Mapping[str, Mapping[str, float]]
"""Slot -> metric -> value."""


@dataclass(frozen=True, eq=False)
class Guesses:
    """What literals are, and what was expected instead: one entry per query in each array [n]."""

    slot: Numbers
    truth: Numbers
    low: Numbers
    median: Numbers
    high: Numbers
    usual: Numbers
    """The median of the training facts in the slot."""
    spread: Numbers
    """The mean distance of the training facts from that."""

    def __len__(self) -> int:
        return len(self.slot)


class Guesser:
    """Collects the guesses of queries, a part of them at a time."""

    def __init__(self, ranges: ValueRanges) -> None:
        self._ranges = ranges
        self._parts = [np.empty((_NUM_COLUMNS, 0))]

    def add(self, ids: Ids, column: int, scores: npt.NDArray[np.floating], rows: Rows) -> None:
        """Guess the answers of queries that mask ``column`` of ``ids`` [n, 2m+3], with the rows of ``scores`` [k, E].

        Left out are answers that are not on the scale of their slot.
        """
        ranges, answers = self._ranges, ids[:, column]
        slots, scales = ranges.slots(ids, column), ranges.scales[answers]
        for slot in np.unique(slots[scales >= 0]).tolist():
            if (range_ := ranges.of(slot)) is not None:
                chosen = np.flatnonzero((slots == slot) & (scales == range_.scale))
                quantiles = range_.values[range_.quantiles(scores[rows[chosen, None], range_.ids])].T
                truth, of_slot = ranges.values[answers[chosen]], (range_.median, range_.spread)
                self._parts.append(np.stack(np.broadcast_arrays(slot, truth, *quantiles, *of_slot)))

    def guesses(self, workers: Workers = ALONE) -> Guesses:
        """All of them, by slot; those of all ``workers``."""
        columns = workers.concatenate_columns(np.concatenate(self._parts, axis=1))
        return Guesses(*columns[:, np.lexsort(columns[::-1])])  # sums do not depend on who guessed what


def measure_guesses(guesses: Guesses, ranges: ValueRanges) -> ValueMetrics:
    """The errors in the most frequent slots, and those of all in units of the spread.

    ``mae`` and ``median_error`` are of the median, ``usual_mae`` is that of the baseline; ``in_interval`` is the share
    of values in the interval.
    """
    slots, counts = np.unique(guesses.slot, return_counts=True)
    error, usual_error = np.abs(guesses.median - guesses.truth), np.abs(guesses.usual - guesses.truth)
    inside = (guesses.low <= guesses.truth) & (guesses.truth <= guesses.high)

    def figures(chosen: npt.NDArray[np.bool_], unit: Numbers | float) -> dict[str, float]:
        one, usual = (error / unit)[chosen], (usual_error / unit)[chosen]
        return {
            "mae": float(one.mean()),
            "median_error": float(np.median(one)),
            "usual_mae": float(usual.mean()),
            "in_interval": float(inside[chosen].mean()),
            "count": int(chosen.sum()),
        }

    varies = guesses.spread > 0
    metrics = {ALL_SLOTS: figures(varies, np.where(varies, guesses.spread, 1.0))} if varies.any() else {}
    for slot in slots[np.argsort(-counts, kind="stable")[:_MOST_SLOTS]].tolist():
        metrics[ranges.name(int(slot))] = figures(guesses.slot == slot, 1.0)
    return metrics
