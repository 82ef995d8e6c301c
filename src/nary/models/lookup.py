"""Rows of a table of embeddings."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn


def look_up(table: Tensor, ids: Sequence[Tensor]) -> Iterator[Tensor]:
    """The rows of ``table`` for several arrays of ids; at once, as each look-up has a gradient of its size."""
    found = nn.functional.embedding(torch.cat([part.flatten() for part in ids]), table)
    parts = found.split_with_sizes([part.numel() for part in ids])
    return (part.view(*own.shape, -1) for part, own in zip(parts, ids, strict=True))
