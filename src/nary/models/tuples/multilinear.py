"""What the multilinear models share: the sum of relation * entity * entity * ..., each entity changed by its slot."""

from functools import reduce

import torch
from torch import Tensor

from nary.models.contract import Sizes
from nary.models.dropout import Dropout
from nary.models.tuples.base import Start, TupleModel
from nary.models.tuples.tuples import Tuples


class Multilinear(TupleModel):
    """Scores a tuple with the sum over the coordinates of r * f_1(e_1) * ... * f_k(e_k).

    A model says what its f_i are, and what becomes of a product g without slot i, so that folded(g) · e is g · f_i(e).
    """

    relation: Tensor

    def __init__(self, sizes: Sizes, width: int, dropout: float, start: Start) -> None:
        super().__init__(sizes)
        self.by_schema("relation", (width,), start)
        self.dropout = Dropout(dropout)

    def transformed(self, entities: Tensor) -> Tensor:
        """f_i of the entity in each slot: [n, k] -> [n, k, d]."""
        raise NotImplementedError

    def folded(self, products: Tensor, slots: Tensor) -> Tensor:
        """The query vectors of the products [n, d] of all but the slots [n]."""
        raise NotImplementedError

    def products(self, tuples: Tuples) -> Tensor:
        """The product of the relation and of all entities but the masked one [n, d]."""
        return self._products(tuples, self.transformed(tuples.entities).masked_fill(tuples.masked[..., None], 1))

    def encode_one(self, tuples: Tuples) -> Tensor:
        """The query vectors of tuples of one arity [n, d]."""
        return self.folded(self.products(tuples), tuples.slots)

    def score_tuples(self, tuples: Tuples) -> Tensor:
        """The scores of whole tuples [n]."""
        return self._products(tuples, self.transformed(tuples.entities)).sum(1)

    def _products(self, tuples: Tuples, factors: Tensor) -> Tensor:
        relations = self.schemas.rows(self.relation, tuples.schemas)
        product: Tensor = self.dropout(reduce(torch.mul, factors.unbind(1), relations))
        return product
