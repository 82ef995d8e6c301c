"""Rows of ids told apart by one number each."""

import torch
from torch import Tensor

_FACTOR = 6364136223846793005  # any large odd number: the code of a row is a polynomial in it, modulo 2**64


def codes(rows: Tensor) -> Tensor:
    """A number for each row [n, k] that no other row is likely to have; a shorter row has that of one with zeros."""
    powers = [pow(_FACTOR, exponent, 1 << 64) for exponent in range(rows.shape[1])]
    signed = [power - (power >> 63 << 64) for power in powers]
    return (rows * torch.tensor(signed, device=rows.device)).sum(1)
