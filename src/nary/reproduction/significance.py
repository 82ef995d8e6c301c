"""Whether one model ranks better than another: a paired bootstrap over the ranked facts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from nary.errors import SettingError
from nary.evaluation.metrics import GROUPS
from nary.evaluation.ranks import ALL_GIVEN, ROLES, Ranks
from nary.facts.table import Rows

RESAMPLES = 2000
_CHUNK = 1 << 22  # random numbers at a time
_SEED = 0
_COLUMN_BITS = 20
LEVEL = 0.95
"""The share of resamples within the interval."""


@dataclass(frozen=True)
class Difference:
    """The difference of two MRRs with its interval; significant if that excludes 0."""

    mean: float
    low: float
    high: float

    @property
    def significant(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0


def paired_bootstrap(first: Sequence[Ranks], second: Sequence[Ranks], group: str = "entity") -> Difference:
    """The MRR of ``first`` less that of ``second`` on the queries that all have ranked, each averaged over its runs.

    Facts are drawn with replacement, each with all its queries, since queries of one fact are not independent.
    """
    keys = [_keys(ranks)[_chosen(ranks, group)] for ranks in (*first, *second)]
    shared = reduce(np.intersect1d, keys)
    if not shared.size:
        raise SettingError("the runs have ranked different queries", "Compare runs on the same facts and protocol.")
    ours, theirs = (np.mean([_reciprocal(ranks, shared) for ranks in side], axis=0) for side in (first, second))
    _, fact = np.unique(shared >> _COLUMN_BITS, return_inverse=True)
    sums = np.bincount(fact, ours - theirs).astype(np.float64)
    counts = np.bincount(fact).astype(np.float64)
    means = _resampled_means(sums, counts)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Difference(float(sums.sum() / counts.sum()), float(low), float(high))


def _keys(ranks: Ranks) -> Rows:
    """A number for each query: its fact and the masked column."""
    return (ranks.row << _COLUMN_BITS) | ranks.column


def _reciprocal(ranks: Ranks, shared: Rows) -> npt.NDArray[np.float64]:
    """1 / rank of the queries with the keys ``shared``; of a curve, where all qualifiers are given."""
    whole = ranks.given == (ALL_GIVEN if ranks.is_curve else ranks.given)
    keys = _keys(ranks)[whole]  # ascending, like the ranks
    return 1 / ranks.rank()[whole][np.searchsorted(keys, shared)]


def _chosen(ranks: Ranks, group: str) -> npt.NDArray[np.bool_]:
    """The queries of the group; of a curve those that give all qualifiers."""
    whole = ranks.given == (ALL_GIVEN if ranks.is_curve else ranks.given)
    return whole & np.isin(ranks.role, [ROLES.index(role) for role in GROUPS[group]])


def _resampled_means(sums: npt.NDArray[np.float64], counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    generator = np.random.default_rng(_SEED)
    means: list[float] = []
    at_once = max(1, _CHUNK // len(sums))
    while len(means) < RESAMPLES:
        drawn = generator.integers(len(sums), size=(min(at_once, RESAMPLES - len(means)), len(sums)))
        means += (sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)).tolist()
    return np.array(means)
