"""What HINGE and NeuInfer share: facts as a triple and its qualifiers, and all candidates of an element at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import torch
from torch import Tensor, nn

from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT
from nary.models.batch import Batch
from nary.models.contract import Kind, Model

ATTRIBUTE, VALUE = 3, 4
"""Rows of a stack, after those of the triple: subject, relation, object."""
_TRIPLE = (SUBJECT, RELATION, OBJECT)
_PART = 1 << 22  # pairs of query and candidate to score at a time


@dataclass(frozen=True, eq=False)
class Asked:
    """Facts of one arity that ask for the same element: ``row`` says which, ``qualifier`` in which one, if in any.

    Their vectors are ``triples`` [n, 3, d] and ``qualifiers`` [n, m, 2, d]; those of the element are not to be looked
    at. The vectors of its candidates are ``candidates`` [C, d].
    """

    triples: Tensor
    qualifiers: Tensor
    row: int
    qualifier: int | None
    candidates: Tensor

    def known(self, qualifier: int | None = None) -> dict[int, Tensor]:
        """The vectors [n, d] of the known rows of the triple, or of the triple with a qualifier."""
        rows = dict(enumerate(self.triples.unbind(1)))
        if qualifier is not None:
            rows[ATTRIBUTE], rows[VALUE] = self.qualifiers[:, qualifier].unbind(1)
        if self.qualifier in (None, qualifier):
            del rows[self.row]
        return rows

    @property
    def others(self) -> list[int]:
        """The qualifiers that the element is no part of."""
        return [number for number in range(self.qualifiers.shape[1]) if number != self.qualifier]


class PairModel(Model):
    """A model that judges whole facts, and learns from them alone.

    The first layer of such a network is linear in every element of a fact. So what the known elements bring to it is
    made once for each query, what a candidate brings once for many queries, and only the rest for each pair of both.
    """

    losses = frozenset({"corruption_bce", "sampled_cross_entropy"})
    entity: Tensor
    relation: Tensor

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """Scores [B, C] of all candidates: what :meth:`fact_scores` gives in evaluation, but without gradients."""
        with torch.no_grad():
            candidates = self.entity if kind == "entity" else self.relation[: self.sizes.relations]
            scores = [self._score(group.ids, group.columns, candidates) for group in batch.groups]
        return scores[0] if len(scores) == 1 else torch.cat(scores)

    def asked_scores(self, asked: Asked) -> Tensor:
        """Scores [n, C] of all candidates."""
        raise NotImplementedError

    def embed(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """The vectors of the triples [n, 3, d] and of the qualifiers [n, m, 2, d] of facts [n, 2m+3]."""
        values = FIRST_ATTRIBUTE + (ids.shape[1] - FIRST_ATTRIBUTE) // 2
        entities = torch.cat([ids[:, SUBJECT : OBJECT + 1], ids[:, values:]], 1)
        relations = torch.cat([ids[:, RELATION : RELATION + 1], ids[:, FIRST_ATTRIBUTE:values]], 1)
        of_entities = nn.functional.embedding(entities, self.entity)
        of_relations = nn.functional.embedding(relations, self.relation)
        triples = torch.stack([of_entities[:, 0], of_relations[:, 0], of_entities[:, 1]], 1)
        return triples, torch.stack([of_relations[:, 1:], of_entities[:, 2:]], 2)

    def _score(self, ids: Tensor, columns: Tensor, candidates: Tensor) -> Tensor:
        """Scores [n, C] for facts of one arity, a few at a time that ask for the same column."""
        scores: Tensor | None = None
        for column in torch.unique(columns).tolist():
            row, qualifier = _place(column, (ids.shape[1] - FIRST_ATTRIBUTE) // 2)
            for own in torch.split((columns == column).nonzero()[:, 0], max(1, _PART // len(candidates))):
                found = self.asked_scores(Asked(*self.embed(ids[own]), row, qualifier, candidates))
                scores = found.new_empty(len(ids), len(candidates)) if scores is None else scores
                scores[own] = found
        if scores is None:
            raise ValueError("a group without facts")
        return scores


def vectors(count: int, width: int) -> nn.Parameter:
    """A table of vectors [count, d] with their published first values."""
    return nn.Parameter(torch.empty(count, width).uniform_(-(width**-0.5), width**-0.5))


def least(features: Sequence[Tensor]) -> Tensor:
    """The least of several arrays, element by element."""
    found: Tensor = reduce(_Least.apply, features)
    return found


class _Least(torch.autograd.Function):
    """``torch.minimum``, several times as fast on the way back: of equal elements the first gets the gradient."""

    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor) -> Tensor:
        found = torch.minimum(first, second)
        ctx.save_for_backward(first, found)
        return found

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        first, found = ctx.saved_tensors
        share = torch.eq(first, found).to(grad.dtype).mul_(grad)
        return share, grad - share


def _place(column: int, qualifiers: int) -> tuple[int, int | None]:
    """The row that a column has in a stack, and the qualifier it belongs to, if to any."""
    if column < FIRST_ATTRIBUTE:
        return _TRIPLE.index(column), None
    half, qualifier = divmod(column - FIRST_ATTRIBUTE, qualifiers)
    return ATTRIBUTE + half, qualifier
