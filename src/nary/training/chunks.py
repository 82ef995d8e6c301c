"""Scores of a batch against all candidates, a chunk of queries at a time."""

from collections.abc import Iterator
from itertools import pairwise

import torch
from torch import Tensor

_CHUNK_BYTES = 16 << 20  # of scores; they are best used while the processor's cache still holds them
_SMALLEST_CHUNK = 128  # queries; with fewer, going over the gradient of the table would take most of the time


def chunks(queries: int, candidates: int, rows: Tensor) -> Iterator[tuple[slice, slice]]:
    """Some of so many queries, and those of their answers, whose queries are the ascending ``rows`` [K]."""
    size = max(_SMALLEST_CHUNK, _CHUNK_BYTES // (4 * candidates))
    starts = range(0, queries, size)
    bounds = torch.searchsorted(rows, torch.tensor([*starts, queries], device=rows.device)).tolist()
    for start, (first, last) in zip(starts, pairwise(bounds), strict=True):
        yield slice(start, start + size), slice(first, last)
