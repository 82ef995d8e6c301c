"""NeuInfer: is the primary triple valid, and are its qualifiers compatible with it.

Shapes: n facts, q queries, C candidates, d width, h units of a hidden layer, D units for a qualifier.
"""

import math
from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import pairwise
from typing import Literal, cast

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.facts import FactTable
from nary.facts.layout import RELATION, SUBJECT, first_value
from nary.models.base import DatasetInfo, Kind
from nary.models.batch import Batch, Group, slot_of_column, slots_of
from nary.models.pairs.base import PairModel, StackedQueries, embedding_table
from nary.models.pairs.minimum import minimum
from nary.models.pairs.sums import add_clipped_sums

_BLOCK = 1 << 17  # hidden units of a block of candidates; they should fit into the cache together with the next layer
_WHOLE = 1 << 22  # units at a time when whole facts are scored, one for each candidate


class NeuInferSettings(Settings):
    """``[model]`` of a recipe for NeuInfer."""

    name: Literal["neuinfer"] = "neuinfer"
    embedding_dim: int = Field(100, ge=1)
    num_layers: int = Field(2, ge=1)
    """Hidden layers between a triple and its validity, whose sizes decrease linearly."""
    fcn_dim: int = Field(1200, ge=1)
    """The features of a triple together with a qualifier."""
    validity_weight: float = Field(0.1, gt=0, lt=1)
    """The weight of the validity of the triple in a fact with qualifiers; the rest is that of the compatibility."""
    primary: Literal["given", "most-distinct"] = "given"
    """Which two entities of a fact make its triple: subject and object, or those in the two slots that were seen with
    the most distinct entities."""


