"""Filters over the rows of a stack, normalized over the batch.

Shapes: n stacks, d coordinates of a row, F filters (f of them), P = d - 2 places that a filter is put to.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

SPAN = 3
"""How many neighboring coordinates a filter reads of each row."""
_MOMENTUM, _EPSILON = 0.1, 1e-5


@dataclass(frozen=True, eq=False)
class Filters:
    """Some filters [f, rows, 3] with their biases [f]; the norm is in both."""

    weight: Tensor
    bias: Tensor

    def read(self, row: int, vectors: Tensor) -> Tensor:
        """What a row [n, d] adds to the features [n, P f]."""
        windows = vectors.unfold(1, SPAN, 1).flatten(0, 1)  # a product of two matrices: that of a stack takes longer
        return (windows @ self.weight[:, row].T).view(len(vectors), -1)

    def sum(self, rows: Mapping[int, Tensor]) -> Tensor:
        """What some rows [n, d] and the biases add to the features [n, P f]."""
        parts = [self.read(row, vectors) for row, vectors in rows.items()]
        return torch.stack(parts).sum(0) + self.bias.repeat(parts[0].shape[1] // len(self.bias))


class Convolution(nn.Module):
    """F filters as high as the stack they are put to, and a batch norm.

    What a filter gives is linear in what it reads, so its mean and variance over a batch follow from those of the
    windows it is put to. They are few numbers, and with them the norm becomes part of the filters: nothing ever goes
    over the features to normalize them.
    """

    mean: Tensor
    variance: Tensor

    def __init__(self, rows: int, filters: int) -> None:
        super().__init__()
        start = torch.empty(filters, rows, SPAN)
        self.filters = nn.Parameter(nn.init.trunc_normal_(start, std=0.1, a=-0.2, b=0.2))
        self.scale = nn.Parameter(torch.ones(filters))
        self.shift = nn.Parameter(torch.zeros(filters))
        self.register_buffer("mean", torch.zeros(filters))
        self.register_buffer("variance", torch.ones(filters))

    def forward(self, stacks: Tensor) -> Tensor:
        """The features [n, P, F] of stacks of rows [n, rows, d], normalized over all stacks and places."""
        windows = stacks.unfold(2, SPAN, 1).transpose(1, 2).flatten(2)  # [n, P, rows * 3]
        over_batch = self.training and len(stacks)
        filters = self._normalized(
            *(self._moments(windows.flatten(0, 1)) if over_batch else (self.mean, self.variance))
        )
        return nn.functional.linear(windows, filters.weight.flatten(1), filters.bias)

    def in_evaluation(self, size: int) -> list[Filters]:
        """The filters, so many at a time, with what the norm remembers."""
        every = self._normalized(self.mean, self.variance)
        return [
            Filters(*own) for own in zip(torch.split(every.weight, size), torch.split(every.bias, size), strict=True)
        ]

    def _normalized(self, mean: Tensor, variance: Tensor) -> Filters:
        scale = self.scale * (variance + _EPSILON).rsqrt()
        return Filters(self.filters * scale[:, None, None], self.shift - mean * scale)

    def _moments(self, windows: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance [F] of the features of windows [N, rows * 3]; what is remembered follows them."""
        filters, center = self.filters.flatten(1), windows.mean(0)
        apart = windows - center
        mean = filters @ center
        variance = (filters @ (apart.T @ apart / len(windows)) * filters).sum(1)
        with torch.no_grad():
            self.mean.lerp_(mean, _MOMENTUM)
            self.variance.lerp_(variance * len(windows) / (len(windows) - 1), _MOMENTUM)
        return mean, variance
