"""n-TuckER: the tensor of all tuples of an arity, with a full core."""

from collections.abc import Sequence
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.models.contract import Sizes
from nary.models.tuples.tensor import TensorModel
from nary.models.tuples.tuples import Tuples


class NTuckERSettings(Settings):
    """``[model]`` of a recipe for n-TuckER."""

    name: Literal["n-tucker"] = "n-tucker"
    width: int = Field(50, ge=1)
    input_dropout: float = Field(0.2, ge=0, lt=1)
    """Of the known entities."""
    hidden_dropout: float = Field(0.5, ge=0, lt=1)
    """Of the query vector."""
    largest_core: float = Field(1e7, ge=1)
    """How many numbers a core may have; one that would have more reads the first coordinates of all vectors only."""


class NTuckER(TensorModel):
    """n-TuckER, with a core for each arity."""

    name = "n-tucker"

    def __init__(self, settings: NTuckERSettings, sizes: Sizes) -> None:
        super().__init__(sizes, settings.width, settings.input_dropout, settings.hidden_dropout)
        self.largest_core = settings.largest_core
        for arity in range(2, sizes.max_arity + 1):
            self.by_arity(f"core_{arity}", arity, (self.side(arity),) * (arity + 1), _start)

    def side(self, arity: int) -> int:
        """How many coordinates the core of an arity reads: all, or as many as it may have."""
        return max(side for side in range(1, self.width + 1) if side == 1 or side ** (arity + 1) <= self.largest_core)

    def encode(self, tuples: Sequence[Tuples]) -> Tensor:
        """The query vectors of tuples [B, d], zero at coordinates that a core does not read."""
        sides = torch.cat([own.slots.new_full((len(own), 1), self.side(own.arity)) for own in tuples])
        return super().encode(tuples) * (torch.arange(self.width, device=sides.device) < sides)

    def contract(self, arity: int, slot: int, relations: Tensor, entities: Tensor) -> Tensor:
        """The core times relations [n, d] and the entities [n, k-1, d] of all but one slot: [n, d]."""
        core: Tensor = getattr(self, f"core_{arity}")
        side = core.shape[0]
        relation, first, *others = (x[:, :side] for x in (relations, *entities.unbind(1)))
        # Two vectors at once: with the relation alone, a part of the core as large as n - 1 slots would be made a fact.
        pairs = (relation[:, :, None] * first[:, None]).flatten(1)
        found = pairs @ core.movedim(slot + 1, -1).reshape(side * side, -1)
        for vector in others:
            found = (vector[:, None] @ found.view(len(found), side, -1))[:, 0]
        return nn.functional.pad(found, (0, self.width - side))


def _start(core: Tensor) -> Tensor:
    return nn.init.uniform_(core, -0.1, 0.1)
