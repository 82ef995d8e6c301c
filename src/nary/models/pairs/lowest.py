"""The smallest of several rows, coordinate by coordinate, without ever holding those rows."""

from typing import Any

import torch
from torch import Tensor

_CHUNK = 128  # places; their rows should stay in the processor's cache


def lowest(table: Tensor, places: Tensor) -> Tensor:
    """The smallest of the rows of ``table`` [D, g] at ``places`` [n, k], coordinate by coordinate [n, g]."""
    found: Tensor = _Lowest.apply(table, places)  # type: ignore[no-untyped-call]
    return found


class _Lowest(torch.autograd.Function):
    """Looks rows up again on the way back instead of keeping them; of equal ones the first gets the gradient."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, places: Tensor) -> Tensor:
        found = table.new_empty(len(places), table.shape[1])
        for best, own in zip(*(torch.split(part, _CHUNK) for part in (found, places)), strict=True):
            best.copy_(table[own[:, 0]])
            for column in own.T[1:]:
                torch.minimum(best, table[column], out=best)
        ctx.save_for_backward(table, places, found)
        return found

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        table, places, found = ctx.saved_tensors
        wide = torch.promote_types(table.dtype, torch.float32)  # a row may get very many shares
        of_table = torch.zeros_like(table, dtype=wide)
        for best, own, left in zip(*(torch.split(part, _CHUNK) for part in (found, places, grad)), strict=True):
            for column in own.T:
                share = table[column].eq_(best).mul_(left)
                of_table.index_add_(0, column, share.to(wide))
                left = left - share
        return of_table.to(table.dtype), None
