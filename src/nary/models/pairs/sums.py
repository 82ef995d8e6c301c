"""Weighted sums of clipped features for all pairs of query and candidate, in blocks that a processor's cache holds."""

from collections.abc import Callable

import torch
from torch import Tensor

_BLOCK = 1 << 16  # features of a block of candidates; three such arrays fit into a cache of 1 MB

Responses = Callable[[slice], tuple[Tensor, Tensor | None]]
"""What a slice of candidates brings to the features: x [n, L], and y [n, L] or None."""


def add_clipped_sums(
    scores: Tensor, weight: Tensor, shifts: Tensor, ceilings: Tensor | None, responses: Responses
) -> None:
    """Add to ``scores`` [Q, C] the sum over features of weight * relu(min(x + shift, ceiling)).

    The weights are [L], the shifts [Q, L]. Without ``ceilings`` [Q, L] there is no minimum to take; where there is a y,
    the ceiling is y + ceiling.
    """
    # relu(min(x + s, c)) = s - clamp(-x, s - c, s), also where c < 0: a clamp's upper bound is the stronger one. So
    # what is done for every pair of query and candidate is this clamp and a product.
    floors = None if ceilings is None else shifts - ceilings
    scores += (shifts @ weight)[:, None]
    size = max(1, _BLOCK // len(weight))
    for start in range(0, scores.shape[1], size):
        block = slice(start, start + size)
        x, y = responses(block)
        x, y = -x, None if y is None else -y
        buffer = torch.empty_like(x)
        for row, shift in enumerate(shifts):
            if floors is None:
                torch.minimum(x, shift, out=buffer)
            elif y is None:
                torch.clamp(x, min=floors[row], max=shift, out=buffer)
            else:
                torch.clamp(x, min=torch.add(y, floors[row], out=buffer), max=shift, out=buffer)
            scores[row, block].addmv_(buffer, weight, alpha=-1)
