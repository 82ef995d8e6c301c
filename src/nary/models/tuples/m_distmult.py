"""m-DistMult: one vector for each entity, whatever its slot."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.models.contract import Sizes
from nary.models.tuples.multilinear import Multilinear


class MDistMultSettings(Settings):
    """``[model]`` of a recipe for m-DistMult."""

    name: Literal["m-distmult"] = "m-distmult"
    embedding_dim: int = Field(200, ge=1)
    dropout: float = Field(0.2, ge=0, lt=1)
    """Of the product, before it is summed."""


class MDistMult(Multilinear):
    """f_i(e) = e: the score does not see the order of the slots."""

    name = "m-distmult"

    def __init__(self, settings: MDistMultSettings, sizes: Sizes) -> None:
        super().__init__(sizes, settings.embedding_dim, settings.dropout, nn.init.xavier_normal_)
        self.entity = nn.Parameter(nn.init.xavier_normal_(torch.empty(sizes.entities, settings.embedding_dim)))

    def transformed(self, entities: Tensor) -> Tensor:
        """The vectors of the entities [n, k, d]."""
        return nn.functional.embedding(entities, self.entity)

    def folded(self, products: Tensor, slots: Tensor) -> Tensor:
        """The products as they are."""
        return products
