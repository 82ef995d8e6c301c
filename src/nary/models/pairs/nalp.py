"""NaLP: a fact is true if every two of its pairs of role and value go together.

The published network looks at all ordered pairs (i, j) of slots, those of a slot with itself too, and takes the minimum
u = min over (i, j) of relu(A o_i + B o_j + c), where o_i comes from slot i alone. A rising function of a minimum is the
minimum of the function, and i and j are free of each other, so that is relu(min_i A o_i + min_j (B o_j + c)): a row of
numbers for each slot, and the smallest of these rows, are all there is to compute.

Shapes: n facts, q queries, k slots of a fact, d width, f filters, g units.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.models.batch import Batch, Group
from nary.models.contract import Kind, Model, Sizes
from nary.models.pairs.lowest import lowest
from nary.models.pairs.norm import Norm
from nary.models.pairs.slots import slots_of, slots_with

_BLOCK_BYTES = 1 << 20  # of rows of candidates that are worked on at a time: what the processor's cache holds


class NaLPSettings(Settings):
    """``[model]`` of a recipe for NaLP."""

    name: Literal["nalp"] = "nalp"
    embedding_dim: int = Field(100, ge=1)
    num_filters: int = Field(200, ge=1)
    """The features of a pair of role and value."""
    fcn_dim: int = Field(1000, ge=1)
    """The features of two such pairs together."""


class NaLP(Model):
    """Pairs of role and value -> their features -> those of every two of them -> is it a fact."""

    name = "nalp"
    losses = frozenset({"corruption_bce", "sampled_cross_entropy"})

    def __init__(self, settings: NaLPSettings, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        width, filters, units = settings.embedding_dim, settings.num_filters, settings.fcn_dim
        self.entity = _uniform(width**-0.5, sizes.entities, width)
        self.role = _uniform(width**-0.5, 3 * sizes.relations, width)  # numbered as in slots_of
        self.filters = nn.Parameter(nn.init.trunc_normal_(torch.empty(filters, 2 * width), std=0.1, a=-0.2, b=0.2))
        self.filter_bias = nn.Parameter(torch.zeros(filters))
        self.norm = Norm(filters)
        self.relate = _uniform((6 / (2 * filters + units)) ** 0.5, 2 * units, filters)  # A above B
        self.relate_bias = nn.Parameter(torch.zeros(units))
        self.judge = _uniform((6 / (units + 1)) ** 0.5, units)
        self.judge_bias = nn.Parameter(torch.zeros(()))

    def fact_scores(self, ids: Tensor) -> Tensor:
        """The logits [n] of whole facts of one arity [n, 2m+3]."""
        return self.group_scores([ids])[0]

    def group_scores(self, groups: Sequence[Tensor]) -> list[Tensor]:
        """The logits [n] of whole facts, group by group; every distinct pair goes through the network once."""
        pairs = []
        for ids in groups:
            roles, values = slots_of(ids, self.sizes.relations)
            pairs.append(roles * self.sizes.entities + values)
        every = torch.cat([own.flatten() for own in pairs])
        distinct, places, counts = torch.unique(every, return_inverse=True, return_counts=True)
        roles = nn.functional.embedding(distinct // self.sizes.entities, self.role)
        values = nn.functional.embedding(distinct % self.sizes.entities, self.entity)
        features = self.norm(torch.cat([roles, values], 1) @ self.filters.T, counts) + self.filter_bias
        rows = self._rows(features)
        parts = places.split([own.numel() for own in pairs])
        return [self._judged(lowest(rows, part.view_as(own))) for part, own in zip(parts, pairs, strict=True)]

    @torch.no_grad()
    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """Scores [B, C] with what the norm remembers."""
        by_role, by_value = self.filters.chunk(2, 1)
        of_roles = (self.role @ by_role.T - self.norm.mean) * self.norm.scale + self.filter_bias  # [3R, f]
        of_values = (self.entity @ by_value.T) * self.norm.scale  # [E, f]
        return torch.cat([self._score(group, kind, of_roles, of_values) for group in batch.groups])

    def _score(self, group: Group, kind: Kind, of_roles: Tensor, of_values: Tensor) -> Tensor:
        """Scores [n, C]; what roles and what values add to the features of their pairs is given."""
        roles, values = slots_of(group.ids, self.sizes.relations)
        by_place = of_roles.view(3, self.sizes.relations, -1)  # roles of subjects, of objects, of values
        scores = of_roles.new_empty(len(roles), len(of_values) if kind == "entity" else self.sizes.relations)
        for column in torch.unique(group.columns).tolist():
            own = (group.columns == column).nonzero()[:, 0]
            asked = slots_with(column, group.qualifiers)
            rest = scores.new_full((len(own), len(self.relate)), torch.inf)  # the smallest rows without those asked for
            for slot in set(range(roles.shape[1])).difference(asked):
                features = of_roles[roles[own, slot]] + of_values[values[own, slot]]
                torch.minimum(rest, self._rows(features), out=rest)
            if kind == "entity":
                candidates, known, of_known = [of_values], roles, of_roles
            else:
                candidates, known, of_known = [by_place[min(slot, 2)] for slot in asked], values, of_values
            distinct, which = torch.unique(known[own][:, asked], dim=0, return_inverse=True)
            for number, halves in enumerate(of_known[distinct]):
                mine = (which == number).nonzero()[:, 0]
                self._compare(list(zip(candidates, halves, strict=True)), rest[mine], scores, own[mine])
        return scores

    def _compare(self, pairs: list[tuple[Tensor, Tensor]], rest: Tensor, scores: Tensor, places: Tensor) -> None:
        """Write the rows at ``places`` [q] of ``scores``, of queries that ask for the same ``pairs``.

        These have candidates [C, f] for one half, and the other half [f] in common. So the rows of the candidates are
        made once for all queries, a block at a time. They can only lower the smallest row: a unit that is 0 without
        them is 0 with each of them, and need not be looked at.
        """
        count = len(self.judge)
        alive = rest[:, :count] + rest[:, count:] > 0  # [q, g]
        used = alive.any(0).nonzero()[:, 0]
        relate, bias = self.relate[_both(used, count)], self._bias()[_both(used, count), None]
        queries = []
        for place, others, own in zip(places.tolist(), rest, alive, strict=True):
            units = own.nonzero()[:, 0]
            at = _both(torch.searchsorted(used, units), len(used))
            queries.append((scores[place], at, others[_both(units, count), None], self.judge[units]))
        size = max(1, _BLOCK_BYTES // max(1, len(relate) * scores.element_size()))
        space = scores.new_empty(len(relate) * size)
        for start in range(0, scores.shape[1], size):
            block = slice(start, start + size)
            rows = reduce(
                torch.minimum, (torch.addmm(bias, relate, (own[block] + half).relu_().T) for own, half in pairs)
            )
            for found, at, others, judge in queries:
                lowest = space[: len(at) * rows.shape[1]].view(len(at), rows.shape[1])
                torch.minimum(torch.index_select(rows, 0, at, out=lowest), others, out=lowest)
                first, second = lowest.chunk(2)
                torch.mv(first.add_(second).relu_().T, judge, out=found[block])
        scores[places] += self.judge_bias

    def _rows(self, features: Tensor) -> Tensor:
        """A o above B o + c [n, 2g], for features [n, f] of which o has what is above 0."""
        return nn.functional.linear(features.relu(), self.relate, self._bias())

    def _bias(self) -> Tensor:
        return nn.functional.pad(self.relate_bias, (len(self.relate_bias), 0))

    def _judged(self, rows: Tensor) -> Tensor:
        """The scores of facts [n] whose smallest rows are these [n, 2g]."""
        first, second = rows.chunk(2, 1)
        return (first + second).relu() @ self.judge + self.judge_bias


def _both(units: Tensor, count: int) -> Tensor:
    """Where in a row of ``count`` numbers from A and as many from B these units have theirs."""
    return torch.cat([units, count + units])


def _uniform(bound: float, *shape: int) -> nn.Parameter:
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))
