"""The best candidates for a query, from scores of a slice of the candidates at a time.

Candidates with the same score are in the order of their ids, so that slices change nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nary.facts.table import Rows

_NONE = np.empty(0, np.int64)


class Wanted(NamedTuple):
    """What is wanted to know about the candidates for one query. Ids are ascending."""

    k: int
    """How many of the best."""
    left_out: Rows = _NONE
    """The ids of candidates that are not among these."""
    scored: Rows = _NONE
    """The ids of candidates whose scores are wanted, however low."""


class Best(NamedTuple):
    """The best candidates for one query."""

    ids: Tensor
    """[k], the best first."""
    scores: Tensor
    """[k]"""
    scored: tuple[Rows, Tensor]
    """The ids of other candidates whose scores are wanted, and these scores."""
    temperature: float
    log_total: float
    """The logarithm of the summed exponentials of all scores divided by the temperature."""

    def scores_of(self, ids: Rows) -> Tensor:
        """The scores of candidates that are wanted."""
        return self.scored[1][np.searchsorted(self.scored[0], ids)]

    def log_probabilities(self, scores: Tensor) -> Tensor:
        """The logarithms of the probabilities of candidates with these scores."""
        return scores / self.temperature - self.log_total


class BestCandidates:
    """Collects the best candidates for several queries, whose scores are the ``rows`` of what is added."""

    def __init__(self, wanted: Sequence[Wanted], rows: Sequence[int], temperature: float) -> None:
        self._queries = [_Collector(one) for one in wanted]
        self._rows = rows
        self._temperature = temperature
        self._log_totals = torch.tensor(-torch.inf)
        self._start = 0

    def add(self, scores: Tensor) -> None:
        """Take the scores [n, c] of the candidates that come after those of the last call."""
        self._log_totals = torch.logaddexp(self._log_totals, (scores / self._temperature).logsumexp(1))
        for query, row in zip(self._queries, self._rows, strict=True):
            query.add(scores[row], self._start)
        self._start += scores.shape[1]

    def results(self) -> list[Best]:
        """What is wanted, for each query."""
        log_totals = self._log_totals[self._rows].tolist()
        pairs = zip(self._queries, log_totals, strict=True)
        return [Best(*query.result(), self._temperature, log_total) for query, log_total in pairs]


class _Collector:
    """Collects for one query."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._ids = torch.empty(0, dtype=torch.int64)
        self._scores = torch.empty(0)
        self._scored: list[Tensor] = []

    def add(self, scores: Tensor, start: int) -> None:
        """Take the scores [c] of the candidates from ``start`` on."""
        k, left_out, scored = self._wanted
        if len(scored):
            self._scored.append(scores[_within(scored, start, len(scores))])
        if not k or (len(self._ids) == k and scores.max() <= self._scores[-1]):
            return
        others = _within(left_out, start, len(scores)) if len(left_out) else torch.from_numpy(left_out)
        places = highest(scores, k + len(others))
        if len(others):
            places = places[torch.isin(places, others, invert=True)][:k]
        self._ids = torch.cat([self._ids, places + start])
        self._scores = torch.cat([self._scores.to(scores), scores[places]])
        if start:
            order = self._scores.sort(descending=True, stable=True).indices[:k]
            self._ids, self._scores = self._ids[order], self._scores[order]

    def result(self) -> tuple[Tensor, Tensor, tuple[Rows, Tensor]]:
        """The first fields of :class:`Best`."""
        return self._ids, self._scores, (self._wanted.scored, torch.cat([torch.empty(0), *self._scored]))


def highest(scores: Tensor, k: int) -> Tensor:
    """The places of the ``k`` highest of ``scores`` [n], or of all if they are fewer; equal ones in their order."""
    top = scores.topk(min(k + 1, len(scores)))
    if (top.values[1:] < top.values[:-1]).all():
        return top.indices[:k]
    lowest = top.values[:k][-1]  # of the chosen ones; there may be very many like it
    higher, equal = (scores > lowest).nonzero()[:, 0], (scores == lowest).nonzero()[:, 0]
    higher = higher[scores[higher].sort(descending=True, stable=True).indices]
    return torch.cat([higher, equal[: k - len(higher)]])


def _within(ids: Rows, start: int, size: int) -> Tensor:
    """Those of the ids that are among ``size`` candidates from ``start`` on, counted from there."""
    first, last = np.searchsorted(ids, [start, start + size])
    return torch.from_numpy(ids[first:last] - start)
