"""What the tensor models share: a core for each arity, multiplied with the vectors of all but the masked slot."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nary.models.contract import Sizes
from nary.models.dropout import Dropout
from nary.models.tuples.base import TupleModel
from nary.models.tuples.tuples import Tuples


class TensorModel(TupleModel):
    """Query vector = core x relation x known entities; all arities share the vectors.

    As in the authors' code the vectors that enter the core are normalized over the batch, and so is what comes out of
    it; candidates are not. So the score of a whole fact depends, a little, on which element is asked for.
    """

    relation: Tensor

    def __init__(self, sizes: Sizes, width: int, input_dropout: float, hidden_dropout: float) -> None:
        super().__init__(sizes)
        self.width = width
        self.entity = nn.Parameter(_small(torch.empty(sizes.entities, width)))
        self.by_schema("relation", (width,), _small)
        self.relation_norm, self.entity_norm, self.query_norm = (_Norm(width) for _ in range(3))
        self.input_dropout = Dropout(input_dropout)
        self.hidden_dropout = Dropout(hidden_dropout)

    def contract(self, tuples: Tuples, relations: Tensor, entities: Tensor) -> Tensor:
        """The core of an arity times the relations [n, d] and known entities [n, k-1, d] of tuples: [n, d]."""
        raise NotImplementedError

    def encode_tuples(self, tuples: Sequence[Tuples]) -> Tensor:
        """The query vectors of tuples [B, d]; norms are taken over all of them at once."""
        relations = torch.cat([self.schemas.rows(self.relation, own.schemas) for own in tuples])
        relations = self.relation_norm(relations)
        entities = nn.functional.embedding(torch.cat([own.known.flatten() for own in tuples]), self.entity)
        entities = self.input_dropout(self.entity_norm(entities))
        parts = zip(
            tuples,
            relations.split([len(own) for own in tuples]),
            entities.split([own.known.numel() for own in tuples]),
            strict=True,
        )
        found = torch.cat([self.contract(own, r, e.view(len(own), -1, self.width)) for own, r, e in parts])
        queries: Tensor = self.hidden_dropout(self.query_norm(found))
        return queries


class _Norm(nn.BatchNorm1d):
    """Batch norm that takes a single vector, which has no variance, as in evaluation."""

    def forward(self, x: Tensor) -> Tensor:
        if self.training and len(x) == 1:
            return nn.functional.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias)
        return super().forward(x)


def _small(tensor: Tensor) -> Tensor:
    return nn.init.normal_(tensor, std=1e-3)
