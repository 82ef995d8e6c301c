"""HINGE: convolutions over the primary triple, and over the triple with each qualifier.

Shapes: n facts, q queries, C candidates, d width, F filters, P places that a filter is put to, L features at a time.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.models.contract import Sizes
from nary.models.pairs.base import Asked, PairModel, least, vectors
from nary.models.pairs.convolution import SPAN, Convolution, Filters
from nary.models.pairs.sums import add_clipped_sums

_FEATURES = 2048  # at a time, when candidates are scored


class HingeSettings(Settings):
    """``[model]`` of a recipe for HINGE."""

    name: Literal["hinge"] = "hinge"
    embedding_dim: int = Field(100, ge=4)
    num_filters: int = Field(400, ge=1)


class Hinge(PairModel):
    """Scores a fact with w · relu(least of a and all b_i) + w0.

    The features a [P, F] are what filters give for [subject; relation; object], the features b_i what other filters
    give for [subject; relation; object; attribute i; value i], both normalized over the batch. A filter reads three
    neighboring coordinates of all rows.
    """

    name = "hinge"

    def __init__(self, settings: HingeSettings, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.entity = vectors(sizes.entities, settings.embedding_dim)
        self.relation = vectors(sizes.relations, settings.embedding_dim)
        self.triple, self.pair = Convolution(3, settings.num_filters), Convolution(5, settings.num_filters)
        start = torch.empty(1, (settings.embedding_dim - SPAN + 1) * settings.num_filters)
        self.weight = nn.Parameter(nn.init.xavier_normal_(start))  # [1, P F]
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
            features = least([first, *rest.view(*qualifiers.shape[:2], *first.shape[1:]).unbind(1)])  # [n, P, F]
            scores.append(nn.functional.linear(features.flatten(1).relu(), self.weight, self.bias)[:, 0])
        return scores

    def asked_scores(self, asked: Asked) -> Tensor:
        """Scores [q, C] of all candidates, a few filters at a time."""
        weight = self.weight.view(-1, len(self.triple.scale))  # [P, F]
        scores = self.bias.repeat(len(asked.triples), len(asked.candidates))
        size = max(1, _FEATURES // len(weight))
        parts = (torch.split(weight, size, 1), self.triple.in_evaluation(size), self.pair.in_evaluation(size))
        for own, triple, pair in zip(*parts, strict=True):
            _add(scores, asked, own.flatten(), triple, pair)
        return scores


def _add(scores: Tensor, asked: Asked, weight: Tensor, triple: Filters, pair: Filters) -> None:
    """Add what some filters contribute to the scores [q, C].

    The candidate is in one row. In a row of a qualifier it changes the features of that qualifier alone. In a row of
    the triple it changes those of all qualifiers by the same, so that only the least of these counts.
    """
    row, table = asked.row, asked.candidates
    qualifiers = (pair.sum(asked.known(other)) for other in asked.others)
    if asked.qualifier is not None:
        known = reduce(torch.minimum, qualifiers, triple.sum(asked.known()))
        shifts = pair.sum(asked.known(asked.qualifier))
        add_clipped_sums(scores, weight, shifts, known, lambda block: (pair.read(row, table[block]), None))
    elif asked.others:
        shifts, known = triple.sum(asked.known()), reduce(torch.minimum, qualifiers)
        add_clipped_sums(
            scores, weight, shifts, known, lambda block: (triple.read(row, table[block]), pair.read(row, table[block]))
        )
    else:
        shifts = triple.sum(asked.known())
        add_clipped_sums(scores, weight, shifts, None, lambda block: (triple.read(row, table[block]), None))
