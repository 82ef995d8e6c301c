"""An approximate index of entities: the best of millions without reading all of their vectors.

Vectors are compressed by product quantization, two numbers to four bits, a sixteenth of their size (faiss). A query is
compared with all compressed vectors; the entities that come out best are then scored exactly. What is approximate is
which entities are considered, and the total that probabilities are shares of: it is estimated from these entities and a
sample of the others.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nary.errors import MissingExtraError, SettingError
from nary.evaluation.scorer import SLICE, checked_scores
from nary.inference.best import Best, Wanted, highest
from nary.models.base import Model

_CONSIDERED = 1000
"""How many entities are scored exactly, besides those that are wanted or left out."""
_SAMPLE = 1 << 14  # entities from which the total is estimated
_TRAINED = 1 << 16  # entities from which the compression is learned
_FEWEST = 1000  # entities; to learn from fewer, faiss warns or refuses
_BITS = 4


class EntityIndex:
    """The entities of a model with query vectors, as they are now."""

    def __init__(self, model: Model) -> None:
        try:
            import faiss
        except ImportError:
            raise MissingExtraError("An index of entities", "faiss") from None
        if not model.has_query_vectors:
            raise SettingError(f"{model.name} scores without query vectors", "Use it without an index.")
        with torch.no_grad():
            self._vectors, self._bias = (tensor.detach().float().cpu() for tensor in model.candidates("entity"))
        size, width = self._vectors.shape
        if size < _FEWEST:
            raise SettingError(f"{size:,} entities are too few for an index", "Use the model without an index.")
        self._padding = 1 + (width + 1) % 2  # for the bias, and to an even number
        drawn = torch.from_numpy(np.random.default_rng(0).permutation(size)[: max(_SAMPLE, _TRAINED)])
        self._sample = drawn[:_SAMPLE].sort().values
        self._sampled = self._vectors[self._sample], self._bias[self._sample]
        self._index = faiss.IndexPQFastScan(
            width + self._padding, (width + self._padding) // 2, _BITS, faiss.METRIC_INNER_PRODUCT
        )
        self._index.train(self._rows(drawn[:_TRAINED].sort().values))
        for ids in torch.split(torch.arange(size), SLICE):
            self._index.add(self._rows(ids))

    def best(self, queries: Tensor, wanted: Sequence[Wanted], temperature: float) -> list[Best]:
        """The best entities for each query vector [n, d]."""
        biased = torch.nn.functional.pad(queries, (0, self._padding))
        biased[:, queries.shape[1]] = 1
        pairs = zip(queries, torch.split(biased, 1), wanted, strict=True)
        return [self._best(query, vector.numpy(), one, temperature) for query, vector, one in pairs]

    def _best(self, query: Tensor, biased: npt.NDArray[np.float32], wanted: Wanted, temperature: float) -> Best:
        k, left_out, scored = wanted
        count = min(_CONSIDERED + k + len(left_out), len(self._vectors))
        near = self._index.search(biased, count)[1][0]
        ids = np.union1d(near[near >= 0], scored)
        scores = torch.addmv(self._bias[ids], self._vectors[ids], query)
        allowed = np.flatnonzero(~np.isin(ids, left_out))
        chosen = torch.from_numpy(allowed)[highest(scores[allowed], k)] if k else torch.empty(0, dtype=torch.int64)
        log_total = self._log_total(query, ids, scores, temperature)
        of_scored = scores[np.searchsorted(ids, scored)]
        return Best(torch.from_numpy(ids)[chosen], scores[chosen], (scored, of_scored), temperature, log_total)

    def _log_total(self, query: Tensor, ids: npt.NDArray[np.int64], scores: Tensor, temperature: float) -> float:
        """The total of the entities that were scored, and an estimate for all others from those of the sample."""
        total = (scores / temperature).logsumexp(0)
        vectors, bias = self._sampled
        others = checked_scores(torch.addmv(bias, vectors, query))[np.isin(self._sample.numpy(), ids, invert=True)]
        if len(others):
            factor = math.log((len(self._vectors) - len(ids)) / len(others))
            total = total.logaddexp((others / temperature).logsumexp(0) + factor)
        return float(total)

    def _rows(self, ids: Tensor) -> npt.NDArray[np.float32]:
        """The vectors of entities with their bias at the end."""
        rows = torch.nn.functional.pad(self._vectors[ids], (0, self._padding))
        rows[:, self._vectors.shape[1]] = self._bias[ids]
        return rows.float().numpy()
