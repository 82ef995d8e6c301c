"""HypE: entities pass through convolution filters of their slot, then through a projection shared by all slots."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.errors import SettingError
from nary.models.base import DatasetInfo, Kind
from nary.models.batch import Batch
from nary.models.entity_tables import xavier_entities
from nary.models.layers import Dropout
from nary.models.tuples.base import xavier_uniform
from nary.models.tuples.multilinear import Multilinear
from nary.models.tuples.schemas import Tuples

_FILTER_BOUND = 7**-0.5  # the published filters are a linear map of seven numbers that encode the slot


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

    Below, c counts filters, p the places a filter is applied at, and t the coordinates it reads there. A stride larger
    than the filter size leaves coordinates of e unread: as published, every other one.
    """

    name = "hype"
    settings_class = HypESettings
    description = "a product of embeddings, with convolutions for each slot"
    reference = "Fatemi et al., Knowledge Hypergraphs: Prediction Beyond Binary Relations, IJCAI 2020"
    settings: HypESettings
    _read: Tensor
    _place: Tensor

    def __init__(self, settings: HypESettings, info: DatasetInfo) -> None:
        width, size = settings.embedding_dim, settings.filter_size
        if size > width:
            raise SettingError(
                f"model.filter_size is {size}, but model.embedding_dim only {width}", "Choose a smaller one."
            )
        super().__init__(settings, info, width, settings.dropout, xavier_uniform)
        self.entity = xavier_entities(info, width, "uniform")
        filters = torch.empty(info.max_arity + 1, settings.num_filters, size).uniform_(-_FILTER_BOUND, _FILTER_BOUND)
        self.filters = nn.Parameter(filters[1:] + filters[:1])  # [slot, c, t]; the published map has a bias
        starts = range(0, width - size + 1, settings.stride)
        self.projection = nn.Linear(settings.num_filters * len(starts), width)  # of (c, p)
        self.input_dropout = Dropout(settings.input_dropout)
        coordinates = [start + t for start in starts for t in range(size)]  # that a filter reads, by (p, t)
        read = sorted(set(coordinates))
        self.register_buffer("_read", torch.tensor(read), persistent=False)
        self.register_buffer("_place", torch.tensor([read.index(one) for one in coordinates]), persistent=False)

    def transform(self, entities: Tensor) -> Tensor:
        """f_i of the entity in each slot [n, k, d]."""
        vectors = self.input_dropout(nn.functional.embedding(entities, self.entity))
        read = vectors.unfold(2, self.settings.filter_size, self.settings.stride)  # [n, k, p, t]
        filtered = torch.einsum("nkpt,kct->nkcp", read, self.filters[: entities.shape[1]])
        projected: Tensor = self.projection(filtered.flatten(2))
        return projected

    def fold(self, products: Tensor, slots: Tensor) -> Tensor:
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
        """The product of all but the masked element with the bias [n, 1], which query vectors do not include."""
        if tuples.arity not in self.arities:
            return self.entity.new_zeros(len(tuples), 1)
        return (self.products(tuples) @ self.projection.bias)[:, None]
