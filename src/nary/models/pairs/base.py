"""The base class of HINGE and NeuInfer: facts as a triple and its qualifiers, and scores of all candidates at once."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT, num_qualifiers
from nary.models.base import Kind, Model
from nary.models.batch import Batch, entities_of, relations_of

ATTRIBUTE, VALUE = 3, 4
"""Rows of a stack, after those of the triple: subject, relation, object."""
_TRIPLE = (SUBJECT, RELATION, OBJECT)
_PART = 1 << 22  # pairs of query and candidate to score at a time


@dataclass(frozen=True, eq=False)
class StackedQueries:
    """Facts of one arity with the same element masked: ``row`` says which, ``qualifier`` in which qualifier, if any.

    Their vectors are ``triples`` [n, 3, d] and ``qualifiers`` [n, m, 2, d]; those of the masked element must not be
    used. The vectors of its candidates are ``candidates`` [C, d].
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
        """The qualifiers without the masked element."""
        return [number for number in range(self.qualifiers.shape[1]) if number != self.qualifier]


class PairModel(Model):
    """A model that scores whole facts, and is trained on whole facts only.

    The first layer of such a network is linear in every element of a fact. So the part of the known elements is
    computed once for each query, that of a candidate once for many queries, and only the rest for each pair of both.
    """

    family = "pairs"
    losses = frozenset({"corruption_bce", "sampled_cross_entropy"})
    entity: Tensor
    relation: Tensor

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """Scores [B, C] of all candidates: those of :meth:`fact_scores` in evaluation mode, without gradients."""
        with torch.no_grad():
            candidates = self.entity if kind == "entity" else self.relation[: self.info.num_relations]
            scores = [self._score(group.ids, group.columns, candidates) for group in batch.groups]
        return scores[0] if len(scores) == 1 else torch.cat(scores)

    def score_stacked(self, queries: StackedQueries) -> Tensor:
        """Scores [n, C] of all candidates."""
        raise NotImplementedError

    def embed(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """The vectors of the triples [n, 3, d] and of the qualifiers [n, m, 2, d] of facts [n, 2m+3]."""
        entities = nn.functional.embedding(entities_of(ids), self.entity)
        relations = nn.functional.embedding(relations_of(ids), self.relation)
        triples = torch.stack([entities[:, 0], relations[:, 0], entities[:, 1]], 1)
        return triples, torch.stack([relations[:, 1:], entities[:, 2:]], 2)

    def _score(self, ids: Tensor, columns: Tensor, candidates: Tensor) -> Tensor:
        """Scores [n, C] for facts of one arity, in parts with the same masked column."""
        scores: Tensor | None = None
        for column in torch.unique(columns).tolist():
            row, qualifier = _place(column, num_qualifiers(ids.shape[1]))
            for rows in torch.split((columns == column).nonzero()[:, 0], max(1, _PART // len(candidates))):
                part = self.score_stacked(StackedQueries(*self.embed(ids[rows]), row, qualifier, candidates))
                scores = part.new_empty(len(ids), len(candidates)) if scores is None else scores
                scores[rows] = part
        if scores is None:
            raise ValueError("a group without facts")
        return scores


def embedding_table(count: int, width: int) -> nn.Parameter:
    """A table of vectors [count, d], initialized as published."""
    return nn.Parameter(torch.empty(count, width).uniform_(-(width**-0.5), width**-0.5))


def _place(column: int, qualifiers: int) -> tuple[int, int | None]:
    """The row of a stack that a column is in, and the qualifier it belongs to, if any."""
    if column < FIRST_ATTRIBUTE:
        return _TRIPLE.index(column), None
    half, qualifier = divmod(column - FIRST_ATTRIBUTE, qualifiers)
    return ATTRIBUTE + half, qualifier
