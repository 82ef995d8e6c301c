"""NeuInfer: is the primary triple valid, and do its qualifiers go with it.

Shapes: n facts, q queries, C candidates, d width, h units of a hidden layer, D units for a qualifier.
"""

import math
from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import pairwise
from typing import Literal, cast

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.facts import FactTable
from nary.models.batch import Batch, Group
from nary.models.contract import Kind, Sizes
from nary.models.pairs.base import Asked, PairModel, least, vectors
from nary.models.pairs.primary import Primary
from nary.models.pairs.sums import add_clipped_sums

_BLOCK = 1 << 17  # hidden units of a block of candidates; a processor's cache holds them and the next layer
_WHOLE = 1 << 22  # units to make at a time when whole facts are scored, one for each candidate


class NeuInferSettings(Settings):
    """``[model]`` of a recipe for NeuInfer."""

    name: Literal["neuinfer"] = "neuinfer"
    embedding_dim: int = Field(100, ge=1)
    num_layers: int = Field(2, ge=1)
    """Hidden layers between a triple and its validity, each smaller than the one before by the same."""
    fcn_dim: int = Field(1200, ge=1)
    """What is made of a triple together with a qualifier."""
    validity_weight: float = Field(0.1, gt=0, lt=1)
    """What the validity of the triple counts in a fact with qualifiers; the rest is what its compatibility counts."""
    primary: Literal["given", "most-distinct"] = "given"
    """Which two entities of a fact make its triple: subject and object, or those in the two slots that were seen with
    the most distinct entities."""


