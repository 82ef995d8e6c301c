"""Hy-Transformer: a shallow masked transformer over the whole statement, without any graph.

It is GRAN-complete with numbered positions and inverse relations, so it is made of GRAN's parts. R counts relations.
"""

from dataclasses import replace
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from nary.config import Settings
from nary.facts.layout import OBJECT, RELATION, SUBJECT
from nary.models.batch import Batch, Group
from nary.models.contract import Kind, Sizes
from nary.models.gran.model import Gran
from nary.models.gran.settings import GranSettings


class HyTransformerSettings(Settings):
    """``[model]`` of a recipe for Hy-Transformer; the defaults are those of STARE's decoder, which it takes over."""

    name: Literal["hy-transformer"] = "hy-transformer"
    num_layers: int = Field(2, ge=1)
    num_heads: int = Field(4, ge=1)
    hidden_dim: int = Field(200, ge=1)
    ffn_dim: int = Field(512, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)


class HyTransformer(Gran):
    """Masked statement -> normalized embeddings with positions -> attention without edges -> the mask -> scores.

    A missing subject is asked for as the object of the inverse relation, whose embedding is R rows further down.
    """

    name = "hy-transformer"
    losses = Gran.losses | {"bce"}

    def __init__(self, settings: HyTransformerSettings, sizes: Sizes) -> None:
        shared = settings.model_dump(exclude={"name"})
        parts = GranSettings(
            **shared, variant="complete", role_embeddings="position", edge_bias_on="none", head="equation"
        )
        super().__init__(parts, replace(sizes, relations=2 * sizes.relations))
        self.sizes = sizes

    def encode(self, batch: Batch) -> Tensor:
        """The vector of each masked element [B, d]."""
        return super().encode(Batch([self._asked_for_object(group) for group in batch.groups]))

    def attention(self, batch: Batch) -> Tensor:
        """The attention weights [n, L, T, T], averaged over heads; in the last layer only the masked element looks."""
        (group,) = batch.groups
        found = super().attention(Batch([self._asked_for_object(group)]))
        order = _exchanged(group)
        asks_subject = (group.columns == SUBJECT)[:, None, None, None]
        return torch.where(asks_subject, found[:, :, order][..., order], found)

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        """The embeddings [C, d] and the free biases [C] of all entities, or of all relations; no inverse is one."""
        vectors, biases = super().candidates(kind)
        size = self.sizes.entities if kind == "entity" else self.sizes.relations
        return vectors[:size], biases[:size]

    def _asked_for_object(self, group: Group) -> Group:
        """The same queries, those for subjects turned round."""
        asks_subject = group.columns == SUBJECT
        rows, order = asks_subject[:, None], _exchanged(group)
        inverse = torch.zeros_like(group.ids[:1])
        inverse[:, RELATION] = self.sizes.relations
        ids = torch.where(rows, group.ids[:, order] + inverse, group.ids)
        hidden = None if group.hidden is None else torch.where(rows, group.hidden[:, order], group.hidden)
        return Group(ids, torch.where(asks_subject, OBJECT, group.columns), hidden)


def _exchanged(group: Group) -> Tensor:
    """The order of the columns with subject and object in each other's place; it is its own inverse [T]."""
    first = {SUBJECT: OBJECT, OBJECT: SUBJECT}
    return torch.tensor([first.get(column, column) for column in range(group.ids.shape[1])], device=group.ids.device)
