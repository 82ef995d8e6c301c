"""HSimplE: one vector for each entity, rotated by its slot."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.models.contract import Sizes
from nary.models.tuples.multilinear import Multilinear


class HSimplESettings(Settings):
    """``[model]`` of a recipe for HSimplE."""

    name: Literal["hsimple"] = "hsimple"
    embedding_dim: int = Field(200, ge=1)
    dropout: float = Field(0.2, ge=0, lt=1)
    """Of the product, before it is summed."""


class HSimplE(Multilinear):
    """f_i(e) = e, rotated left by i / (largest arity) of its width, i counted from 0."""

    name = "hsimple"

    def __init__(self, settings: HSimplESettings, sizes: Sizes) -> None:
        super().__init__(sizes, settings.embedding_dim, settings.dropout, nn.init.xavier_normal_)
        self.entity = nn.Parameter(nn.init.xavier_normal_(torch.empty(sizes.entities, settings.embedding_dim)))

    def transformed(self, entities: Tensor) -> Tensor:
        """The rotated vectors of the entities [n, k, d]."""
        found = nn.functional.embedding(entities, self.entity)
        slots = torch.arange(entities.shape[1], device=entities.device)
        return found.gather(2, self._places(slots).expand(found.shape))

    def folded(self, products: Tensor, slots: Tensor) -> Tensor:
        """The products rotated back: a rotation of both factors changes no inner product."""
        return products.gather(1, self._places(slots, back=True))

    def _places(self, slots: Tensor, back: bool = False) -> Tensor:
        """Where the coordinates of a vector come from if it is rotated for each of the slots [k, d]."""
        width = self.entity.shape[1]
        shifts = slots * width // self.sizes.max_arity
        places = torch.arange(width, device=slots.device) + (-shifts if back else shifts)[:, None]
        return places % width
