"""GRAN: a fact as a small typed graph, encoded by attention with biases for the types of its edges.

Shapes: B masked facts in a batch, T vertices of one fact, N vertices of the whole batch, d width, H heads, z = d / H.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.errors import SettingError
from nary.facts.graph import EdgeType, edge_matrix
from nary.facts.layout import FIRST_ATTRIBUTE, RELATION
from nary.models.base import ENTITY_ROWS, RELATION_ROWS, DatasetInfo, Kind, Model
from nary.models.batch import Batch, Group, entities_of, relations_of
from nary.models.composition import CompositionResidual
from nary.models.gran_layers import GraphAttentionLayer, Layout, init_weights
from nary.models.layers import Dropout, embed_ids
from nary.models.near_facts import NearFacts
from nary.models.products import Linear
from nary.models.value_rows import ValueRows

_RELATION, _SUBJECT, _OBJECT, _ATTRIBUTE, _VALUE = range(5)
_NEAR_TYPES = 6  # edges of near facts: with vertices of each role, and with each other


class GranSettings(Settings):
    """``[model]`` of a recipe for GRAN; defaults as published. The settings after ``dropout`` are our extensions."""

    name: Literal["gran"] = "gran"
    variant: Literal["hete", "homo", "complete"] = "hete"
    """Edges of four types (hete), edges of one type (homo), or all vertices connected without types (complete)."""
    num_layers: int = Field(12, ge=1)
    num_heads: int = Field(4, ge=1)
    """Attention heads; must divide ``hidden_dim``."""
    hidden_dim: int = Field(256, ge=1)
    """The dimension of all embeddings and hidden vectors."""
    ffn_dim: int = Field(512, ge=1)
    """The dimension of the hidden layer in the feed-forward networks."""
    dropout: float = Field(0.1, ge=0, lt=1)
    role_embeddings: Literal["none", "role", "position"] = "none"
    """Also embed the role of each vertex, or its position (the role and the number of the qualifier)."""
    edge_bias: Literal["shared", "per-head", "per-layer"] = "shared"
    """Whether all layers and heads share the biases of the edge types, or each head or each layer has its own."""
    edge_bias_on: Literal["both", "key", "value", "none"] = "both"
    """Whether the edge biases are added to keys, values, both or neither."""
    pair_edges: bool = False
    """Give pairs of vertices without an edge, and each vertex with itself, their own edge types."""
    norm: Literal["post", "pre"] = "post"
    """Layer norm after each residual connection, or before each sublayer."""
    tie_embeddings: bool = True
    """Score with the embeddings of the candidates instead of a separate table."""
    head: Literal["code", "equation"] = "code"
    """The prediction layer of the published code, or of the paper: without GELU and layer norm."""
    partial_embedding: bool = False
    """Add a learned embedding to the relation of a fact that may have further qualifiers."""
    composition_residual: bool = False
    """Add a linear map of the composed known elements to the masked vertex: subject + relation for an object."""
    near_facts: int = Field(0, ge=0, le=64)
    """Also attend to this many training facts that share elements with the masked fact."""
    value_knots: int = Field(0, ge=0, le=4096)
    """Embed numbers and dates by value, interpolated between this many knots; 0 embeds them as entities."""


class Gran(Model):
    """Masked fact -> embeddings -> graph attention -> the masked vertex -> scores of all candidates."""

    name = "gran"
    settings_class: ClassVar[type[Settings]] = GranSettings
    family = "attention"
    description = "attention over the graph of a fact, with edge-type biases"
    reference = "Wang et al., Link Prediction on N-ary Relational Facts: A Graph-based Approach, Findings of ACL 2021"
    supports_multiple_masks = True
    settings: GranSettings

    def __init__(self, settings: GranSettings, info: DatasetInfo) -> None:
        super().__init__(settings, info)
        if settings.hidden_dim % settings.num_heads:
            raise SettingError(
                f"model.hidden_dim is {settings.hidden_dim}, which {settings.num_heads} heads cannot share evenly",
                "Choose a multiple of model.num_heads.",
            )
        self.num_relations = info.num_relations
        self.max_qualifiers = max(1, info.max_arity - 2)
        width = settings.hidden_dim
        # Three tables, not one: the gradient of a look-up is as large as its table.
        self.mask_embedding = nn.Parameter(torch.empty(1, width))
        self.relation_embedding = nn.Parameter(torch.empty(info.num_relations, width))
        self.entity_embedding = nn.Parameter(torch.empty(info.num_entity_rows, width))
        self.role_embedding = _table(self._role_count(), width)
        self.partial_embedding = _table(int(settings.partial_embedding), width)
        self.input_norm = nn.LayerNorm(width, eps=1e-12)
        self.dropout = Dropout(settings.dropout)
        last = settings.num_layers - 1
        self.layers = nn.ModuleList(
            GraphAttentionLayer(settings, number == last) for number in range(settings.num_layers)
        )
        tables = settings.num_layers if settings.edge_bias == "per-layer" else 1
        heads = settings.num_heads if settings.edge_bias == "per-head" else 1
        shape = (heads, edge_type_count(settings), width // settings.num_heads)
        self.edge_key = _table(tables if settings.edge_bias_on in ("both", "key") else 0, *shape)
        self.edge_value = _table(tables if settings.edge_bias_on in ("both", "value") else 0, *shape)
        self.composition = CompositionResidual(width) if settings.composition_residual else None
        self.head_transform = Linear(width, width)
        self.head_norm = nn.LayerNorm(width, eps=1e-12) if settings.head == "code" else None
        self.output_norm = nn.LayerNorm(width, eps=1e-12) if settings.norm == "pre" else None
        self.output_bias = nn.Parameter(torch.zeros(info.num_relations + info.num_entity_rows))
        self.output_embedding = _table(0 if settings.tie_embeddings else len(self.output_bias), width)
        if settings.value_knots and not settings.tie_embeddings:
            raise SettingError("model.value_knots needs tied embeddings", "Set model.tie_embeddings=true.")
        self.value_rows = None
        if settings.value_knots and info.scales.names:
            self.value_rows = ValueRows(info.scales, info.facts, info.num_entities, settings.value_knots, width)
        self.near_facts = NearFacts(settings.near_facts, info, width) if settings.near_facts else None
        init_weights(self)
        if self.near_facts is not None:
            self.near_facts.reset_parameters()

    def encode(self, batch: Batch) -> Tensor:
        """The vector of each masked vertex after the prediction layer [B, d]."""
        return self._encode(*self._pack(batch))

    def attention(self, batch: Batch) -> Tensor:
        """The attention weights [n, L, T, T], averaged over heads; in the last layer, only the masked vertex attends.

        The weights of near facts are left out.
        """
        (group,) = batch.groups
        layout, vertices, residual = self._pack(batch)
        weights: list[Tensor] = []
        self._encode(replace(layout, weights=weights), vertices, residual)
        size, width = group.ids.shape
        attention = vertices.new_zeros(size, len(self.layers), width, width)
        for layer, by_vertex in enumerate(weights[:-1]):
            attention[:, layer] = by_vertex[:, :width, :width]
        attention[torch.arange(size), -1, group.columns] = weights[-1][:, 0, :width]
        return attention

    def _encode(self, layout: Layout, vertices: Tensor, residual: Tensor | None) -> Tensor:
        """The embeddings of all vertices [N, d] -> the masked ones after the prediction layer [B, d]."""
        x = self.dropout(self.input_norm(vertices))  # [N, d]
        shared = self.settings.edge_bias != "per-layer"
        tables = self._edge_tables(0)
        for number, layer in enumerate(self.layers):
            x = layer(x, layout, *(tables if shared else self._edge_tables(number)))  # [B, d] after the last one
        if self.output_norm is not None:
            x = self.output_norm(x)
        if residual is not None:
            x = x + self.dropout(residual)
        x = self.head_transform(x)
        if self.head_norm is not None:
            x = self.head_norm(nn.functional.gelu(x))
        return x

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        """The embeddings [C, d] and the free biases [C] of all entities, or of all relations."""
        rows = slice(self.num_relations, None) if kind == "entity" else slice(self.num_relations)
        if self.output_embedding is not None:
            return self.output_embedding[rows], self.output_bias[rows]
        if kind == "entity":
            return self._entity_rows()
        return self.relation_embedding, self.output_bias[rows]

    def _entity_rows(self) -> tuple[Tensor, Tensor]:
        """The embeddings [E, d] and free biases [E] of all entities, those of literals by their value if wanted."""
        bias = self.output_bias[self.num_relations :]
        if self.value_rows is None:
            return self.entity_embedding, bias
        return self.value_rows(self.entity_embedding, bias)

    def vocabulary_tables(self) -> dict[str, tuple[Kind, ...]]:
        """The embeddings, and the tables of the prediction layer."""
        rows = RELATION_ROWS * (self.num_relations // self.info.num_relations) + ENTITY_ROWS
        output = {name: rows for name in ("output_bias", "output_embedding") if getattr(self, name) is not None}
        return super().vocabulary_tables() | output

    def entity_tables(self) -> dict[str, int]:
        """None if literals are embedded by their value or other facts are read: rows for a few entities do not do."""
        return super().entity_tables() if self.value_rows is None and self.near_facts is None else {}

    @property
    def learns_new_rows(self) -> bool:
        """Always."""
        return True

    @property
    def embeds_values(self) -> bool:
        """Whether ``value_knots`` is set and there are literals."""
        return self.value_rows is not None

    def _pack(self, batch: Batch) -> tuple[Layout, Tensor, Tensor | None]:
        """The layout of the batch, the embeddings of all its vertices [N, d], and the composition residual [B, d]."""
        masked, edges, masked_edges, start = [], [], [], 0
        heads = self.settings.num_heads
        sizes = [(group.ids.shape[0], group.ids.shape[1] + self.settings.near_facts) for group in batch.groups]
        for group, (size, width) in zip(batch.groups, sizes, strict=True):
            masked.append(start + width * torch.arange(size, device=group.ids.device) + group.columns)
            types = torch.from_numpy(edge_types(group.qualifiers, self.settings)).to(group.ids.device)
            edges.append(types.expand(size * heads, -1, -1))
            masked_edges.append(types[group.columns].repeat_interleave(heads, 0)[:, None])
            start += size * width
        layout = Layout(sizes, edges, torch.cat(masked), masked_edges)
        vertices, residuals = zip(*self._embed(batch), strict=True)
        residual = None if self.composition is None else torch.cat(residuals)
        return layout, torch.cat([one.flatten(0, 1) for one in vertices]), residual

    def _embed(self, batch: Batch) -> Iterator[tuple[Tensor, Tensor | None]]:
        """The embedding of each vertex [n, T, d], and the composition residual [n, d], group by group."""
        near = [] if self.near_facts is None else [self.near_facts.find(group) for group in batch.groups]
        relation_ids = [relations_of(group.ids) for group in batch.groups] + [
            one.relations.clamp(min=0) for one in near
        ]
        entity_ids = [entities_of(group.ids) for group in batch.groups] + [one.entities.clamp(min=0) for one in near]
        of_relations = list(embed_ids(self.relation_embedding, relation_ids))
        of_entities = list(embed_ids(self._entity_rows()[0], entity_ids))
        for number, group in enumerate(batch.groups):
            relations, entities = of_relations[number], of_entities[number]
            known = torch.cat([relations[:, :1], entities[:, :2], relations[:, 1:], entities[:, 2:]], 1)
            residual = None if self.composition is None else self.composition(group, known)
            vertices = torch.where(group.unknown[..., None], self.mask_embedding, known)
            if self.role_embedding is not None:
                vertices = vertices + nn.functional.embedding(self._roles(group), self.role_embedding)
            if self.partial_embedding is not None and group.partial is not None:
                vertices[:, RELATION] += group.partial[:, None] * self.partial_embedding
            if self.near_facts is not None:
                after = len(batch.groups) + number
                others = self.near_facts(near[number], of_relations[after], of_entities[after])
                vertices = torch.cat([vertices, others], 1)
            yield vertices, residual

    def _roles(self, group: Group) -> Tensor:
        """The row of the role embedding of each vertex [T]."""
        roles = torch.from_numpy(vertex_roles(group.qualifiers)).to(group.ids.device)
        if self.settings.role_embeddings == "position":  # longer facts than in the data share the last rows
            number = torch.arange(group.qualifiers).clamp(max=self.max_qualifiers - 1).repeat(2)
            roles[FIRST_ATTRIBUTE:] += 2 * number.to(roles.device)
        return roles

    def _role_count(self) -> int:
        return {"none": 0, "role": 5, "position": 3 + 2 * self.max_qualifiers}[self.settings.role_embeddings]

    def _edge_tables(self, layer: int) -> tuple[Tensor | None, Tensor | None]:
        """The key and value biases of one layer [types + 1, z], or [H, types + 1, z] per head; type 0 is zero."""

        def with_zero(tables: Tensor | None) -> Tensor | None:
            if tables is None:
                return None
            table = tables[layer]
            table = torch.cat([torch.zeros_like(table[:, :1]), table], dim=1)
            return table if self.settings.edge_bias == "per-head" else table[0]

        return with_zero(self.edge_key), with_zero(self.edge_value)


def _table(rows: int, *shape: int) -> nn.Parameter | None:
    return nn.Parameter(torch.empty(rows, *shape)) if rows else None


def vertex_roles(qualifiers: int) -> npt.NDArray[np.int64]:
    """The role of each vertex [T]: 0 relation, 1 subject, 2 object, 3 attribute, 4 value."""
    return np.array([_RELATION, _SUBJECT, _OBJECT, *[_ATTRIBUTE] * qualifiers, *[_VALUE] * qualifiers])


@lru_cache(maxsize=256)
def edge_types(qualifiers: int, settings: GranSettings) -> npt.NDArray[np.int64]:
    """The type of the edge between each two vertices [T, T]; type 0 has no bias."""
    types = edge_matrix(qualifiers, settings.variant)
    if settings.pair_edges:
        roles = vertex_roles(qualifiers)
        low, high = np.minimum.outer(roles, roles), np.maximum.outer(roles, roles)
        by_roles = len(EdgeType) + low * 5 + high  # a type for each pair of roles
        types = np.where(types == EdgeType.NONE, by_roles, types)
        np.fill_diagonal(types, len(EdgeType) + 25)
    return _with_near_facts(types, qualifiers, settings) if settings.near_facts else types


def _with_near_facts(types: npt.NDArray[np.int64], qualifiers: int, settings: GranSettings) -> npt.NDArray[np.int64]:
    """The types with those of the edges of near facts, which come after the vertices of the fact [T + k, T + k]."""
    last = edge_type_count(settings)
    whole = np.pad(types, (0, settings.near_facts), constant_values=last)
    by_role = last - _NEAR_TYPES + 1 + vertex_roles(qualifiers)
    whole[: len(types), len(types) :] = by_role[:, None]
    whole[len(types) :, : len(types)] = by_role
    return whole


def edge_type_count(settings: GranSettings) -> int:
    """The number of edge types that have a bias; type 0 is not one of them."""
    near = _NEAR_TYPES if settings.near_facts else 0
    return near + (len(EdgeType) + 25 if settings.pair_edges else len(EdgeType) - 1)
