"""Multilinear models: m-DistMult, m-CP, n-CP and HSimplE."""

from functools import reduce
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.models.base import DatasetInfo
from nary.models.entity_tables import xavier_entities
from nary.models.layers import Dropout
from nary.models.tuples.base import Init, TupleModel, xavier_normal
from nary.models.tuples.schemas import Tuples

_HYPE_PAPER = "Fatemi et al., Knowledge Hypergraphs: Prediction Beyond Binary Relations, IJCAI 2020"
_GETD_PAPER = "Liu, Yao, Li, Generalizing Tensor Decomposition for N-ary Relational Knowledge Bases, WWW 2020"


class MultilinearSettings(Settings):
    """What the settings of these models have in common."""

    name: str
    embedding_dim: int = Field(200, ge=1)
    dropout: float = Field(0.2, ge=0, lt=1)
    """Of the product, before it is summed."""
    init_mean: float = Field(0.0, ge=0)
    """The mean of the initial embeddings of entities. At 0, as published, a product says nothing about its elements one
    by one, which makes facts with many elements hard to learn; at 0.5 it does, and generalizes better."""


class Multilinear(TupleModel):
    """Scores a tuple with the sum over the coordinates of r * f_1(e_1) * ... * f_k(e_k).

    A subclass defines :meth:`transform`, the f_i, and :meth:`fold` with fold(g) · e = g · f_i(e), where g is the
    product without slot i.
    """

    family = "multilinear"
    relation: Tensor

    def __init__(
        self, settings: Settings, info: DatasetInfo, width: int, dropout: float, init: Init = xavier_normal
    ) -> None:
        super().__init__(settings, info)
        self.relation = self.schema_parameter((width,), init)
        self.dropout = Dropout(dropout)

    def transform(self, entities: Tensor) -> Tensor:
        """f_i of the entity in each slot: [n, k] -> [n, k, d]."""
        raise NotImplementedError

    def fold(self, products: Tensor, slots: Tensor) -> Tensor:
        """The query vectors for the slots [n], from the products [n, d] without them."""
        raise NotImplementedError

    def products(self, tuples: Tuples) -> Tensor:
        """The product of the relation and of all entities but the masked one [n, d]."""
        return self._products(tuples, self.transform(tuples.entities).masked_fill(tuples.masked[..., None], 1))

    def encode_group(self, tuples: Tuples) -> Tensor:
        """The query vectors of tuples of one arity [n, d]."""
        return self.fold(self.products(tuples), tuples.slots)

    def score_tuples(self, tuples: Tuples) -> Tensor:
        """The scores of whole tuples [n]."""
        return self._products(tuples, self.transform(tuples.entities)).sum(1)

    def _products(self, tuples: Tuples, factors: Tensor) -> Tensor:
        relations = self.schemas.rows(self.relation, tuples.schemas)
        product: Tensor = self.dropout(reduce(torch.mul, factors.unbind(1), relations))
        return product


class MDistMultSettings(MultilinearSettings):
    """``[model]`` of a recipe for m-DistMult."""

    name: Literal["m-distmult"] = "m-distmult"


class MDistMult(Multilinear):
    """f_i(e) = e: the score does not depend on the order of the slots."""

    name = "m-distmult"
    settings_class = MDistMultSettings
    description = "a product of embeddings, the same in each slot"
    reference = _HYPE_PAPER

    def __init__(self, settings: MDistMultSettings, info: DatasetInfo) -> None:
        super().__init__(settings, info, settings.embedding_dim, settings.dropout)
        self.entity = xavier_entities(info, settings.embedding_dim, mean=settings.init_mean)

    def transform(self, entities: Tensor) -> Tensor:
        """The vectors of the entities [n, k, d]."""
        return nn.functional.embedding(entities, self.entity)

    def fold(self, products: Tensor, slots: Tensor) -> Tensor:
        """The products as they are."""
        return products


