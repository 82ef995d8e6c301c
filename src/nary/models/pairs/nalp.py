"""NaLP: a fact is true if every two of its pairs of role and value are compatible.

The published network looks at all ordered pairs (i, j) of slots, also those with i = j, and takes the minimum
u = min over (i, j) of relu(A o_i + B o_j + c), where o_i depends on slot i only. relu is monotonic, and i and j are
independent, so u = relu(min_i A o_i + min_j (B o_j + c)): it takes a row of numbers for each slot, and the minimum of
these rows.

Shapes: n facts, q queries, k slots of a fact, d width, f filters, g units.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT
from nary.models.base import RELATION_ROWS, DatasetInfo, Kind, Model
from nary.models.batch import Batch, Group, slots_of
from nary.models.pairs.minimum import gather_min

_BLOCK_BYTES = 1 << 20  # of rows of candidates at a time: they should stay in the cache
_MOMENTUM, _EPSILON = 0.1, 1e-3


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
    settings_class = NaLPSettings
    family = "pairs"
    description = "role–value pairs of a fact, compared two by two"
    reference = "Guan et al., Link Prediction on N-ary Relational Data, WWW 2019"
    losses = frozenset({"corruption_bce", "sampled_cross_entropy"})

    def __init__(self, settings: NaLPSettings, info: DatasetInfo) -> None:
        super().__init__(settings, info)
        width, filters, units = settings.embedding_dim, settings.num_filters, settings.fcn_dim
        self.entity = _uniform(width**-0.5, info.num_entities, width)
        self.role = _uniform(width**-0.5, 3 * info.num_relations, width)  # numbered as in slots_of
        self.filters = nn.Parameter(nn.init.trunc_normal_(torch.empty(filters, 2 * width), std=0.1, a=-0.2, b=0.2))
        self.filter_bias = nn.Parameter(torch.zeros(filters))
        self.norm = Norm(filters)
        self.relate = _uniform((6 / (2 * filters + units)) ** 0.5, 2 * units, filters)  # A above B
        self.relate_bias = nn.Parameter(torch.zeros(units))
        self.judge = _uniform((6 / (units + 1)) ** 0.5, units)
        self.judge_bias = nn.Parameter(torch.zeros(()))

    def vocabulary_tables(self) -> dict[str, tuple[Kind, ...]]:
        """Entities, and three roles for each relation."""
        return super().vocabulary_tables() | {"role": 3 * RELATION_ROWS}

    def fact_scores(self, ids: Tensor) -> Tensor:
        """The logits [n] of whole facts of one arity [n, 2m+3]."""
        return self.group_scores([ids])[0]

    def group_scores(self, groups: Sequence[Tensor]) -> list[Tensor]:
        """The logits [n] of whole facts, group by group; every distinct pair goes through the network once."""
        pairs = []
        for ids in groups:
            roles, values = slots_of(ids, self.info.num_relations)
            pairs.append(roles * self.info.num_entities + values)
        flat = torch.cat([part.flatten() for part in pairs])
        distinct, places, counts = torch.unique(flat, return_inverse=True, return_counts=True)
        roles = nn.functional.embedding(distinct // self.info.num_entities, self.role)
        values = nn.functional.embedding(distinct % self.info.num_entities, self.entity)
        features = self.norm(torch.cat([roles, values], 1) @ self.filters.T, counts) + self.filter_bias
        rows = self._rows(features)
        parts = places.split([group.numel() for group in pairs])
        return [self._judged(gather_min(rows, part.view_as(group))) for part, group in zip(parts, pairs, strict=True)]

    @torch.no_grad()
    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """Scores [B, C], with the running statistics of the norm."""
        by_role, by_value = self.filters.chunk(2, 1)
        of_roles = (self.role @ by_role.T - self.norm.mean) * self.norm.scale + self.filter_bias  # [3R, f]
        of_values = (self.entity @ by_value.T) * self.norm.scale  # [E, f]
        return torch.cat([self._score(group, kind, of_roles, of_values) for group in batch.groups])

    def _score(self, group: Group, kind: Kind, of_roles: Tensor, of_values: Tensor) -> Tensor:
        """Scores [n, C], given the parts of roles [3R, f] and of values [E, f] in the features of their pairs."""
        roles, values = slots_of(group.ids, self.info.num_relations)
        by_place = of_roles.view(3, self.info.num_relations, -1)  # roles of subjects, of objects, of values
        scores = of_roles.new_empty(len(roles), len(of_values) if kind == "entity" else self.info.num_relations)
        for column in torch.unique(group.columns).tolist():
            queries = (group.columns == column).nonzero()[:, 0]
            masked = _slots_with(column, group.qualifiers)
            rest = scores.new_full((len(queries), len(self.relate)), torch.inf)  # the minimum over the other slots
            for slot in set(range(roles.shape[1])).difference(masked):
                features = of_roles[roles[queries, slot]] + of_values[values[queries, slot]]
                torch.minimum(rest, self._rows(features), out=rest)
            if kind == "entity":
                candidates, known, of_known = [of_values], roles, of_roles
            else:
                candidates, known, of_known = [by_place[min(slot, 2)] for slot in masked], values, of_values
            distinct, which = torch.unique(known[queries][:, masked], dim=0, return_inverse=True)
            for number, halves in enumerate(of_known[distinct]):
                same = (which == number).nonzero()[:, 0]
                self._compare(list(zip(candidates, halves, strict=True)), rest[same], scores, queries[same])
        return scores

    def _compare(self, pairs: list[tuple[Tensor, Tensor]], rest: Tensor, scores: Tensor, places: Tensor) -> None:
        """Write the rows at ``places`` [q] of ``scores``, for queries with the same masked ``pairs``.

        These have candidates [C, f] for one half, and share the other half [f]. So the rows of the candidates are
        computed once for all queries, a block at a time. They can only lower the minimum ``rest``: a unit that is 0
        without them is 0 with each of them, and is skipped.
        """
        count = len(self.judge)
        alive = rest[:, :count] + rest[:, count:] > 0  # [q, g]
        used = alive.any(0).nonzero()[:, 0]
        relate, bias = self.relate[_both(used, count)], self._bias()[_both(used, count), None]
        queries = []
        for place, others, active in zip(places.tolist(), rest, alive, strict=True):
            units = active.nonzero()[:, 0]
            at = _both(torch.searchsorted(used, units), len(used))
            queries.append((scores[place], at, others[_both(units, count), None], self.judge[units]))
        size = max(1, _BLOCK_BYTES // max(1, len(relate) * scores.element_size()))
        space = scores.new_empty(len(relate) * size)
        for start in range(0, scores.shape[1], size):
            block = slice(start, start + size)
            rows = reduce(
                torch.minimum, (torch.addmm(bias, relate, (table[block] + half).relu_().T) for table, half in pairs)
            )
            for out, at, others, judge in queries:
                smallest = space[: len(at) * rows.shape[1]].view(len(at), rows.shape[1])
                torch.minimum(torch.index_select(rows, 0, at, out=smallest), others, out=smallest)
                first, second = smallest.chunk(2)
                torch.mv(first.add_(second).relu_().T, judge, out=out[block])
        scores[places] += self.judge_bias

    def _rows(self, features: Tensor) -> Tensor:
        """A o and B o + c side by side [n, 2g], with o = relu(features) [n, f]."""
        return nn.functional.linear(features.relu(), self.relate, self._bias())

    def _bias(self) -> Tensor:
        return nn.functional.pad(self.relate_bias, (len(self.relate_bias), 0))

    def _judged(self, rows: Tensor) -> Tensor:
        """The scores of facts [n], given the minimum over the rows of their slots [n, 2g]."""
        first, second = rows.chunk(2, 1)
        return (first + second).relu() @ self.judge + self.judge_bias


class Norm(nn.Module):
    """Batch normalization without parameters, of distinct rows that occur several times each."""

    mean: Tensor
    variance: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("variance", torch.ones(width))

    def forward(self, rows: Tensor, counts: Tensor) -> Tensor:
        """The normalized rows [n, d], each counted as often as ``counts`` [n] says."""
        if not self.training:
            return (rows - self.mean) * self.scale
        rows = rows.to(self.mean.dtype)
        shares = (counts / counts.sum()).to(rows.dtype)[:, None]
        mean = (shares * rows).sum(0)
        variance = (shares * (rows - mean).square()).sum(0)
        with torch.no_grad():
            self.mean.lerp_(mean, _MOMENTUM)
            self.variance.lerp_(variance, _MOMENTUM)
        return (rows - mean) * (variance + _EPSILON).rsqrt()

    @property
    def scale(self) -> Tensor:
        """The factor of each coordinate in evaluation mode [d]."""
        return (self.variance + _EPSILON).rsqrt()


def _slots_with(column: int, qualifiers: int) -> list[int]:
    """The slots that the element in a column is part of: both subject and object for the relation."""
    if column == RELATION:
        return [0, 1]
    if column <= OBJECT:
        return [column - SUBJECT]
    return [2 + (column - FIRST_ATTRIBUTE) % qualifiers]


def _both(units: Tensor, count: int) -> Tensor:
    """The columns of these units in rows with ``count`` numbers from A, then as many from B."""
    return torch.cat([units, count + units])


def _uniform(bound: float, *shape: int) -> nn.Parameter:
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))
