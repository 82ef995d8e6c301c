"""Cross-entropy of every candidate's probability as a yes or no of its own."""

from typing import Any

import torch
from torch import Tensor

from nary.training.chunks import chunks


def sigmoid_cross_entropy(
    queries: Tensor, table: Tensor, bias: Tensor, answers: tuple[Tensor, Tensor, Tensor], smoothing: float
) -> Tensor:
    """The sum over queries [B, d] of the mean over candidates [C, d], [C] of the cross-entropy of sigmoid(score).

    ``answers`` are rows of ``queries``, ascending, and candidates [K]; their weights do not matter. Smoothing s gives
    answers the label 1 - s + 1 / C and all others 1 / C, as the published code of STARE does: it adds 1 / C, not s / C.
    """
    loss: Tensor = _SigmoidCrossEntropy.apply(queries, table, bias, answers[:2], smoothing)  # type: ignore[no-untyped-call]
    return loss


class _SigmoidCrossEntropy(torch.autograd.Function):
    """Turns the scores of a few queries into their own gradient and multiplies on with it: none are held."""

    @staticmethod
    def forward(
        ctx: Any, queries: Tensor, table: Tensor, bias: Tensor, answers: tuple[Tensor, Tensor], smoothing: float
    ) -> Tensor:
        device = queries.device.type
        kind = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else table.dtype
        with torch.autocast(device, enabled=False):
            loss, *gradients = _loss_and_gradients(queries.to(table.dtype), table, bias, answers, smoothing, kind)
        ctx.save_for_backward(*gradients)
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        of_queries, of_table, of_bias = ctx.saved_tensors
        return grad * of_queries, of_table.mul_(grad), grad * of_bias, None, None


def _loss_and_gradients(
    queries: Tensor,
    table: Tensor,
    bias: Tensor,
    answers: tuple[Tensor, Tensor],
    smoothing: float,
    kind: torch.dtype,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The loss and its gradients by queries, table and bias; products are made in ``kind``."""
    candidates = len(table)
    places = torch.unique(answers[0] * candidates + answers[1])  # a fact that is there twice is no better an answer
    rows, names = places // candidates, places % candidates
    wrong = 1 / candidates if smoothing else 0.0
    loss = -wrong * (queries.sum(0) @ table.sum(0) + len(queries) * bias.sum())
    of_queries, of_table, of_bias = torch.empty_like(queries), torch.zeros_like(table), torch.zeros_like(bias)
    low_queries, low_table = queries.to(kind), table.to(kind)
    for own, found in chunks(len(queries), candidates, rows):
        right = rows[found] - own.start, names[found]
        scores = torch.mm(low_queries[own], low_table.T).to(table.dtype).add_(bias)
        loss += torch.nn.functional.softplus(scores).sum() - (1 - smoothing) * scores[right].sum()
        gradient = scores.sigmoid_().sub_(wrong)
        gradient[right] -= 1 - smoothing
        of_bias += gradient.sum(0)
        low = gradient.to(kind)
        of_queries[own] = low @ low_table
        of_table += low.T @ low_queries[own]
    return loss / candidates, of_queries / candidates, of_table.div_(candidates), of_bias / candidates
