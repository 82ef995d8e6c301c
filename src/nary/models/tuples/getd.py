"""GETD: n-TuckER with a core that is a tensor ring, so that it stays small."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.models.contract import Sizes
from nary.models.tuples.tensor import TensorModel
from nary.models.tuples.tuples import Tuples


class GETDSettings(Settings):
    """``[model]`` of a recipe for GETD; the defaults are those of JF17K-3."""

    name: Literal["getd"] = "getd"
    embedding_dim: int = Field(50, ge=1)
    rank: int = Field(50, ge=1)
    input_dropout: float = Field(0.127, ge=0, lt=1)
    """Of the known entities."""
    hidden_dropout: float = Field(0.502, ge=0, lt=1)
    """Of the query vector."""


class GETD(TensorModel):
    """GETD with a factor for each mode: core[j_0, j_1, ...] = trace(Z_0[:, j_0] Z_1[:, j_1] ...), mode 0 the relation.

    The core is never built: a factor times its vector is a matrix, and the ring without the masked slot is the product
    of these.
    """

    name = "getd"

    def __init__(self, settings: GETDSettings, sizes: Sizes) -> None:
        super().__init__(sizes, settings.embedding_dim, settings.input_dropout, settings.hidden_dropout)
        rank = settings.rank
        for arity in range(2, sizes.max_arity + 1):
            self.by_arity(f"ring_{arity}", arity, (arity + 1, rank, settings.embedding_dim, rank), _start)

    def contract(self, tuples: Tuples, relations: Tensor, entities: Tensor) -> Tensor:
        """The core times the relations [n, d] and known entities [n, k-1, d] of tuples: [n, d]."""
        rows, parts = [], []
        for slot in torch.unique(tuples.slots).tolist():
            own = (tuples.slots == slot).nonzero()[:, 0]
            rows.append(own)
            parts.append(self._around(tuples.arity, slot, [relations[own], *entities[own].unbind(1)]))
        return torch.cat(parts)[torch.cat(rows).argsort()]

    def _around(self, arity: int, slot: int, vectors: list[Tensor]) -> Tensor:
        ring: Tensor = getattr(self, f"ring_{arity}")
        own = slot + 1
        # The trace may be taken from any place of the ring on: here from what follows the masked slot.
        modes = [*range(own + 1, arity + 1), *range(own)]
        chain = None
        for mode, vector in zip(modes, vectors[own:] + vectors[:own], strict=True):
            matrix = torch.einsum("ni,aib->nab", vector, ring[mode])
            chain = matrix if chain is None else chain @ matrix
        return torch.einsum("akb,nba->nk", ring[own], chain)


def _start(ring: Tensor) -> Tensor:
    return nn.init.uniform_(ring, -0.1, 0.1)
