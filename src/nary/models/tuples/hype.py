"""HypE: entities go through convolution filters of their slot, then through one projection for all."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.errors import SettingError
from nary.models.batch import Batch
from nary.models.contract import Kind, Sizes
from nary.models.dropout import Dropout
from nary.models.tuples.multilinear import Multilinear
from nary.models.tuples.tuples import Tuples

_START = 7**-0.5  # the published filters are a linear map of seven numbers that say which slot it is


class HypESettings(Settings):
    """``[model]`` of a recipe for HypE."""

    name: Literal["hype"] = "hype"
    embedding_dim: int = Field(200, ge=1)
    num_filters: int = Field(6, ge=1)
    filter_size: int = Field(1, ge=1)
    stride: int = Field(2, ge=1)
    input_dropout: float = Field(0.2, ge=0, lt=1)
    """Of the entities."""
    dropout: float = Field(0.2, ge=0, lt=1)
    """Of the product, before it is summed."""


class HypE(Multilinear):
    """f_i(e) = P flatten(e * filters of slot i) + b.

    Below, c counts filters, p the places a filter is put to, and t the coordinates it reads there. A stride larger than
    a filter is wide leaves coordinates of e that nothing reads: as published, every other one.
    """

    name = "hype"
    _read: Tensor
    _place: Tensor

    def __init__(self, settings: HypESettings, sizes: Sizes) -> None:
        width, size = settings.embedding_dim, settings.filter_size
        if size > width:
            raise SettingError(
                f"model.filter_size is {size}, but model.hidden_dim only {width}", "Choose a smaller one."
            )
        super().__init__(sizes, width, settings.dropout, nn.init.xavier_uniform_)
        self.settings = settings
        self.entity = nn.Parameter(nn.init.xavier_uniform_(torch.empty(sizes.entities, width)))
        filters = torch.empty(sizes.max_arity + 1, settings.num_filters, size).uniform_(-_START, _START)
        self.filters = nn.Parameter(filters[1:] + filters[:1])  # [slot, c, t]; the published map has a bias
        starts = range(0, width - size + 1, settings.stride)
        self.projection = nn.Linear(settings.num_filters * len(starts), width)  # of (c, p)
        self.input_dropout = Dropout(settings.input_dropout)
        coordinates = [start + t for start in starts for t in range(size)]  # that a filter reads, by (p, t)
        read = sorted(set(coordinates))
        self.register_buffer("_read", torch.tensor(read), persistent=False)
        self.register_buffer("_place", torch.tensor([read.index(one) for one in coordinates]), persistent=False)

    def transformed(self, entities: Tensor) -> Tensor:
        """f_i of the entity in each slot [n, k, d]."""
        vectors = self.input_dropout(nn.functional.embedding(entities, self.entity))
        read = vectors.unfold(2, self.settings.filter_size, self.settings.stride)  # [n, k, p, t]
        filtered = torch.einsum("nkpt,kct->nkcp", read, self.filters[: entities.shape[1]])
        found: Tensor = self.projection(filtered.flatten(2))
        return found

    def folded(self, products: Tensor, slots: Tensor) -> Tensor:
        """The products sent back through projection and filters, to the coordinates that are read [n, d']."""
        back = (products @ self.projection.weight).view(len(products), self.settings.num_filters, -1)  # [n, c, p]
        read = torch.einsum("ncp,nct->npt", back, self.filters[slots]).flatten(1)
        return read.new_zeros(len(read), len(self._read)).index_add(1, self._place, read)

    def entity_vectors(self) -> Tensor:
        """The coordinates of the entities that are read [E, d']."""
        return self.entity.index_select(1, self._read)

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """Scores [B, E], with what the bias of the projection adds to all of a fact's candidates alike."""
        return super().score(batch, kind).add_(torch.cat([self._constant(Tuples.of(group)) for group in batch.groups]))

    def _constant(self, tuples: Tuples) -> Tensor:
        """The product of all but the masked element with the bias [n, 1]; query vectors have no place for it."""
        if tuples.arity not in self.arities:
            return self.entity.new_zeros(len(tuples), 1)
        return (self.products(tuples) @ self.projection.bias)[:, None]
