"""RAM: a role for each slot of each relation, mixed from a few basic ones, and several vectors for each entity."""

from collections.abc import Sequence
from functools import reduce
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.models.base import DatasetInfo
from nary.models.entity_tables import xavier_entities
from nary.models.layers import Dropout, embed_ids
from nary.models.tuples.base import TupleModel, xavier_normal
from nary.models.tuples.schemas import Tuples


class RAMSettings(Settings):
    """``[model]`` of a recipe for RAM."""

    name: Literal["ram"] = "ram"
    embedding_dim: int = Field(50, ge=1)
    """Of one part of an entity."""
    num_parts: int = Field(2, ge=1)
    """The number of vectors of an entity."""
    num_bases: int = Field(10, ge=1)
    """The number of basic roles that all roles are mixed from."""
    role_dropout: float = Field(0.2, ge=0, lt=1)
    entity_dropout: float = Field(0.4, ge=0, lt=1)


class RAM(TupleModel):
    """Scores a tuple with the sum over roles a of u_a · product over slots i of (sum over parts j of P_a[i, j] e_ij).

    The role vector u_a and the pattern P_a are mixtures, with the same weights, of K basic vectors and K basic
    patterns. An entity has M parts of width d.
    """

    name = "ram"
    settings_class = RAMSettings
    family = "multilinear"
    description = "products of multi-part embeddings; roles are mixtures of basis roles"
    reference = "Liu, Yao, Li, Role-Aware Modeling for N-ary Relational Knowledge Bases, WWW 2021"

    def __init__(self, settings: RAMSettings, info: DatasetInfo) -> None:
        super().__init__(settings, info)
        parts, bases = settings.num_parts, settings.num_bases
        self.parts = parts
        self.entity = xavier_entities(info, parts * settings.embedding_dim)
        self.basis = nn.Parameter(xavier_normal(torch.empty(bases, settings.embedding_dim)))
        self.weights = self.schema_parameter((info.max_arity, bases), xavier_normal)
        for arity in range(2, info.max_arity + 1):
            self.add_arity_parameter(f"pattern_{arity}", arity, (bases, arity, parts), xavier_normal)
        self.role_dropout = Dropout(settings.role_dropout)
        self.entity_dropout = Dropout(settings.entity_dropout)

    def encode_tuples(self, groups: Sequence[Tuples]) -> Tensor:
        """The query vectors of tuples of known arities [B, M d]."""
        entities = embed_ids(self.entity, [tuples.entities for tuples in groups])
        return torch.cat([self._encode_group(*pair) for pair in zip(groups, entities, strict=True)])

    def _encode_group(self, tuples: Tuples, entities: Tensor) -> Tensor:
        """The query vectors of tuples of one arity [n, M d], with the vectors of their entities [n, i, M d]."""
        arity = tuples.arity
        weights = self.schemas.rows(self.weights, tuples.schemas)[:, :arity].softmax(2)  # [n, a, K]
        roles = self.role_dropout(weights @ self.basis)  # [n, a, d]
        patterns = getattr(self, f"pattern_{arity}").flatten(1).softmax(1)  # over slots and parts at once
        patterns = (weights @ patterns).unflatten(2, (arity, self.parts))  # [n, a, i, M]
        entities = self.entity_dropout(entities).unflatten(2, (self.parts, -1))  # [n, i, M, d]
        mixed = torch.einsum("naij,nijd->niad", patterns, entities).masked_fill(tuples.masked[..., None, None], 1)
        products = reduce(torch.mul, mixed.unbind(1), roles)  # [n, a, d]
        rows = torch.arange(len(tuples), device=tuples.slots.device)
        return torch.einsum("naj,nad->njd", patterns[rows, :, tuples.slots], products).flatten(1)
