"""Hy-Transformer: a shallow masked transformer over the whole statement, without a graph.

It is GRAN-complete with position embeddings and inverse relations, so it reuses GRAN. R is the number of relations.
"""

from dataclasses import replace
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from nary.config import Settings
from nary.facts.layout import OBJECT, RELATION, SUBJECT
from nary.models.base import DatasetInfo, Kind
from nary.models.batch import Batch, Group
from nary.models.gran import Gran, GranSettings


class HyTransformerSettings(Settings):
    """``[model]`` of a recipe for Hy-Transformer; defaults as in STARE's decoder, which it builds on."""

    name: Literal["hy-transformer"] = "hy-transformer"
    num_layers: int = Field(2, ge=1)
    num_heads: int = Field(4, ge=1)
    hidden_dim: int = Field(200, ge=1)
    ffn_dim: int = Field(512, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)
    partial_embedding: bool = False
    """Add a learned embedding, "there may be more", to the relation of a fact that may have further qualifiers."""


class HyTransformer(Gran):
    """Masked statement -> normalized embeddings with positions -> attention without edges -> the mask -> scores.

    A query for a subject becomes one for the object of the inverse relation, whose embedding is R rows further down.
    """

    name = "hy-transformer"
    settings_class = HyTransformerSettings
    family = "attention"
    description = "a shallow Transformer over the elements of a fact"
    reference = "Yu, Yang, Improving Hyper-Relational Knowledge Graph Completion, arXiv:2104.08167, 2021"
    losses = Gran.losses | {"bce"}

    def __init__(self, settings: HyTransformerSettings, info: DatasetInfo) -> None:
        shared = settings.model_dump(exclude={"name"})
        gran_settings = GranSettings(
            **shared, variant="complete", role_embeddings="position", edge_bias_on="none", head="equation"
        )
        super().__init__(gran_settings, replace(info, num_relations=2 * info.num_relations))
        self.info = info

    def encode(self, batch: Batch) -> Tensor:
        """The vector of each masked element [B, d]."""
        return super().encode(Batch([self._as_object_queries(group) for group in batch.groups]))

    def attention(self, batch: Batch) -> Tensor:
        """The attention weights [n, L, T, T], averaged over heads; in the last layer only the masked element looks."""
        (group,) = batch.groups
        weights = super().attention(Batch([self._as_object_queries(group)]))
        order = _swapped_columns(group)
        asks_subject = (group.columns == SUBJECT)[:, None, None, None]
        return torch.where(asks_subject, weights[:, :, order][..., order], weights)

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        """The embeddings [C, d] and the free biases [C] of all entities, or of all relations without inverses."""
        vectors, biases = super().candidates(kind)
        size = self.info.num_candidates(kind)
        return vectors[:size], biases[:size]

    def _as_object_queries(self, group: Group) -> Group:
        """The same queries, with those for subjects inverted."""
        asks_subject = group.columns == SUBJECT
        rows, order = asks_subject[:, None], _swapped_columns(group)
        inverse = torch.zeros_like(group.ids[:1])
        inverse[:, RELATION] = self.info.num_relations
        ids = torch.where(rows, group.ids[:, order] + inverse, group.ids)
        hidden = None if group.hidden is None else torch.where(rows, group.hidden[:, order], group.hidden)
        return Group(ids, torch.where(asks_subject, OBJECT, group.columns), hidden, group.partial)


def _swapped_columns(group: Group) -> Tensor:
    """The order of the columns with subject and object swapped [T]; it is its own inverse."""
    swapped = {SUBJECT: OBJECT, OBJECT: SUBJECT}
    return torch.tensor([swapped.get(column, column) for column in range(group.ids.shape[1])], device=group.ids.device)
