"""Cross-entropy over all candidates, of which only the new ones learn.

The old ones contribute to a query the logarithm of their summed exponentials. It has a gradient by the query alone, and
is computed once for a query vector that does not change either. Of many candidates, only a sample is scored.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nary.models.base import Kind, Model
from nary.models.layers import empty_aligned
from nary.models.new_names import NewNames
from nary.training.batches import TrainingBatch
from nary.training.kernels import exponentials_
from nary.training.losses import CrossEntropyLoss, CrossEntropySettings

_MAX_QUERIES = 512  # whose scores are held at a time
_LEFT_OUT = -1e30  # the score of a candidate that a sum leaves out; finite, as all may be left out


class QueryTargets(NamedTuple):
    """What queries [B] ask for: whether it is an entity, its id, and how much the answer counts; all [B]."""

    asks_entity: Tensor
    answers: Tensor
    weights: Tensor

    @classmethod
    def of(cls, batch: TrainingBatch, loss: CrossEntropyLoss) -> "QueryTargets":
        """Those of a batch in which every query has one target; all count 1 together, if their weights are 1."""
        return cls(batch.batch.asks_entity, batch.targets, loss.target_weights(batch) / len(batch.targets))

    def by_kind(self) -> Iterator[tuple[Kind, Tensor]]:
        """The kinds that are asked for, and the places of the queries that ask for them."""
        kinds: tuple[tuple[Kind, Tensor], ...] = (("entity", self.asks_entity), ("relation", ~self.asks_entity))
        return ((kind, chosen.nonzero()[:, 0]) for kind, chosen in kinds if chosen.any())


class NewCandidateLoss:
    """The loss of a model with new candidates, the ``names``, among old ones, which stay as they are.

    If there are more than ``max_candidates`` wrong old ones, or new ones, a sample of so many stands for all.
    """

    def __init__(
        self, model: Model, settings: CrossEntropySettings, names: NewNames, max_candidates: int | None = None
    ) -> None:
        self.model, self.settings, self.names, self.max_candidates = model, settings, names, max_candidates
        self._kept: dict[Kind, _Candidates] = {}

    def _candidates(self, kind: Kind) -> "_Candidates":
        """Those of a kind, once they are needed: not every model predicts relations."""
        if kind not in self._kept:
            vectors, bias = (part.detach() for part in self.model.candidates(kind))
            new = torch.from_numpy(self.names.of_kind(kind)).to(bias.device)
            is_old = torch.ones(len(bias), dtype=torch.bool, device=bias.device).index_fill(0, new, False)
            vector_sum, bias_sum = vectors.sum(0) - vectors[new].sum(0), bias.sum() - bias[new].sum()
            self._kept[kind] = _Candidates(vectors, bias, is_old.nonzero()[:, 0], new, vector_sum, bias_sum)
        return self._kept[kind]

    def old_log_sums(self, queries: Tensor, targets: QueryTargets, exact: bool = False) -> Tensor:
        """The logarithm of the summed exponentials of the scores of the wrong old candidates [B], for queries [B, d].

        ``exact`` sums all of them, however many there are.
        """
        most = None if exact else self.max_candidates
        log_sums = queries.new_empty(len(queries), dtype=torch.float32)
        for kind, chosen in targets.by_kind():
            kept = self._candidates(kind)
            for some in torch.split(chosen, _MAX_QUERIES):
                answers = targets.answers[some]
                log_sums[some] = _wrong_log_sums(queries[some], answers, kept.vectors, kept.bias, kept.old, most)
        return log_sums

    def __call__(self, queries: Tensor, targets: QueryTargets, old_log_sums: Tensor) -> Tensor:
        """The sum of the losses of queries [B, d]."""
        total = queries.new_zeros((), dtype=torch.float32)
        for kind, chosen in targets.by_kind():
            losses = self._losses(kind, queries[chosen], targets.answers[chosen], old_log_sums[chosen])
            total = total + targets.weights[chosen] @ losses
        return total

    def _losses(self, kind: Kind, queries: Tensor, answers: Tensor, old_log_sums: Tensor) -> Tensor:
        """The losses [n] of queries [n, d] for candidates of one kind."""
        kept = self._candidates(kind)
        vectors, bias = self.model.candidates(kind)
        right_scores = (queries * vectors[answers]).sum(1).float() + bias[answers]
        new_log_sums = _wrong_log_sums(queries, answers, vectors, bias, kept.new, self.max_candidates)
        log_sums = torch.logaddexp(torch.logaddexp(old_log_sums, new_log_sums), right_scores)
        vector_sum, bias_sum = kept.vector_sum + vectors[kept.new].sum(0), kept.bias_sum + bias[kept.new].sum()
        smoothing = self.settings.smoothing(kind)
        wrong = smoothing / max(1, len(bias) - 1)  # the label of a candidate that is not the answer
        return log_sums - (1 - smoothing - wrong) * right_scores - wrong * (queries.float() @ vector_sum + bias_sum)


class _Candidates(NamedTuple):
    """Vectors [C, d] and biases [C] of all candidates, the ids of old and new ones, and the sums of the old ones."""

    vectors: Tensor
    bias: Tensor
    old: Tensor
    new: Tensor
    vector_sum: Tensor
    bias_sum: Tensor


def _wrong_log_sums(
    queries: Tensor, answers: Tensor, vectors: Tensor, bias: Tensor, ids: Tensor, most: int | None
) -> Tensor:
    """The logarithm of the summed exponentials of the scores [n] of the candidates ``ids`` that are not the answer.

    Of more than ``most``, so many are drawn for all queries together, and their sum is scaled.
    """
    if not len(ids):
        return queries.new_full((len(queries),), _LEFT_OUT, dtype=torch.float32)
    if most is not None and len(ids) > most:
        bias = bias + math.log(len(ids) / most)
        ids = ids[torch.randperm(len(ids), device=ids.device)[:most]]
    is_answer = answers[:, None] == ids
    log_sums: Tensor = _LogSum.apply(queries, vectors[ids], bias[ids], is_answer)  # type: ignore[no-untyped-call]
    return log_sums


class _LogSum(torch.autograd.Function):
    """The logarithm of the summed exponentials of the scores of each query [n], but for those that are left out [n, C].

    The exponentials are kept in the memory of the scores, since the gradients are products with them.
    """

    @staticmethod
    def forward(ctx: Any, queries: Tensor, vectors: Tensor, bias: Tensor, left_out: Tensor) -> Tensor:
        device = queries.device.type
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else vectors.dtype
        with torch.autocast(device, enabled=False):
            queries, vectors = queries.to(dtype), vectors.to(dtype)
            scores = torch.mm(queries, vectors.T, out=empty_aligned(queries, len(vectors)))
            log_sums, factors = exponentials_(scores.masked_fill_(left_out, _LEFT_OUT), bias)
        ctx.save_for_backward(queries, vectors, scores, factors)
        return log_sums

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        queries, vectors, scores, factors = ctx.saved_tensors
        weights = (grad * factors)[:, None]
        of_queries, of_vectors, of_bias, _ = ctx.needs_input_grad
        with torch.autocast(grad.device.type, enabled=False):
            return (
                weights * (scores @ vectors) if of_queries else None,
                (scores.T @ (weights * queries).to(scores.dtype)).float() if of_vectors else None,
                (scores.T @ weights.to(scores.dtype))[:, 0].float() if of_bias else None,
                None,
            )
