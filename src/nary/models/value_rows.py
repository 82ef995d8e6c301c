"""Rows of literals by their value: interpolated between learned rows at knots, which are quantiles of each scale.

Shapes: L literals, S scales, K knots of a scale, d width.
"""

import numpy as np
import torch
from torch import Tensor, nn

from nary.facts import FactTable
from nary.facts.scales import Numbers, Scales

_FREQUENT = 10
"""A literal with so many training facts also has a row of its own, which is added."""


class ValueRows(nn.Module):
    """A row and a bias for each literal, linear in its value between knots and constant outside of them.

    The values of the training facts of a scale are its knots if they are few, otherwise quantiles of them are. Knots
    are stored with the weights: facts that are added later do not move them.
    """

    ids: Tensor
    values: Tensor
    frequent: Tensor
    knots: Tensor

    def __init__(self, scales: Scales, facts: FactTable, num_entities: int, num_knots: int, width: int) -> None:
        super().__init__()
        counts = np.zeros(num_entities, np.int64)
        for block in facts.blocks:
            np.add.at(counts, block.entities, 1)
        counts = counts[scales.ids]
        self._sizes = np.bincount(scales.scales, minlength=len(scales.names)).tolist()
        knots = np.zeros((len(scales.names), num_knots))
        for number in range(len(knots)):
            knots[number] = place_knots(scales.values[(scales.scales == number) & (counts > 0)], num_knots)
        self.register_buffer("ids", torch.from_numpy(scales.ids), persistent=False)
        self.register_buffer("values", torch.from_numpy(scales.values), persistent=False)
        self.register_buffer("frequent", torch.from_numpy(counts >= _FREQUENT), persistent=False)
        self.register_buffer("knots", torch.from_numpy(knots))  # [S, K]
        self.rows = nn.Parameter(torch.empty(knots.size, width))
        self.bias = nn.Parameter(torch.zeros(knots.size))

    def forward(self, table: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        """The rows [E, d] and biases [E] of all entities, with those of literals by their value."""
        lower, upper, weight = self.interpolation()
        share = weight[:, None].to(table.dtype)
        frequent = self.frequent.to(table.dtype)
        rows = torch.lerp(self.rows[lower], self.rows[upper], share) + frequent[:, None] * table[self.ids]
        biases = torch.lerp(self.bias[lower], self.bias[upper], share[:, 0]) + frequent * bias[self.ids]
        return table.index_copy(0, self.ids, rows), bias.index_copy(0, self.ids, biases)

    def interpolation(self) -> tuple[Tensor, Tensor, Tensor]:
        """The rows of the knots below and above each literal [L], and how near it is to the upper one [L]."""
        num_knots = self.knots.shape[1]
        parts = []
        for number, values in enumerate(torch.split_with_sizes(self.values, self._sizes)):
            knots = self.knots[number]
            last = (knots.diff() > 0).sum()  # those behind it repeat it
            upper = torch.minimum(torch.searchsorted(knots, values), last)
            lower = (upper - 1).clamp(min=0)
            width = knots[upper] - knots[lower]
            weight = ((values - knots[lower]) / width.where(width > 0, 1.0)).clamp(0, 1)
            parts.append(torch.stack([(lower + number * num_knots).double(), (upper + number * num_knots), weight]))
        lower, upper, weight = torch.cat(parts, 1)
        return lower.long(), upper.long(), weight


def place_knots(values: Numbers, num_knots: int) -> Numbers:
    """At most ``num_knots`` different ``values``, ascending, the last one repeated: all of them, or quantiles."""
    distinct = np.unique(values)
    if len(distinct) > num_knots:
        distinct = np.unique(distinct[np.linspace(0, len(distinct) - 1, num_knots).round().astype(int)])
    if not len(distinct):
        return np.zeros(num_knots)
    return np.append(distinct, np.full(num_knots - len(distinct), distinct[-1]))
