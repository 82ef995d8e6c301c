"""Batch normalization of rows that stand for several each."""

import torch
from torch import Tensor, nn

_KEPT = 0.9  # of what is remembered, at each step
_EPSILON = 1e-3


class Norm(nn.Module):
    """Takes the mean off each coordinate and divides by the deviation; nothing to learn.

    In training these are those of the batch, afterwards those remembered of all batches.
    """

    mean: Tensor
    variance: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("variance", torch.ones(width))

    def forward(self, rows: Tensor, counts: Tensor) -> Tensor:
        """The rows [n, d] as if each was there as often as ``counts`` [n] says."""
        if not self.training:
            return (rows - self.mean) * self.scale
        rows = rows.to(self.mean.dtype)
        shares = (counts / counts.sum()).to(rows.dtype)[:, None]
        mean = (shares * rows).sum(0)
        variance = (shares * (rows - mean).square()).sum(0)
        with torch.no_grad():
            self.mean.lerp_(mean, 1 - _KEPT)
            self.variance.lerp_(variance, 1 - _KEPT)
        return (rows - mean) * (variance + _EPSILON).rsqrt()

    @property
    def scale(self) -> Tensor:
        """What each coordinate is multiplied with after training [d]."""
        return (self.variance + _EPSILON).rsqrt()
