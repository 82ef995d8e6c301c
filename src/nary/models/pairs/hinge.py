"""HINGE: convolutions over the primary triple, and over the triple with each qualifier.

Shapes: n facts or stacks, q queries, C candidates, d width, F filters (f of them), P = d - 2 places that a filter is
applied at, L features at a time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.models.base import DatasetInfo
from nary.models.pairs.base import PairModel, StackedQueries, embedding_table
from nary.models.pairs.minimum import minimum
from nary.models.pairs.sums import add_clipped_sums

SPAN = 3
"""The neighboring coordinates of each row that a filter reads."""
_MOMENTUM, _EPSILON = 0.1, 1e-5
_FEATURES = 2048  # at a time, when candidates are scored


class HingeSettings(Settings):
    """``[model]`` of a recipe for HINGE."""

    name: Literal["hinge"] = "hinge"
    embedding_dim: int = Field(100, ge=4)
    num_filters: int = Field(400, ge=1)


@dataclass(frozen=True, eq=False)
class Filters:
    """Some filters [f, rows, 3] with their biases [f]; both include the batch norm."""

    weight: Tensor
    bias: Tensor

    def read(self, row: int, vectors: Tensor) -> Tensor:
        """The part of a row [n, d] in the features [n, P f]."""
        windows = vectors.unfold(1, SPAN, 1).flatten(0, 1)  # one matrix product is faster than a batch of them
        return (windows @ self.weight[:, row].T).view(len(vectors), -1)

    def sum(self, rows: Mapping[int, Tensor]) -> Tensor:
        """The part of some rows [n, d] and of the biases in the features [n, P f]."""
        parts = [self.read(row, vectors) for row, vectors in rows.items()]
        return torch.stack(parts).sum(0) + self.bias.repeat(parts[0].shape[1] // len(self.bias))


class Convolution(nn.Module):
    """F filters as high as the stack, and a batch norm.

    The output of a filter is linear in its input, so its mean and variance over a batch follow from those of the
    windows it is applied to. They are few numbers, and the norm becomes part of the filters: the features need not be
    normalized in a pass of their own.
    """

    mean: Tensor
    variance: Tensor

    def __init__(self, rows: int, filters: int) -> None:
        super().__init__()
        empty = torch.empty(filters, rows, SPAN)
        self.filters = nn.Parameter(nn.init.trunc_normal_(empty, std=0.1, a=-0.2, b=0.2))
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
        """The filters, normalized with the running statistics, in parts of ``size`` filters."""
        filters = self._normalized(self.mean, self.variance)
        parts = zip(torch.split(filters.weight, size), torch.split(filters.bias, size), strict=True)
        return [Filters(weight, bias) for weight, bias in parts]

    def _normalized(self, mean: Tensor, variance: Tensor) -> Filters:
        scale = self.scale * (variance + _EPSILON).rsqrt()
        return Filters(self.filters * scale[:, None, None], self.shift - mean * scale)

    def _moments(self, windows: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance [F] of the features of windows [N, rows * 3]; updates the running statistics."""
        filters, center = self.filters.flatten(1), windows.mean(0)
        centered = windows - center
        mean = filters @ center
        variance = (filters @ (centered.T @ centered / len(windows)) * filters).sum(1)
        with torch.no_grad():
            self.mean.lerp_(mean, _MOMENTUM)
            self.variance.lerp_(variance * len(windows) / (len(windows) - 1), _MOMENTUM)
        return mean, variance


class Hinge(PairModel):
    """Scores a fact with w · relu(min of a and all b_i) + w0.

    The features a [P, F] are the outputs of filters over [subject; relation; object], the features b_i those of other
    filters over [subject; relation; object; attribute i; value i], both normalized over the batch. A filter reads three
    neighboring coordinates of all rows.
    """

    name = "hinge"
    settings_class = HingeSettings
    description = "convolutions over the triple, and over the triple with each qualifier"
    reference = (
        "Rosso, Yang, Cudré-Mauroux, Beyond Triplets: Hyper-Relational Knowledge Graph Embedding for Link Prediction, "
        "WWW 2020"
    )

    def __init__(self, settings: HingeSettings, info: DatasetInfo) -> None:
        super().__init__(settings, info)
        self.entity = embedding_table(info.num_entities, settings.embedding_dim)
        self.relation = embedding_table(info.num_relations, settings.embedding_dim)
        self.triple, self.pair = Convolution(3, settings.num_filters), Convolution(5, settings.num_filters)
        empty = torch.empty(1, (settings.embedding_dim - SPAN + 1) * settings.num_filters)
        self.weight = nn.Parameter(nn.init.xavier_normal_(empty))  # [1, P F]
        self.bias = nn.Parameter(torch.zeros(1))

    def fact_scores(self, ids: Tensor) -> Tensor:
        """The scores [n] of whole facts of one arity [n, 2m+3]."""
        return self.group_scores([ids])[0]

    def group_scores(self, groups: Sequence[Tensor]) -> list[Tensor]:
        """The scores [n] of whole facts, group by group; in training features are normalized over all of them."""
        embedded = [self.embed(ids) for ids in groups]
        stacks = [
            torch.cat([triples[:, None].expand(-1, qualifiers.shape[1], -1, -1), qualifiers], 2).flatten(0, 1)
            for triples, qualifiers in embedded
        ]
        of_triples = torch.split(self.triple(torch.cat([triples for triples, _ in embedded])), [*map(len, groups)])
        of_pairs = torch.split(self.pair(torch.cat(stacks)), [*map(len, stacks)])
        scores = []
        for first, rest, (_, qualifiers) in zip(of_triples, of_pairs, embedded, strict=True):
            features = minimum([first, *rest.view(*qualifiers.shape[:2], *first.shape[1:]).unbind(1)])  # [n, P, F]
            scores.append(nn.functional.linear(features.flatten(1).relu(), self.weight, self.bias)[:, 0])
        return scores

    def score_stacked(self, queries: StackedQueries) -> Tensor:
        """Scores [q, C] of all candidates, a few filters at a time."""
        weight = self.weight.view(-1, len(self.triple.scale))  # [P, F]
        scores = self.bias.repeat(len(queries.triples), len(queries.candidates))
        size = max(1, _FEATURES // len(weight))
        parts = (torch.split(weight, size, 1), self.triple.in_evaluation(size), self.pair.in_evaluation(size))
        for weights, triple, pair in zip(*parts, strict=True):
            _add(scores, queries, weights.flatten(), triple, pair)
        return scores


def _add(scores: Tensor, queries: StackedQueries, weight: Tensor, triple: Filters, pair: Filters) -> None:
    """Add the part of some filters to the scores [q, C].

    A candidate in a row of a qualifier changes the features of that qualifier only. In a row of the triple it changes
    those of all qualifiers by the same amount, so that only their minimum counts.
    """
    row, table = queries.row, queries.candidates
    others = (pair.sum(queries.known(other)) for other in queries.others)
    if queries.qualifier is not None:
        known = reduce(torch.minimum, others, triple.sum(queries.known()))
        shifts = pair.sum(queries.known(queries.qualifier))
        add_clipped_sums(scores, weight, shifts, known, lambda block: (pair.read(row, table[block]), None))
    elif queries.others:
        shifts, known = triple.sum(queries.known()), reduce(torch.minimum, others)
        add_clipped_sums(
            scores, weight, shifts, known, lambda block: (triple.read(row, table[block]), pair.read(row, table[block]))
        )
    else:
        shifts = triple.sum(queries.known())
        add_clipped_sums(scores, weight, shifts, None, lambda block: (triple.read(row, table[block]), None))
