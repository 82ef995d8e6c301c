"""Building blocks that several models share."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

_CACHE_LINE = 16  # float32 numbers in a cache line
_FACTOR = 6364136223846793005  # any large odd number: a row hashes to a polynomial in it, modulo 2**64


class Dropout(nn.Module):
    """Inverted dropout that is cheap on a CPU.

    ``nn.Dropout`` draws a random number for every element, which costs a CPU as much as a matrix product. Here eight
    elements share one: an element is dropped if its byte is below a threshold, so the rate is rounded to a multiple of
    1/256, and the scale of the elements that are kept follows from the rounded rate.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.threshold = min(round(256 * rate), 255)

    def forward(self, x: Tensor) -> Tensor:
        """The same shape, zeros where dropped."""
        if not self.training or not self.threshold:
            return x
        if x.device.type != "cpu":
            return nn.functional.dropout(x, self.threshold / 256)
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: x.numel()].view(x.shape).ge_(self.threshold)  # bools convert far more slowly
        return x * kept.to(x.dtype).mul_(256 / (256 - self.threshold))


def embed_ids(table: Tensor, ids: Sequence[Tensor]) -> Iterator[Tensor]:
    """The rows of ``table`` [R, d] for several arrays of ids: [...] -> [..., d] each.

    One look-up for all of them, since the gradient of each look-up is as large as the table.
    """
    rows = nn.functional.embedding(torch.cat([part.flatten() for part in ids]), table)
    parts = rows.split_with_sizes([part.numel() for part in ids])
    return (part.view(*shaped.shape, table.shape[1]) for part, shaped in zip(parts, ids, strict=True))


def empty_aligned(queries: Tensor, num_candidates: int) -> Tensor:
    """An uninitialized [B, C] for the scores of queries [B, d], with each row at the start of a cache line.

    The number of entities is arbitrary. Matrix products into rows that start anywhere take up to 1.4 times as long.
    What is between the rows is zero: products of bfloat16 with AMX instructions multiply it by 0, which makes NaN of a
    NaN.
    """
    rows = queries.new_empty(len(queries), num_candidates + -num_candidates % _CACHE_LINE)
    rows[:, num_candidates:] = 0
    return rows[:, :num_candidates]


def hash_rows(rows: Tensor) -> Tensor:
    """A 64-bit hash [n] of each row of ids [n, k]; zeros at the end of a row do not change it."""
    powers = [pow(_FACTOR, exponent, 1 << 64) for exponent in range(rows.shape[1])]
    signed = [power - (power >> 63 << 64) for power in powers]
    return (rows * torch.tensor(signed, device=rows.device)).sum(1)
