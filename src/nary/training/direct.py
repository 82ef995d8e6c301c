"""Losses over all candidates that make their own gradients, so that the scores of a whole batch are never held."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

LossAndGradients = Callable[[Tensor, Tensor, Tensor, torch.dtype], tuple[Tensor, Tensor, Tensor, Tensor]]
"""From queries [B, d], a table of candidates [C, d], their biases [C] and the type to make products in: the loss and
its gradients by the first three."""


def direct_loss(compute: LossAndGradients, queries: Tensor, table: Tensor, bias: Tensor) -> Tensor:
    """The loss that ``compute`` makes together with its gradients."""
    loss: Tensor = _Direct.apply(compute, queries, table, bias)  # type: ignore[no-untyped-call]
    return loss


class _Direct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, compute: LossAndGradients, queries: Tensor, table: Tensor, bias: Tensor) -> Tensor:
        device = queries.device.type
        kind = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else table.dtype
        with torch.autocast(device, enabled=False):
            loss, *gradients = compute(queries.to(table.dtype), table, bias, kind)
        ctx.save_for_backward(*gradients)
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        of_queries, of_table, of_bias = ctx.saved_tensors
        return None, grad * of_queries, of_table.mul_(grad), grad * of_bias
