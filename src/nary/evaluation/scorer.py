"""Scoring queries with a model: each distinct query once, in chunks under a memory budget.

A chunk is some of the queries, a slice some of the candidates.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nary.errors import NaryError
from nary.evaluation.queries import EncodedQuery, MaskedBlock, make_batch
from nary.facts.table import Rows
from nary.models.base import Kind, Model
from nary.models.batch import Batch, Group
from nary.workers import ALONE, Workers

_FIRST_CHUNK = 8
_MAX_CHUNK = 256  # more queries at once are slower: what a layer computes for them no longer fits the caches
SLICE = 1 << 16
"""How many candidates :meth:`QueryScorer.score_slices` scores at a time: a table that is smaller has one slice."""


class ScoreError(NaryError):
    """A model gives scores that cannot be compared."""

    kind = "score"
    exit_code = 1


class QueryScores(NamedTuple):
    """The scores of all candidates for some of the queries given to a scorer, on the CPU."""

    kind: Kind
    scores: Tensor
    """[k, C], a row for each distinct query."""
    places: Rows
    """[q], the indices of the queries these scores are for."""
    rows: Rows
    """[q], the row of ``scores`` for each of them, ascending."""

    @property
    def distinct(self) -> Rows:
        """[k], for each row of ``scores`` the index of a query it is for."""
        return self.places[np.searchsorted(self.rows, np.arange(len(self.scores)))]


class SlicedScores(NamedTuple):
    """The same as :class:`QueryScores`, a slice of the candidates at a time."""

    kind: Kind
    slices: Iterator[Tensor]
    """The scores [k, c] of the first candidates, of those after them, ..."""
    places: Rows
    rows: Rows


class QueryScorer:
    """Scores queries with a model, holding at most ``memory`` bytes of scores at a time, though at least a row or two.

    The model may be on any device and may be moved later. ``num_candidates`` is how many candidates of each kind there
    are; without it the scorer learns that from a small first chunk. Of several ``workers`` each scores some of the
    chunks of a block: the same chunks that one would score, so that scores are the same. ``slice_size`` is the
    number of candidates of a slice.
    """

    def __init__(
        self,
        model: Model,
        memory: int = 1 << 27,
        max_chunk: int = _MAX_CHUNK,
        num_candidates: Mapping[Kind, int] | None = None,
        workers: Workers = ALONE,
        slice_size: int = SLICE,
    ) -> None:
        self.model = model
        self.slice_size = slice_size
        self.workers = workers
        self._number = count()
        self._memory = memory
        self._max_chunk = max_chunk
        self._row_bytes: dict[Kind, int] = {kind: 4 * count for kind, count in (num_candidates or {}).items()}

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        tensor = next(chain(self.model.parameters(), self.model.buffers()), None)
        return torch.device("cpu") if tensor is None else tensor.device

    def score(self, queries: Sequence[EncodedQuery]) -> Iterator[QueryScores]:
        """Score all candidates for queries of any arity and kind, in as few calls of the model as memory allows."""
        for kind, places_of in _places(queries).items():
            distinct = list(places_of)
            for chunk in self._chunks(kind, len(distinct)):
                with torch.inference_mode():
                    scores = self._score(make_batch(distinct[chunk]), kind)
                yield QueryScores(kind, scores, *_pairs(distinct[chunk], places_of))

    def score_slices(self, queries: Sequence[EncodedQuery]) -> Iterator[SlicedScores]:
        """Like :meth:`score`, with scores of a slice of the candidates at a time.

        The scores of all candidates are held only if the model has no query vectors. A large table is read once for a
        chunk of queries, not for every few.
        """
        for kind, places_of in _places(queries).items():
            distinct, size = list(places_of), self.slice_size if self.model.has_query_vectors else None
            for chunk in self._chunks(kind, len(distinct), size):
                slices = self._score_slices(make_batch(distinct[chunk]), kind)
                yield SlicedScores(kind, slices, *_pairs(distinct[chunk], places_of))

    def score_block(self, masked: MaskedBlock) -> Iterator[QueryScores]:
        """Score all candidates for the queries of a block, or for those of this worker."""
        numbers = masked.number_queries()
        order = np.argsort(numbers, kind="stable")
        numbers = numbers[order]
        firsts = np.searchsorted(numbers, np.arange(numbers[-1] + 2))  # where in the order each distinct query starts
        for chunk in self._chunks(masked.kind, len(firsts) - 1):
            takes, is_first = self.workers.takes(next(self._number)), masked.kind not in self._row_bytes
            if not takes and not is_first:  # from the first chunk all workers learn how large the others are
                continue
            ids = masked.ids[order[firsts[chunk]]].astype(np.int64)
            with torch.inference_mode():
                partial = None if masked.shortened is None else torch.ones(len(ids), dtype=torch.bool)
                group = Group(torch.from_numpy(ids), torch.full((len(ids),), masked.column), partial=partial)
                scores = self._score(Batch([group]), masked.kind)
            if not takes:
                continue
            part = slice(firsts[chunk.start], firsts[chunk.stop])
            yield QueryScores(masked.kind, scores, order[part], numbers[part] - chunk.start)

    def encode(self, queries: Sequence[EncodedQuery]) -> Tensor:
        """The query vectors [n, d]; a model without them raises NotImplementedError."""
        places = sorted(range(len(queries)), key=lambda place: len(queries[place].ids))
        parts = []
        with torch.inference_mode():
            for start in range(0, len(places), self._max_chunk):
                chunk = [queries[place] for place in places[start : start + self._max_chunk]]
                parts.append(self.model.encode(make_batch(chunk).to(self.device)).float().cpu())
        return torch.cat(parts)[torch.tensor(places).argsort()]

    def _chunks(self, kind: Kind, total: int, slice_size: int | None = None) -> Iterator[slice]:
        """Chunks of ``total`` queries, whose scores of all candidates, or of a slice of them, fit the memory."""
        start = 0
        while start < total:
            size, row_bytes = _FIRST_CHUNK, self._row_bytes.get(kind) if slice_size is None else 4 * slice_size
            if row_bytes is not None:  # twice, because a chunk is still held while the next is made
                size = max(1, min(self._max_chunk, self._memory // (2 * row_bytes)))
            yield slice(start, min(start + size, total))
            start += size

    def _score(self, batch: Batch, kind: Kind) -> Tensor:
        """Scores [B, C] on the CPU, in a precision that numpy has."""
        scores = checked_scores(self.model.score(batch.to(self.device), kind))
        self._row_bytes[kind] = scores.shape[1] * scores.itemsize
        return scores

    @torch.inference_mode()  # on a generator, it is left while others run
    def _score_slices(self, batch: Batch, kind: Kind) -> Iterator[Tensor]:
        for scores in self.model.score_slices(batch.to(self.device), kind, self.slice_size):
            yield checked_scores(scores)


def checked_scores(scores: Tensor) -> Tensor:
    """The same scores on the CPU, in a precision that numpy has; an error if they cannot be compared."""
    if scores.sum().isnan() and scores.isnan().any():  # infinite scores may add up to NaN too
        raise ScoreError("the model gives NaN as a score", "Did its training diverge? Lower training.learning_rate.")
    return (scores if scores.itemsize >= 4 else scores.float()).cpu()


def _places(queries: Sequence[EncodedQuery]) -> dict[Kind, dict[EncodedQuery, list[int]]]:
    """The places of each distinct query by kind, queries of the same arity next to each other."""
    places: dict[Kind, dict[EncodedQuery, list[int]]] = {"entity": {}, "relation": {}}
    for place, query in sorted(enumerate(queries), key=lambda pair: len(pair[1].ids)):
        places[query.kind].setdefault(_without_answer(query), []).append(place)
    return places


def _pairs(queries: Sequence[EncodedQuery], places_of: Mapping[EncodedQuery, list[int]]) -> Rows:
    """The places of some distinct queries, and the number among these of the query at each [2, q]."""
    return np.array([(place, row) for row, query in enumerate(queries) for place in places_of[query]]).T


def _without_answer(query: EncodedQuery) -> EncodedQuery:
    """Equal for queries that differ only in their answer."""
    return replace(query, ids=query.fill(0))
