"""Cross-entropy of a softmax over all entities, computed where their rows are.

Every worker scores the queries of all workers against its own rows. What it then needs from the others is a number for
each query, the logarithm of the summed exponentials of its scores there, and a number for each target, its score.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nary.models.layers import empty_aligned
from nary.training.kernels import Targets
from nary.workers import Workers

_CHUNK_BYTES = 16 << 20  # of scores
_MIN_CHUNK = 128  # queries


class AllQueries(NamedTuple):
    """The queries of all workers: how many each has, and the targets of all, with rows as the queries are ordered."""

    sizes: Sequence[int]
    targets: Targets
    num_candidates: int


def sharded_cross_entropy(
    workers: Workers, queries: Tensor, candidates: Tensor, bias: Tensor, everyone: AllQueries, smoothing: float
) -> Tensor:
    """The loss of the ``queries`` [b, d] of this worker, summed; the loss of the batch is the sum over all workers.

    Candidates [C, d] with ``bias`` [C] are those of this worker. The gradients are those of the loss of the batch.
    """
    loss: Tensor = _ShardedCrossEntropy.apply(workers, queries, candidates, bias, everyone, smoothing)  # type: ignore[no-untyped-call]
    return loss


class _ShardedCrossEntropy(torch.autograd.Function):
    """Computes the gradients in the forward pass, as the losses of one process do."""

    @staticmethod
    def forward(
        ctx: Any,
        workers: Workers,
        queries: Tensor,
        candidates: Tensor,
        bias: Tensor,
        everyone: AllQueries,
        smoothing: float,
    ) -> Tensor:
        device = queries.device.type
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else candidates.dtype
        with torch.autocast(device, enabled=False):
            all_queries = workers.concatenate(queries.to(candidates.dtype), list(everyone.sizes))
            loss, *gradients = _loss_and_gradients(workers, all_queries, candidates, bias, everyone, smoothing, dtype)
        ctx.save_for_backward(*gradients)
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        queries_grad, candidates_grad, bias_grad = ctx.saved_tensors
        return None, grad * queries_grad, candidates_grad.mul_(grad), grad * bias_grad, None, None


def _loss_and_gradients(
    workers: Workers,
    queries: Tensor,
    candidates: Tensor,
    bias: Tensor,
    everyone: AllQueries,
    smoothing: float,
    dtype: torch.dtype,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """As in :mod:`nary.training.kernels`: the smoothing term needs sums over candidates and queries only."""
    rows, names, weights = everyone.targets
    if everyone.num_candidates == 1:
        smoothing = 0.0
    wrong = smoothing / max(1, everyone.num_candidates - 1)  # the label of a candidate that is no target
    right = 1 - smoothing - wrong  # what the label of a target has on top of that
    counts = queries.new_zeros(len(queries)).index_add_(0, rows, weights)
    local_sum = torch.cat([candidates.sum(0), bias.sum()[None]])

    queries_grad = -wrong * torch.outer(counts, local_sum[:-1])
    candidates_grad = (-wrong * (counts @ queries)).repeat(len(candidates), 1)
    bias_grad = (-wrong * counts.sum()).repeat(len(candidates))

    here = names % workers.size == workers.rank  # targets whose rows this worker has
    row, name, weight = rows[here], names[here] // workers.size, right * weights[here]
    target_queries, target_vectors = queries[row], candidates[name]
    scores = weights.new_zeros(len(rows))
    scores[here] = (target_queries * target_vectors).sum(1) + bias[name]
    queries_grad.index_add_(0, row, -weight[:, None] * target_vectors)
    candidates_grad.index_add_(0, name, -weight[:, None] * target_queries)
    bias_grad.index_add_(0, name, -weight)

    log_sums = []
    cast_queries, cast_candidates = queries.to(dtype), candidates.to(dtype)
    size = max(_MIN_CHUNK, _CHUNK_BYTES // (4 * len(candidates)))
    for chunk in (slice(start, start + size) for start in range(0, len(queries), size)):
        out = empty_aligned(cast_queries[chunk], len(candidates))
        gradient = torch.mm(cast_queries[chunk], cast_candidates.T, out=out).to(bias.dtype).add_(bias)
        highest = gradient.amax(1)
        gradient.sub_(highest[:, None]).exp_()
        by_worker = workers.concatenate((gradient.sum(1).log_() + highest)[None], [1] * workers.size)
        log_sums.append(by_worker.logsumexp(0))
        factors = counts[chunk] * (highest - log_sums[-1]).exp()
        bias_grad.addmv_(gradient.T, factors)
        gradient = gradient.to(dtype)
        queries_grad[chunk] += factors[:, None] * (gradient @ cast_candidates)
        candidates_grad += gradient.T @ (factors[:, None] * queries[chunk]).to(dtype)

    flat = workers.reduce_(torch.cat([queries_grad.flatten(), scores, local_sum]))
    queries_grad = flat[: queries_grad.numel()].view_as(queries_grad)
    scores, all_sum = flat[queries_grad.numel() :].split_with_sizes([len(scores), len(local_sum)])
    start = sum(everyone.sizes[: workers.rank])
    share = slice(start, start + everyone.sizes[workers.rank])  # the queries of this worker
    in_share = (rows >= share.start) & (rows < share.stop)
    loss = counts[share] @ (torch.cat(log_sums)[share] - wrong * (queries[share] @ all_sum[:-1] + all_sum[-1]))
    return loss - right * (weights[in_share] @ scores[in_share]), queries_grad[share], candidates_grad, bias_grad