class NeuInfer(PairModel):
    """Scores a fact with the logit of share * validity + (1 - share) * compatibility, both of which are probabilities.

    The validity is that of the triple x = [subject; relation; object]. The compatibility comes from the least of
    G [x; attribute i; value i] + c over the qualifiers, unit by unit; facts without any have only validity.
    """

    name = "neuinfer"

    def __init__(self, settings: NeuInferSettings, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.width, self.share = settings.embedding_dim, settings.validity_weight
        self.primary = Primary(sizes.relations) if settings.primary == "most-distinct" else None
        self.entity = vectors(sizes.entities, self.width)
        self.relation = vectors((3 if self.primary else 1) * sizes.relations, self.width)
        steps = settings.num_layers + 1
        units = [max(1, 3 * self.width * left // steps) for left in range(steps, 0, -1)]
        first, *deeper = (_dense(*both) for both in pairwise(units))
        self.first, self.deeper = first, nn.ModuleList(deeper)
        self.validity = _dense(units[-1], 1)
        self.relate = _dense(5 * self.width, settings.fcn_dim)
        self.compatibility = _dense(settings.fcn_dim, 1)

    def prepare(self, train: FactTable) -> None:
        """Count what decides which entities make the triple."""
        if self.primary is not None:
            self.primary.count(train)

    def fact_scores(self, ids: Tensor) -> Tensor:
        """The scores [n] of whole facts of one arity [n, 2m+3]."""
        triples, qualifiers = self.embed(ids if self.primary is None else self.primary.arranged(ids))
        validity = self._validity(triples)
        if not qualifiers.shape[1]:
            return validity.double()
        of_triple, of_qualifier = self.relate.weight.tensor_split([3 * self.width], 1)
        own = nn.functional.linear(qualifiers.flatten(2), of_qualifier, self.relate.bias)  # [n, m, D]
        units = nn.functional.linear(triples.flatten(1), of_triple) + least(own.unbind(1))
        return self._mixed(validity, self.compatibility(units.relu())[:, 0])

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """Scores [B, C] of all candidates."""
        if self.primary is None:
            return super().score(batch, kind)
        if kind == "entity":
            return super().score(Batch([self.primary.arranged_group(group) for group in batch.groups]), kind)
        with torch.no_grad():  # each relation decides anew which entities make the triple
            return torch.cat([self._whole_scores(group) for group in batch.groups])

    def asked_scores(self, asked: Asked) -> Tensor:
        """Scores [q, C] of all candidates."""
        validity = self._validities(asked) if asked.qualifier is None else self._validity(asked.triples)[:, None]
        if not asked.qualifiers.shape[1]:
            return validity.double()
        found = self._compatibilities(asked)
        scores = torch.empty_like(found, dtype=torch.float64)
        for row, one, other in zip(scores, validity, found, strict=True):
            row.copy_(self._mixed(one, other))
        return scores

    def _validity(self, triples: Tensor) -> Tensor:
        """The logits of the validity [n] of triples [n, 3, d]."""
        return self._judged(self.first.weight @ triples.flatten(1).T, self.first.bias)

    def _validities(self, asked: Asked) -> Tensor:
        """The logits of the validity [q, C] of triples with a candidate; equal triples are judged once."""
        distinct, which = torch.unique(_sum(self.first, asked.known()), dim=0, return_inverse=True)
        found = distinct.new_empty(len(distinct), len(asked.candidates))
        size = max(1, _BLOCK // distinct.shape[1])
        for start in range(0, found.shape[1], size):
            block = slice(start, start + size)
            own = _read(self.first, asked.row, asked.candidates[block]).T.contiguous()
            for number, known in enumerate(distinct):
                found[number, block] = self._judged(own, known)
        return found[which]

    def _compatibilities(self, asked: Asked) -> Tensor:
        """The logits of the compatibility [q, C].

        A candidate in the triple changes the units of all qualifiers by the same, so that only the least of these
        counts; one in a qualifier changes only those of its own.
        """
        others = (_sum(self.relate, asked.known(other)) for other in asked.others)
        if asked.qualifier is None:
            shifts, ceilings = reduce(torch.minimum, others), None
        else:
            shifts = _sum(self.relate, asked.known(asked.qualifier))
            ceilings = reduce(torch.minimum, others) if asked.others else None
        scores = self.compatibility.bias.repeat(len(shifts), len(asked.candidates))
        add_clipped_sums(
            scores,
            self.compatibility.weight[0],
            shifts,
            ceilings,
            lambda block: (_read(self.relate, asked.row, asked.candidates[block]), None),
        )
        return scores

    def _whole_scores(self, group: Group) -> Tensor:
        """Scores [q, R] of all relations, by whole facts."""
        size = max(1, _WHOLE // (max(1, group.qualifiers) * self.relate.out_features))
        relations = torch.arange(self.sizes.relations, device=group.ids.device)
        found = []
        for ids, column in zip(group.ids, group.columns, strict=True):
            facts = ids.repeat(len(relations), 1)
            facts[:, column] = relations
            found.append(torch.cat([self.fact_scores(own) for own in torch.split(facts, size)]))
        return torch.stack(found)

    def _judged(self, units: Tensor, shifts: Tensor) -> Tensor:
        """The logits of the validity [n]; ``units`` [h, n] + ``shifts`` [h] are what the first hidden layer gives.

        As relu(u + s) = max(u, -s) + s, the shifts of a layer go through the next one by themselves. Columns, not rows:
        products with layers of so few units are faster that way.
        """
        for layer in cast(Iterable[nn.Linear], self.deeper):
            units = layer.weight @ torch.maximum(units, -shifts[:, None])
            shifts = layer.bias + layer.weight @ shifts
        (weight,) = self.validity.weight
        return weight @ torch.maximum(units, -shifts[:, None]) + (weight @ shifts + self.validity.bias)

    def _mixed(self, validity: Tensor, compatibility: Tensor) -> Tensor:
        """The logit of the mixture of two probabilities given by their logits.

        In double precision: where one probability is large, a small other one would not be seen beside it.
        """
        one, other = validity.double(), compatibility.double()
        sides = [
            torch.logaddexp(
                nn.functional.logsigmoid(sign * one) + math.log(self.share),
                nn.functional.logsigmoid(sign * other) + math.log1p(-self.share),
            )
            for sign in (1, -1)
        ]
        return sides[0] - sides[1]


def _dense(inputs: int, outputs: int) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def _read(layer: nn.Linear, row: int, own: Tensor) -> Tensor:
    """What one of the rows [n, d] that a layer gets side by side adds to its outputs."""
    width = own.shape[1]
    return own @ layer.weight[:, row * width : (row + 1) * width].T


def _sum(layer: nn.Linear, rows: Mapping[int, Tensor]) -> Tensor:
    """What some rows [n, d] and the bias add to the outputs of a layer."""
    return torch.stack([_read(layer, row, own) for row, own in rows.items()]).sum(0) + layer.bias
