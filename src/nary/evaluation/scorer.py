"""Scoring queries with a model: each distinct query once, in chunks under a memory budget."""

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


class QueryScorer:
    """Scores queries with a model, holding at most ``memory`` bytes of scores at a time, though at least a row or two.

    The model may be on any device and may be moved later. ``num_candidates`` is how many candidates of each kind there
    are; without it the scorer learns that from a small first chunk. Of several ``workers`` each scores some of the
    chunks of a block: the same chunks that one would score, so that scores are the same.
    """

    def __init__(
        self,
        model: Model,
        memory: int = 1 << 27,
        max_chunk: int = _MAX_CHUNK,
        num_candidates: Mapping[Kind, int] | None = None,
        workers: Workers = ALONE,
    ) -> None:
        self.model = model
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
        places: dict[Kind, dict[EncodedQuery, list[int]]] = {"entity": {}, "relation": {}}
        for place, query in enumerate(queries):
            places[query.kind].setdefault(_without_answer(query), []).append(place)
        for kind, places_of in places.items():
            distinct = sorted(places_of, key=lambda query: len(query.ids))
            for chunk in self._chunks(kind, len(distinct)):
                part = distinct[chunk]
                with torch.inference_mode():
                    scores = self._score(make_batch(part), kind)
                pairs = [(place, row) for row, query in enumerate(part) for place in places_of[query]]
                yield QueryScores(kind, scores, *np.array(pairs).T)

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

    def _chunks(self, kind: Kind, total: int) -> Iterator[slice]:
        start = 0
        while start < total:
            size = _FIRST_CHUNK
            if kind in self._row_bytes:  # twice, because a chunk is still held while the next is made
                size = max(1, min(self._max_chunk, self._memory // (2 * self._row_bytes[kind])))
            yield slice(start, min(start + size, total))
            start += size

    def _score(self, batch: Batch, kind: Kind) -> Tensor:
        """Scores [B, C] on the CPU, in a precision that numpy has."""
        scores = self.model.score(batch.to(self.device), kind)
        if scores.sum().isnan() and scores.isnan().any():  # infinite scores may add up to NaN too
            raise ScoreError(
                "the model gives NaN as a score", "Did its training diverge? Lower training.learning_rate."
            )
        scores = (scores if scores.itemsize >= 4 else scores.float()).cpu()
        self._row_bytes[kind] = scores.shape[1] * scores.itemsize
        return scores


def _without_answer(query: EncodedQuery) -> EncodedQuery:
    """Equal for queries that differ only in their answer."""
    return replace(query, ids=query.fill(0))
