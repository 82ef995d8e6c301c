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
    embedding_dim: int = Field(50, ge=1)
    input_dropout: float = Field(0.2, ge=0, lt=1)
    """Of the known entities."""
    hidden_dropout: float = Field(0.5, ge=0, lt=1)
    """Of the query vector."""
    max_core_size: float = Field(1e7, ge=1)
    """How many numbers a core may have; one that would have more reads the first coordinates of all vectors only."""


class NTuckER(TensorModel):
    """n-TuckER, with a core for each arity."""

    name = "n-tucker"

    def __init__(self, settings: NTuckERSettings, sizes: Sizes) -> None:
        super().__init__(sizes, settings.embedding_dim, settings.input_dropout, settings.hidden_dropout)
        self.largest_core = settings.max_core_size
        for arity in range(2, sizes.max_arity + 1):
            self.by_arity(f"core_{arity}", arity, (self.side(arity),) * (arity + 1), _start)

    def side(self, arity: int) -> int:
        """How many coordinates the core of an arity reads: all, or as many as it may have."""
        return max(side for side in range(1, self.width + 1) if side == 1 or side ** (arity + 1) <= self.largest_core)

    def encode_tuples(self, tuples: Sequence[Tuples]) -> Tensor:
        """The query vectors of tuples [B, d], zero at coordinates that a core does not read."""
        sides = torch.cat([own.slots.new_full((len(own), 1), self.side(own.arity)) for own in tuples])
        return super().encode_tuples(tuples) * (torch.arange(self.width, device=sides.device) < sides)

    def contract(self, tuples: Tuples, relations: Tensor, entities: Tensor) -> Tensor:
        """The core times the relations [n, d] and known entities [n, k-1, d] of tuples: [n, d]."""
        core: Tensor = getattr(self, f"core_{tuples.arity}")
        side = core.shape[0]
        # The relations first: a batch has few, and each turns the core into a small tensor that all its facts share.
        kinds, kind = torch.unique(tuples.schemas, dim=0, return_inverse=True)
        first = kind.new_zeros(len(kinds)).scatter_(0, kind, torch.arange(len(kind), device=kind.device))
        tensors = (relations[first, :side] @ core.flatten(1)).unbind(0)
        known = entities[..., :side]
        parts = kind * tuples.arity + tuples.slots
        order = parts.argsort()
        found, sizes = [], torch.bincount(parts).tolist()
        for part, rows in enumerate(order.split(sizes)):
            if sizes[part]:
                of, slot = divmod(part, tuples.arity)
                found.append(_fill(tensors[of], known[rows, :slot], known[rows, slot:], side))
        return nn.functional.pad(torch.cat(found)[order.argsort()], (0, self.width - side))


def _fill(tensor: Tensor, before: Tensor, after: Tensor, side: int) -> Tensor:
    """A tensor times the vectors [n, m, d] of the slots before and after the masked one: [n, d]."""
    left, right = _outer(before), _outer(after)
    # The larger side first, as a product with a view: what is left is small.
    if left.shape[1] > right.shape[1]:
        rest = (left @ tensor.view(left.shape[1], -1)).view(len(left), side, -1)
        return (rest @ right[:, :, None])[:, :, 0]
    rest = (right @ tensor.view(-1, right.shape[1]).T).view(len(right), -1, side)
    return (left[:, None] @ rest)[:, 0]


def _outer(vectors: Tensor) -> Tensor:
    """The outer product of vectors [n, m, d], flat: [n, d^m]."""
    product = vectors.new_ones(len(vectors), 1)
    for vector in vectors.unbind(1):
        product = (product[:, :, None] * vector[:, None]).flatten(1)
    return product


def _start(core: Tensor) -> Tensor:
    return nn.init.uniform_(core, -0.1, 0.1)