class CP(Multilinear):
    """f_i(e) = the vector of e for slot i. ``entity`` [E, max_arity * d] holds those of all slots side by side."""

    def __init__(self, settings: MultilinearSettings, info: DatasetInfo) -> None:
        width = settings.embedding_dim
        super().__init__(settings, info, width, settings.dropout)
        slots = [xavier_entities(info, width, mean=settings.init_mean).detach() for _ in range(info.max_arity)]
        self.entity = nn.Parameter(torch.cat(slots, 1))

    def transform(self, entities: Tensor) -> Tensor:
        """The vectors of the entities in their slots [n, k, d]."""
        slots, width = self.info.max_arity, self.relation.shape[1]
        rows = entities * slots + torch.arange(entities.shape[1], device=entities.device)
        return nn.functional.embedding(rows, self.entity.view(-1, width))

    def fold(self, products: Tensor, slots: Tensor) -> Tensor:
        """The products in the part of their slot, zeros in the others [n, max_arity * d]."""
        one_hot = nn.functional.one_hot(slots, self.info.max_arity).to(products.dtype)
        return (one_hot[..., None] * products[:, None]).flatten(1)


class MCPSettings(MultilinearSettings):
    """``[model]`` of a recipe for m-CP."""

    name: Literal["m-cp"] = "m-cp"
    embedding_dim: int = Field(34, ge=1)
    """Of the vector in one slot."""


class MCP(CP):
    """m-CP, as the authors of HypE trained it."""

    name = "m-cp"
    settings_class = MCPSettings
    description = "a product of embeddings, one for each entity in each slot"
    reference = _HYPE_PAPER


class NCPSettings(MultilinearSettings):
    """``[model]`` of a recipe for n-CP."""

    name: Literal["n-cp"] = "n-cp"
    embedding_dim: int = Field(50, ge=1)
    """Of the vector in one slot."""
    dropout: float = Field(0.0, ge=0, lt=1)
    """Of the product, before it is summed."""


class NCP(CP):
    """n-CP: the score of m-CP, as the authors of GETD trained it, against all entities."""

    name = "n-cp"
    settings_class = NCPSettings
    family = "tensor"
    description = "m-CP, trained against all entities"
    reference = _GETD_PAPER


class HSimplESettings(MultilinearSettings):
    """``[model]`` of a recipe for HSimplE."""

    name: Literal["hsimple"] = "hsimple"


class HSimplE(Multilinear):
    """f_i(e) = e, rotated left by i / (largest arity) of its width, i counted from 0."""

    name = "hsimple"
    settings_class = HSimplESettings
    description = "a product of embeddings, shifted by slot"
    reference = _HYPE_PAPER
    supports_longer_facts = False  # the largest arity says how far vectors are rotated

    def __init__(self, settings: HSimplESettings, info: DatasetInfo) -> None:
        super().__init__(settings, info, settings.embedding_dim, settings.dropout)
        self.entity = xavier_entities(info, settings.embedding_dim, mean=settings.init_mean)

    def transform(self, entities: Tensor) -> Tensor:
        """The rotated vectors of the entities [n, k, d]."""
        vectors = nn.functional.embedding(entities, self.entity)
        slots = torch.arange(entities.shape[1], device=entities.device)
        return vectors.gather(2, self._sources(slots).expand(vectors.shape))

    def fold(self, products: Tensor, slots: Tensor) -> Tensor:
        """The products rotated back: rotating both factors does not change an inner product."""
        return products.gather(1, self._sources(slots, back=True))

    def _sources(self, slots: Tensor, back: bool = False) -> Tensor:
        """The coordinate that each coordinate of a vector rotated for a slot comes from [k, d]."""
        width = self.entity.shape[1]
        shifts = slots * width // self.info.max_arity
        sources = torch.arange(width, device=slots.device) + (-shifts if back else shifts)[:, None]
        return sources % width
