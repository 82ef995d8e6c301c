"""Asking a model: every question once, in chunks that fit into memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt
import torch

from nary.errors import NaryError
from nary.evaluation.queries import Queries
from nary.facts.table import Ids, Rows
from nary.models.base import Kind, Model
from nary.models.batch import Batch, Group

_FIRST_CHUNK = 8
_LARGEST_CHUNK = 2048  # with few candidates it is the model's own arrays that would grow too large


class ScoreError(NaryError):
    """A model gives scores that cannot be compared."""

    kind = "score"
    exit_code = 1


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores [k, C] of all candidates for some questions, and the queries that ask them.

    ``questions`` [k, 2m+3] are the ids of a fact that asks each; ``queries`` [q] are places in the queries, and
    ``rows`` [q] the row of ``scores`` that belongs to each.
    """

    scores: npt.NDArray[np.floating]
    questions: Ids
    queries: Rows
    rows: Rows


class Scorer:
    """Scores queries with a model, holding at most ``memory`` bytes of scores, though at least a row or two."""

    def __init__(self, model: Model, memory: int) -> None:
        self._model = model
        self._memory = memory
        tensor = next(chain(model.parameters(), model.buffers()), None)
        self._device = torch.device("cpu") if tensor is None else tensor.device
        self._chunk: dict[Kind, int] = {}  # how many candidates there are only the first scores tell

    def score(self, queries: Queries) -> Iterator[Scored]:
        """The scores for all ``queries``, a chunk at a time."""
        order = np.argsort(queries.questions, kind="stable")
        numbers = queries.questions[order]
        firsts = np.searchsorted(numbers, np.arange(numbers[-1] + 2))  # where in the order each question starts
        start, end = 0, len(firsts) - 1
        while start < end:
            stop = min(start + self._chunk.get(queries.kind, _FIRST_CHUNK), end)
            questions = queries.ids[order[firsts[start:stop]]]
            scores = self._score(questions, queries)
            row_bytes = 2 * scores.shape[1] * scores.itemsize  # a chunk is still held while the next is made
            self._chunk[queries.kind] = max(1, min(_LARGEST_CHUNK, self._memory // row_bytes))
            mine = slice(firsts[start], firsts[stop])
            yield Scored(scores, questions, order[mine], numbers[mine] - start)
            start = stop

    def _score(self, ids: Ids, queries: Queries) -> npt.NDArray[np.floating]:
        group = Group(torch.from_numpy(ids.astype(np.int64)), torch.full((len(ids),), queries.column))
        scores = self._model.score(Batch([group]).to(self._device), queries.kind)
        if scores.sum().isnan() and scores.isnan().any():  # infinite scores may add up to NaN too
            raise ScoreError(
                "the model gives NaN as a score", "Did its training diverge? Lower training.learning_rate."
            )
        return scores.to(torch.promote_types(scores.dtype, torch.float32)).cpu().numpy()  # numpy has no bfloat16
