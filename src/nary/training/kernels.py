"""Losses over all candidates, a chunk of queries at a time.

Each computes its gradients together with the loss, so the scores of a whole batch are never held in memory: the scores
of a chunk are turned into their own gradient in place.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nary.models.layers import empty_aligned

_CHUNK_BYTES = 32 << 20  # of scores
_MIN_CHUNK = 128  # queries; with fewer, accumulating the gradient of the candidates would dominate
_BLOCK_BYTES = 4 << 20  # of scores in float32: what stays in the processor's caches
_MAX_PROBABILITY = 1 - 1e-7  # of a wrong candidate, so that log(1 - p) stays finite


class Targets(NamedTuple):
    """The correct answers of a batch, sorted by row: query row, candidate and weight of each, all [K]."""

    rows: Tensor
    candidates: Tensor
    weights: Tensor


LossAndGradients = Callable[[Tensor, Tensor, Tensor, torch.dtype], tuple[Tensor, Tensor, Tensor, Tensor]]
"""From queries [B, d], candidates [C, d], biases [C] and the dtype of matrix products: the loss and its gradients by
the first three."""
PointwiseLoss = Callable[[Tensor, tuple[Tensor, Tensor]], tuple[Tensor, Tensor]]
"""From scores [b, C], which it may overwrite, and the (row, column) indices of the correct answers: the summed loss and
its gradient by the scores."""


def chunked_cross_entropy(
    queries: Tensor, candidates: Tensor, bias: Tensor, targets: Targets, smoothing: float
) -> Tensor:
    """The sum over ``targets`` of weight * cross-entropy of a softmax over all candidates.

    Candidates [C, d] with ``bias`` [C] are scored by their dot product with a query [B, d]. A target has the label
    1 - smoothing, all other candidates share the rest.
    """
    return _loss_with_gradients(partial(_cross_entropy_gradients, targets, smoothing), queries, candidates, bias)


def softmax_bce(queries: Tensor, candidates: Tensor, bias: Tensor, targets: Targets) -> Tensor:
    """Binary cross-entropy of softmax probabilities: -log p for a target, -log (1 - p) for any other candidate.

    The softmax is over all candidates although each has a term of its own, as in the published code of GETD. Arguments
    and reduction are those of :func:`pointwise_loss`.
    """
    return pointwise_loss(_softmax_bce, queries, candidates, bias, targets)


def sigmoid_bce(queries: Tensor, candidates: Tensor, bias: Tensor, targets: Targets, smoothing: float) -> Tensor:
    """Binary cross-entropy of sigmoid(score). Arguments and reduction are those of :func:`pointwise_loss`.

    Smoothing s gives targets the label 1 - s + 1 / C and all others 1 / C, as the published code of STARE does: it adds
    1 / C, not s / C.
    """
    return pointwise_loss(partial(_sigmoid_bce, smoothing), queries, candidates, bias, targets)


def pointwise_loss(
    function: PointwiseLoss, queries: Tensor, candidates: Tensor, bias: Tensor, targets: Targets
) -> Tensor:
    """The sum over queries [B, d] of the mean over candidates [C, d] of ``function``; weights are ignored."""
    return _loss_with_gradients(partial(_pointwise_gradients, function, targets), queries, candidates, bias)


def _loss_with_gradients(compute: LossAndGradients, queries: Tensor, candidates: Tensor, bias: Tensor) -> Tensor:
    loss: Tensor = _LossWithGradients.apply(compute, queries, candidates, bias)  # type: ignore[no-untyped-call]
    return loss


class _LossWithGradients(torch.autograd.Function):
    """A loss whose gradients are computed in the forward pass."""

    @staticmethod
    def forward(ctx: Any, compute: LossAndGradients, queries: Tensor, candidates: Tensor, bias: Tensor) -> Tensor:
        device = queries.device.type
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else candidates.dtype
        with torch.autocast(device, enabled=False):
            loss, *gradients = compute(queries.to(candidates.dtype), candidates, bias, dtype)
        ctx.save_for_backward(*gradients)
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        queries_grad, candidates_grad, bias_grad = ctx.saved_tensors
        return None, grad * queries_grad, candidates_grad.mul_(grad), grad * bias_grad


def _even_slices(total: int, most: int) -> Iterator[slice]:
    """Slices of a range, all of about the same size, ``most`` or less."""
    size = -(-total // -(-total // most)) if total else 1
    return (slice(start, start + size) for start in range(0, total, size))


def _cross_entropy_gradients(
    targets: Targets, smoothing: float, queries: Tensor, candidates: Tensor, bias: Tensor, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The smoothing term is the same for every candidate but the target: sums over candidates and queries suffice."""
    rows, names, weights = targets
    num_candidates = len(candidates)
    if num_candidates == 1:
        smoothing = 0.0
    wrong = smoothing / max(1, num_candidates - 1)  # the label of a candidate that is no target
    right = 1 - smoothing - wrong  # what the label of a target has on top of that
    counts = queries.new_zeros(len(queries)).index_add_(0, rows, weights)
    query_sum, candidate_sum = counts @ queries, candidates.sum(0)

    target_queries, target_candidates, target_weights = queries[rows], candidates[names], right * weights
    loss = -wrong * (query_sum @ candidate_sum + counts.sum() * bias.sum())
    loss -= target_weights @ ((target_queries * target_candidates).sum(1) + bias[names])
    queries_grad = (-wrong * torch.outer(counts, candidate_sum)).index_add_(
        0, rows, -target_weights[:, None] * target_candidates
    )
    candidates_grad = (-wrong * query_sum).repeat(num_candidates, 1)
    candidates_grad.index_add_(0, names, -target_weights[:, None] * target_queries)
    bias_grad = (-wrong * counts.sum()).repeat(num_candidates).index_add_(0, names, -target_weights)

    cast_queries, cast_candidates = queries.to(dtype), candidates.to(dtype)
    for chunk in _even_slices(len(queries), max(_MIN_CHUNK, _CHUNK_BYTES // (dtype.itemsize * num_candidates))):
        out = empty_aligned(cast_queries[chunk], num_candidates)
        scores = torch.mm(cast_queries[chunk], cast_candidates.T, out=out)
        log_sums, factors = exponentials_(scores, bias, counts[chunk], bias_grad)
        loss += counts[chunk] @ log_sums
        weighted = (factors[:, None] * queries[chunk]).to(dtype)
        queries_grad[chunk] += factors[:, None] * (scores @ cast_candidates)
        if dtype == candidates_grad.dtype:
            candidates_grad.addmm_(scores.T, weighted)
        else:
            candidates_grad += scores.T @ weighted
    return loss, queries_grad, candidates_grad, bias_grad


def exponentials_(
    scores: Tensor, bias: Tensor, counts: Tensor | None = None, bias_grad: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Turn scores [b, C] without their bias into exp(score - highest), and add the gradient of the bias, if wanted.

    Return the logarithm of the summed exponentials of all scores [b], and the factors [b] by which these numbers are
    the gradient of ``counts`` [b], by default 1, times that. A few rows at a time, so that they stay in the processor's
    caches.
    """
    counts = bias.new_ones(len(scores)) if counts is None else counts
    log_sums, factors = torch.empty_like(counts), torch.empty_like(counts)
    for rows in _even_slices(len(scores), max(1, _BLOCK_BYTES // (4 * scores.shape[1]))):
        exact = scores[rows] + bias  # in the dtype of the bias
        highest = exact.amax(1)
        sums = exact.sub_(highest[:, None]).exp_().sum(1)
        log_sums[rows], factors[rows] = sums.log() + highest, counts[rows] / sums
        if bias_grad is not None:
            bias_grad.addmv_(exact.T, factors[rows])
        scores[rows] = exact
    return log_sums, factors


def _pointwise_gradients(
    function: PointwiseLoss, targets: Targets, queries: Tensor, candidates: Tensor, bias: Tensor, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    num_candidates = len(candidates)
    distinct = torch.unique(targets.rows * num_candidates + targets.candidates)  # a repeated fact counts once
    rows, names = distinct // num_candidates, distinct % num_candidates
    loss = bias.new_zeros(())
    queries_grad, candidates_grad, bias_grad = (
        torch.empty_like(queries),
        torch.zeros_like(candidates),
        torch.zeros_like(bias),
    )
    cast_queries, cast_candidates = queries.to(dtype), candidates.to(dtype)
    for chunk in _even_slices(len(queries), max(_MIN_CHUNK, _CHUNK_BYTES // (8 * num_candidates))):  # and gradients
        out = empty_aligned(cast_queries[chunk], num_candidates)
        scores = torch.mm(cast_queries[chunk], cast_candidates.T, out=out).to(candidates.dtype).add_(bias)
        here = (rows >= chunk.start) & (rows < chunk.stop)
        chunk_loss, gradient = function(scores, (rows[here] - chunk.start, names[here]))
        loss += chunk_loss
        bias_grad += gradient.sum(0)
        cast_gradient = gradient.to(dtype)
        queries_grad[chunk] = cast_gradient @ cast_candidates
        candidates_grad += cast_gradient.T @ cast_queries[chunk]
    return (
        loss / num_candidates,
        queries_grad / num_candidates,
        candidates_grad.div_(num_candidates),
        bias_grad / num_candidates,
    )


def _softmax_bce(scores: Tensor, index: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """With h = p * dloss/dp, which is -1 for a target and p / (1 - p) otherwise, the gradient is h - p * sum(h)."""
    scores.sub_(scores.logsumexp(1, keepdim=True))
    loss = -scores[index].sum()
    probabilities = scores.exp_()
    gradient = probabilities.clamp(max=_MAX_PROBABILITY)
    gradient[index] = 0
    logs = gradient.neg().log1p_()
    loss -= logs.sum()
    gradient.div_(logs.exp_())
    gradient[index] = -1
    return loss, gradient.addcmul_(probabilities, gradient.sum(1, keepdim=True), value=-1)


def _sigmoid_bce(smoothing: float, scores: Tensor, index: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    loss = torch.nn.functional.softplus(scores).sum() - (1 - smoothing) * scores[index].sum()
    wrong = 0.0
    if smoothing:
        wrong = 1 / scores.shape[1]
        loss -= wrong * scores.sum()
    gradient = scores.sigmoid_().sub_(wrong)
    gradient[index] -= 1 - smoothing
    return loss, gradient
