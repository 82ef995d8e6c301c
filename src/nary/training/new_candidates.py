"""Cross-entropy over all candidates, of which only the new ones learn.

The old ones contribute to a query the logarithm of their summed exponentials. It has a gradient by the query alone, and
is computed once for a query vector that does not change either.
"""

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
    """The loss of a model with new candidates, the ``names``, among old ones, which stay as they are."""

    def __init__(self, model: Model, settings: CrossEntropySettings, names: NewNames) -> None:
        self.model, self.settings, self.names = model, settings, names
        self._kept: dict[Kind, _OldCandidates] = {}

    def _old_candidates(self, kind: Kind) -> "_OldCandidates":
        """Those of a kind, once they are needed: not every model predicts relations."""
        if kind not in self._kept:
            vectors, bias = (part.detach() for part in self.model.candidates(kind))
            new = torch.from_numpy(self.names.of_kind(kind)).to(bias.device)
            numbers = torch.full((len(bias),), -1, device=bias.device)
            numbers[new] = torch.arange(len(new), device=bias.device)
            vector_sum, bias_sum = vectors.sum(0) - vectors[new].sum(0), bias.sum() - bias[new].sum()
            # A bias of minus infinity leaves a candidate out of a sum of exponentials.
            self._kept[kind] = _OldCandidates(
                vectors, bias.index_fill(0, new, -torch.inf), vector_sum, bias_sum, numbers
            )
        return self._kept[kind]

    def old_log_sums(self, queries: Tensor, targets: QueryTargets) -> Tensor:
        """The logarithm of the summed exponentials of the scores of the old candidates [B], for queries [B, d]."""
        log_sums = queries.new_empty(len(queries), dtype=torch.float32)
        for kind, chosen in targets.by_kind():
            old = self._old_candidates(kind)
            for some in torch.split(chosen, _MAX_QUERIES):
                log_sums[some] = _LogSum.apply(queries[some], old.vectors, old.bias)  # type: ignore[no-untyped-call]
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
        old = self._old_candidates(kind)
        new = (old.numbers >= 0).nonzero()[:, 0]
        vectors, bias = (part[new] for part in self.model.candidates(kind))
        scores = (queries @ vectors.T).float() + bias  # [n, new]
        numbers = old.numbers[answers]
        is_new = numbers >= 0
        right_scores = torch.empty_like(old_log_sums)
        right_scores[is_new] = scores[is_new, numbers[is_new]]
        of_old = answers[~is_new]
        right_scores[~is_new] = (queries[~is_new] * old.vectors[of_old]).sum(1).float() + old.bias[of_old]
        score_sums = queries.float() @ (old.vector_sum + vectors.sum(0)) + old.bias_sum + bias.sum()
        smoothing = self.settings.smoothing(kind)
        wrong = smoothing / max(1, len(old.bias) - 1)  # the label of a candidate that is not the answer
        log_sums = torch.logaddexp(old_log_sums, scores.logsumexp(1))
        return log_sums - (1 - smoothing - wrong) * right_scores - wrong * score_sums


class _OldCandidates(NamedTuple):
    """Vectors [C, d] and biases [C] of all candidates, and the sums of those of old ones."""

    vectors: Tensor
    bias: Tensor
    vector_sum: Tensor
    bias_sum: Tensor
    numbers: Tensor
    """The place of each candidate among the new ones [C]; -1 for old ones."""


class _LogSum(torch.autograd.Function):
    """The logarithm of the summed exponentials of all scores of each query [n]; only queries have a gradient.

    That is computed with it, in the memory of the scores.
    """

    @staticmethod
    def forward(ctx: Any, queries: Tensor, vectors: Tensor, bias: Tensor) -> Tensor:
        device = queries.device.type
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else vectors.dtype
        with torch.autocast(device, enabled=False):
            cast_queries, cast_vectors = queries.to(dtype), vectors.to(dtype)
            scores = torch.mm(cast_queries, cast_vectors.T, out=empty_aligned(cast_queries, len(vectors)))
            log_sums, factors = exponentials_(scores, bias)
            if ctx.needs_input_grad[0]:
                ctx.save_for_backward((scores @ cast_vectors) * factors[:, None])
        return log_sums

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = ctx.saved_tensors
        return grad[:, None] * gradient, None, None
