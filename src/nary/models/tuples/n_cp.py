"""n-CP: the score of m-CP, as the authors of GETD trained it, against all entities."""

from typing import Literal

from pydantic import Field

from nary.config import Settings
from nary.models.contract import Sizes
from nary.models.tuples.m_cp import CP


class NCPSettings(Settings):
    """``[model]`` of a recipe for n-CP."""

    name: Literal["n-cp"] = "n-cp"
    embedding_dim: int = Field(50, ge=1)
    """Of the vector in one slot."""
    dropout: float = Field(0.0, ge=0, lt=1)
    """Of the product, before it is summed."""


class NCP(CP):
    """n-CP: a canonical decomposition of the tensor of all tuples."""

    name = "n-cp"

    def __init__(self, settings: NCPSettings, sizes: Sizes) -> None:
        super().__init__(sizes, settings.embedding_dim, settings.dropout)
