"""m-CP: a vector of its own for each entity in each slot."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.models.contract import Sizes
from nary.models.tuples.multilinear import Multilinear


class MCPSettings(Settings):
    """``[model]`` of a recipe for m-CP."""

    name: Literal["m-cp"] = "m-cp"
    embedding_dim: int = Field(34, ge=1)
    """Of the vector in one slot."""
    dropout: float = Field(0.2, ge=0, lt=1)
    """Of the product, before it is summed."""


class CP(Multilinear):
    """f_i(e) = e's vector for slot i. ``entity`` [E, max_arity * d] holds those of all slots side by side."""

    def __init__(self, sizes: Sizes, width: int, dropout: float) -> None:
        super().__init__(sizes, width, dropout, nn.init.xavier_normal_)
        slots = [nn.init.xavier_normal_(torch.empty(sizes.entities, width)) for _ in range(sizes.max_arity)]
        self.entity = nn.Parameter(torch.cat(slots, 1))

    def transformed(self, entities: Tensor) -> Tensor:
        """The vectors of the entities in their slots [n, k, d]."""
        slots, width = self.sizes.max_arity, self.relation.shape[1]
        rows = entities * slots + torch.arange(entities.shape[1], device=entities.device)
        return nn.functional.embedding(rows, self.entity.view(-1, width))

    def folded(self, products: Tensor, slots: Tensor) -> Tensor:
        """The products in the part of their slot, zeros in the others [n, max_arity * d]."""
        own = nn.functional.one_hot(slots, self.sizes.max_arity).to(products.dtype)
        return (own[..., None] * products[:, None]).flatten(1)


class MCP(CP):
    """m-CP, as the authors of HypE trained it."""

    name = "m-cp"

    def __init__(self, settings: MCPSettings, sizes: Sizes) -> None:
        super().__init__(sizes, settings.embedding_dim, settings.dropout)