class NeuInfer(PairModel):
    """Scores a fact with the logit of share * validity + (1 - share) * compatibility, both of which are probabilities.

    The validity is that of the triple x = [subject; relation; object]. The compatibility is computed from the minimum
    of G [x; attribute i; value i] + c over the qualifiers, unit by unit; facts without any have only validity.
    """

    name = "neuinfer"
    settings_class = NeuInferSettings
    description = "validity of the triple, compatibility with each qualifier"
    reference = "Guan et al., NeuInfer: Knowledge Inference on N-ary Facts, ACL 2020"

    def __init__(self, settings: NeuInferSettings, info: DatasetInfo) -> None:
        super().__init__(settings, info)
        self.width, self.share = settings.embedding_dim, settings.validity_weight
        most_distinct = settings.primary == "most-distinct"
        self.primary = PrimaryPair(info.facts, info.num_relations) if most_distinct else None
        self.entity = embedding_table(info.num_entities, self.width)
        self.relation = embedding_table((3 if most_distinct else 1) * info.num_relations, self.width)
        steps = settings.num_layers + 1
        units = [max(1, 3 * self.width * left // steps) for left in range(steps, 0, -1)]
        first, *deeper = (_dense(*both) for both in pairwise(units))
        self.first, self.deeper = first, nn.ModuleList(deeper)
        self.validity = _dense(units[-1], 1)
        self.relate = _dense(5 * self.width, settings.fcn_dim)
        self.compatibility = _dense(settings.fcn_dim, 1)

    def fact_scores(self, ids: Tensor) -> Tensor:
        """The scores [n] of whole facts of one arity [n, 2m+3]."""
        triples, qualifiers = self.embed(ids if self.primary is None else self.primary.arranged(ids))
        validity = self._validity(triples)
        if not qualifiers.shape[1]:
            return validity.double()
        of_triple, of_qualifier = self.relate.weight.tensor_split([3 * self.width], 1)
        by_qualifier = nn.functional.linear(qualifiers.flatten(2), of_qualifier, self.relate.bias)  # [n, m, D]
        units = nn.functional.linear(triples.flatten(1), of_triple) + minimum(by_qualifier.unbind(1))
        return self._mixed(validity, self.compatibility(units.relu())[:, 0])

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """Scores [B, C] of all candidates."""
        if self.primary is None:
            return super().score(batch, kind)
        if kind == "entity":
            return super().score(Batch([self.primary.arranged_group(group) for group in batch.groups]), kind)
        with torch.no_grad():  # each relation decides anew which entities make the triple
            return torch.cat([self._whole_scores(group) for group in batch.groups])

    def score_stacked(self, queries: StackedQueries) -> Tensor:
        """Scores [q, C] of all candidates."""
        validity = self._validities(queries) if queries.qualifier is None else self._validity(queries.triples)[:, None]
        if not queries.qualifiers.shape[1]:
            return validity.double()
        compatibility = self._compatibilities(queries)
        scores = torch.empty_like(compatibility, dtype=torch.float64)
        for row, one, other in zip(scores, validity, compatibility, strict=True):
            row.copy_(self._mixed(one, other))
        return scores

    def _validity(self, triples: Tensor) -> Tensor:
        """The logits of the validity [n] of triples [n, 3, d]."""
        return self._judged(self.first.weight @ triples.flatten(1).T, self.first.bias)

    def _validities(self, queries: StackedQueries) -> Tensor:
        """The logits of the validity [q, C] of triples with a candidate; equal triples are judged once."""
        distinct, which = torch.unique(_sum(self.first, queries.known()), dim=0, return_inverse=True)
        logits = distinct.new_empty(len(distinct), len(queries.candidates))
        size = max(1, _BLOCK // distinct.shape[1])
        for start in range(0, logits.shape[1], size):
            block = slice(start, start + size)
            units = _read(self.first, queries.row, queries.candidates[block]).T.contiguous()
            for number, known in enumerate(distinct):
                logits[number, block] = self._judged(units, known)
        return logits[which]

    def _compatibilities(self, queries: StackedQueries) -> Tensor:
        """The logits of the compatibility [q, C].

        A candidate in the triple changes the units of all qualifiers by the same amount, so that only their minimum
        counts; one in a qualifier changes the units of that qualifier only.
        """
        others = (_sum(self.relate, queries.known(other)) for other in queries.others)
        if queries.qualifier is None:
            shifts, ceilings = reduce(torch.minimum, others), None
        else:
            shifts = _sum(self.relate, queries.known(queries.qualifier))
            ceilings = reduce(torch.minimum, others) if queries.others else None
        scores = self.compatibility.bias.repeat(len(shifts), len(queries.candidates))
        add_clipped_sums(
            scores,
            self.compatibility.weight[0],
            shifts,
            ceilings,
            lambda block: (_read(self.relate, queries.row, queries.candidates[block]), None),
        )
        return scores

    def _whole_scores(self, group: Group) -> Tensor:
        """Scores [q, R] of all relations, by whole facts."""
        size = max(1, _WHOLE // (max(1, group.qualifiers) * self.relate.out_features))
        relations = torch.arange(self.info.num_relations, device=group.ids.device)
        scores = []
        for ids, column in zip(group.ids, group.columns, strict=True):
            facts = ids.repeat(len(relations), 1)
            facts[:, column] = relations
            scores.append(torch.cat([self.fact_scores(part) for part in torch.split(facts, size)]))
        return torch.stack(scores)

    def _judged(self, units: Tensor, shifts: Tensor) -> Tensor:
        """The logits of the validity [n]; the first hidden layer before its relu is ``units`` [h, n] + ``shifts`` [h].

        As relu(u + s) = max(u, -s) + s, the shifts of a layer pass through the next one separately. Columns instead of
        rows, because products with layers of so few units are faster that way.
        """
        for layer in cast(Iterable[nn.Linear], self.deeper):
            units = layer.weight @ torch.maximum(units, -shifts[:, None])
            shifts = layer.bias + layer.weight @ shifts
        (weight,) = self.validity.weight
        return weight @ torch.maximum(units, -shifts[:, None]) + (weight @ shifts + self.validity.bias)

    def _mixed(self, validity: Tensor, compatibility: Tensor) -> Tensor:
        """The logit of the mixture of two probabilities given by their logits.

        In double precision: otherwise a small probability would be lost beside a large one.
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


class PrimaryPair(nn.Module):
    """Reorders the entities of facts by how many distinct ones occur in their roles, most first.

    The first two become subject and object, the others values. A subject or object that becomes a value needs an
    attribute: with R relations, R + r stands for the subject of relation r, and 2R + r for its object. Ties keep the
    order subject, object, attributes by number.
    """

    counts: Tensor
    """The number of distinct entities in each role [3R], numbered as by :func:`slots_of`."""

    def __init__(self, facts: FactTable, num_relations: int) -> None:
        super().__init__()
        self.num_relations = num_relations
        blocks = [torch.from_numpy(block.ids.astype(np.int64)) for block in facts.blocks]
        keys = [
            entities * 3 * num_relations + roles for roles, entities in (slots_of(ids, num_relations) for ids in blocks)
        ]
        distinct = torch.unique(torch.cat([key.flatten() for key in keys]))
        counts = torch.bincount(distinct % (3 * num_relations), minlength=3 * num_relations)
        self.register_buffer("counts", counts, persistent=False)

    def arranged(self, ids: Tensor) -> Tensor:
        """The facts [n, 2m+3] with their primary pair in front."""
        roles, entities = slots_of(ids, self.num_relations)
        order = self._order(roles)
        entities = entities.gather(1, order)
        attributes = (roles + self.num_relations).remainder(len(self.counts)).gather(1, order[:, 2:])
        return torch.cat([ids[:, : RELATION + 1], entities[:, :2], attributes, entities[:, 2:]], 1)

    def arranged_group(self, group: Group) -> Group:
        """The same for facts with a masked entity."""
        slots = slot_of_column(group.columns, group.qualifiers)
        order = self._order(slots_of(group.ids, self.num_relations)[0])
        slots = (order == slots[:, None]).int().argmax(1)
        columns = torch.where(slots < 2, slots + SUBJECT, slots - 2 + first_value(group.qualifiers))
        return Group(self.arranged(group.ids), columns)

    def _order(self, roles: Tensor) -> Tensor:
        """The slot that comes first, second, ... [n, 2+m]."""
        return (roles - self.counts[roles] * len(self.counts)).argsort(dim=1, stable=True)


def _dense(inputs: int, outputs: int) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def _read(layer: nn.Linear, row: int, vectors: Tensor) -> Tensor:
    """The part of one row [n, d] in the outputs of a layer whose input are rows side by side."""
    width = vectors.shape[1]
    return vectors @ layer.weight[:, row * width : (row + 1) * width].T


def _sum(layer: nn.Linear, rows: Mapping[int, Tensor]) -> Tensor:
    """The part of some rows [n, d] and of the bias in the outputs of a layer."""
    return torch.stack([_read(layer, row, vectors) for row, vectors in rows.items()]).sum(0) + layer.bias
