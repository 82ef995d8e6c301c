"""Weighted sums of clipped features for all pairs of query and candidate, in blocks that fit into the cache.

Shapes: Q queries, C candidates (n of them), L features.
"""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

_BLOCK = 1 << 17  # features of a block of candidates; two such arrays fit into a cache of 1 MB
_WORTH_COMPILING = 1 << 28  # features of all pairs: so many at a time, probably not for the last time

Responses = Callable[[slice], tuple[Tensor, Tensor | None]]
"""The part of a slice of candidates in the features: x [n, L], and y [n, L] or None."""


def add_clipped_sums(
    scores: Tensor, weight: Tensor, shifts: Tensor, ceilings: Tensor | None, responses: Responses
) -> None:
    """Add to ``scores`` [Q, C] the sum over features of weight * relu(min(x + shift, ceiling)).

    The weights are [L], the shifts [Q, L]. Without ``ceilings`` [Q, L] there is no minimum to take; where there is a y,
    the ceiling is y + ceiling.
    """
    fused = scores.device.type == "cpu" and scores.numel() * len(weight) >= _WORTH_COMPILING and _compiles()
    add = _add_at_once if fused else _add_by_query
    size = max(1, _BLOCK // len(weight))
    for start in range(0, scores.shape[1], size):
        block = slice(start, start + size)
        add(scores[:, block], weight, shifts, ceilings, *responses(block))


def _add_by_query(
    scores: Tensor, weight: Tensor, shifts: Tensor, ceilings: Tensor | None, x: Tensor, y: Tensor | None
) -> None:
    """For one block [Q, n], without a compiler.

    relu(min(x + s, c)) = s - clamp(-x, s - c, s), also where c < 0, since the upper bound of a clamp wins. So each pair
    of query and candidate needs only this clamp and a product.
    """
    floors = None if ceilings is None else shifts - ceilings
    scores += (shifts @ weight)[:, None]
    x, y = -x, None if y is None else -y
    buffer = torch.empty_like(x)
    for row, shift in enumerate(shifts):
        if floors is None:
            torch.minimum(x, shift, out=buffer)
        elif y is None:
            torch.clamp(x, min=floors[row], max=shift, out=buffer)
        else:
            torch.clamp(x, min=torch.add(y, floors[row], out=buffer), max=shift, out=buffer)
        scores[row].addmv_(buffer, weight, alpha=-1)


def _add_at_once(
    scores: Tensor, weight: Tensor, shifts: Tensor, ceilings: Tensor | None, x: Tensor, y: Tensor | None
) -> None:
    """For one block [Q, n], compiled into one pass that stores no features."""
    if ceilings is None:
        scores += _compiled(_sums)(weight, shifts, x)
    elif y is None:
        scores += _compiled(_sums_below)(weight, shifts, ceilings, x)
    else:
        scores += _compiled(_sums_below_both)(weight, shifts, ceilings, x, y)


@cache
def _compiled(plain: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return torch.compile(plain, dynamic=True)


@cache
def _compiles() -> bool:
    """Whether there is a compiler that torch can use."""
    try:
        _compiled(_sums)(torch.ones(3), torch.ones(2, 3), torch.ones(2, 3))
    except RuntimeError:
        return False
    return True


# Three functions: torch recompiles one function only a few times for other inputs, then silently stops compiling it.
def _sums(weight: Tensor, shifts: Tensor, x: Tensor) -> Tensor:
    return ((x + shifts[:, None]).relu() * weight).sum(2)


def _sums_below(weight: Tensor, shifts: Tensor, ceilings: Tensor, x: Tensor) -> Tensor:
    return (torch.minimum(x + shifts[:, None], ceilings[:, None]).relu() * weight).sum(2)


def _sums_below_both(weight: Tensor, shifts: Tensor, ceilings: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return (torch.minimum(x + shifts[:, None], y + ceilings[:, None]).relu() * weight).sum(2)
