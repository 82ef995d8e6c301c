"""GRAN, as the published code computes it, on mixed arities without padding.

Shapes: B masked facts in a batch, T vertices of one fact, N vertices of the whole batch, d width, H heads, z = d / H.
"""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor, nn

from nary.errors import SettingError
from nary.models.batch import Batch, Group
from nary.models.contract import Kind, Model, Sizes
from nary.models.dropout import Dropout
from nary.models.gran.edges import edge_type_count, edge_types, vertex_roles
from nary.models.gran.layers import GraphAttentionLayer, Layout, init_weights
from nary.models.gran.settings import GranSettings
from nary.models.lookup import look_up


class Gran(Model):
    """Masked fact -> embeddings -> graph attention -> the masked vertex -> scores of all candidates."""

    name = "gran"
    supports_multiple_masks = True

    def __init__(self, settings: GranSettings, sizes: Sizes) -> None:
        super().__init__()
        if settings.hidden_dim % settings.num_heads:
            raise SettingError(
                f"model.hidden_dim is {settings.hidden_dim}, which {settings.num_heads} heads cannot share evenly",
                "Choose a multiple of model.num_heads.",
            )
        self.settings = settings
        self.sizes = sizes
        self.relations = sizes.relations
        self.max_qualifiers = max(1, sizes.max_arity - 2)
        width = settings.hidden_dim
        # Apart from each other, so that no gradient of one is spread out to the rows of all.
        self.mask_embedding = nn.Parameter(torch.empty(1, width))
        self.relation_embedding = nn.Parameter(torch.empty(sizes.relations, width))
        self.entity_embedding = nn.Parameter(torch.empty(sizes.entities, width))
        self.role_embedding = _table(self._role_count(), width)
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
        self.head_transform = nn.Linear(width, width)
        self.head_norm = nn.LayerNorm(width, eps=1e-12) if settings.head == "code" else None
        self.output_norm = nn.LayerNorm(width, eps=1e-12) if settings.norm == "pre" else None
        self.output_bias = nn.Parameter(torch.zeros(sizes.relations + sizes.entities))
        self.output_embedding = _table(0 if settings.tie_embeddings else sizes.relations + sizes.entities, width)
        init_weights(self)

    def encode(self, batch: Batch) -> Tensor:
        """The vector of each masked vertex after the prediction layer [B, d]."""
        return self._encode(*self._pack(batch))

    def attention(self, batch: Batch) -> Tensor:
        """The attention weights [n, L, T, T], averaged over heads; in the last layer only the masked vertex looks."""
        (group,) = batch.groups
        layout, vertices = self._pack(batch)
        weights: list[Tensor] = []
        self._encode(replace(layout, weights=weights), vertices)
        size, width = group.ids.shape
        found = vertices.new_zeros(size, len(self.layers), width, width)
        for layer, own in enumerate(weights[:-1]):
            found[:, layer] = own
        found[torch.arange(size), -1, group.columns] = weights[-1][:, 0]
        return found

    def _encode(self, layout: Layout, vertices: Tensor) -> Tensor:
        """The embeddings of all vertices [N, d] -> the masked ones after the prediction layer [B, d]."""
        x = self.dropout(self.input_norm(vertices))  # [N, d]
        shared = self.settings.edge_bias != "per-layer"
        tables = self._edge_tables(0)
        for number, layer in enumerate(self.layers):
            x = layer(x, layout, *(tables if shared else self._edge_tables(number)))  # [B, d] after the last one
        if self.output_norm is not None:
            x = self.output_norm(x)
        x = self.head_transform(x)
        if self.head_norm is not None:
            x = self.head_norm(nn.functional.gelu(x))
        return x

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        """The embeddings [C, d] and the free biases [C] of all entities, or of all relations."""
        own = slice(self.relations, None) if kind == "entity" else slice(self.relations)
        if self.output_embedding is not None:
            return self.output_embedding[own], self.output_bias[own]
        return self.entity_embedding if kind == "entity" else self.relation_embedding, self.output_bias[own]

    def _pack(self, batch: Batch) -> tuple[Layout, Tensor]:
        """The layout of the batch and the embeddings of all its vertices [N, d]."""
        masked, edges, start = [], [], 0
        for group in batch.groups:
            size, width = group.ids.shape
            masked.append(start + width * torch.arange(size, device=group.ids.device) + group.columns)
            edges.append(torch.from_numpy(edge_types(group.qualifiers, self.settings)).to(group.ids.device))
            start += size * width
        sizes = [(group.ids.shape[0], group.ids.shape[1]) for group in batch.groups]
        masked_edges = [own[group.columns][:, None, None] for own, group in zip(edges, batch.groups, strict=True)]
        layout = Layout(sizes, [own[None, None] for own in edges], torch.cat(masked), masked_edges)
        return layout, torch.cat([vertices.flatten(0, 1) for vertices in self._embed(batch)])

    def _embed(self, batch: Batch) -> Iterator[Tensor]:
        """The embedding of each vertex [n, T, d], group by group."""
        ids = [(group.ids, 3 + group.qualifiers) for group in batch.groups]  # and where values begin
        of_relations = look_up(self.relation_embedding, [torch.cat([x[:, :1], x[:, 3:m]], 1) for x, m in ids])
        of_entities = look_up(self.entity_embedding, [torch.cat([x[:, 1:3], x[:, m:]], 1) for x, m in ids])
        for group, relations, entities in zip(batch.groups, of_relations, of_entities, strict=True):
            found = torch.cat([relations[:, :1], entities[:, :2], relations[:, 1:], entities[:, 2:]], 1)
            unknown = torch.zeros_like(group.ids, dtype=torch.bool).scatter(1, group.columns[:, None], True)
            if group.hidden is not None:
                unknown = unknown | group.hidden
            found = torch.where(unknown[..., None], self.mask_embedding, found)
            if self.role_embedding is not None:
                found = found + nn.functional.embedding(self._roles(group), self.role_embedding)
            yield found

    def _roles(self, group: Group) -> Tensor:
        """The row of the role embedding of each vertex [T]."""
        roles = torch.from_numpy(vertex_roles(group.qualifiers)).to(group.ids.device)
        if self.settings.role_embeddings == "position":  # an arity that training never saw shares the last numbers
            number = torch.arange(group.qualifiers).clamp(max=self.max_qualifiers - 1).repeat(2)
            roles[3:] += 2 * number.to(roles.device)
        return roles

    def _role_count(self) -> int:
        return {"none": 0, "role": 5, "position": 3 + 2 * self.max_qualifiers}[self.settings.role_embeddings]

    def _edge_tables(self, layer: int) -> tuple[Tensor | None, Tensor | None]:
        """The key and value biases of one layer [types + 1, z], or [H, types + 1, z] per head; type 0 is zero."""

        def own(tables: Tensor | None) -> Tensor | None:
            if tables is None:
                return None
            table = tables[layer]
            table = torch.cat([torch.zeros_like(table[:, :1]), table], dim=1)
            return table if self.settings.edge_bias == "per-head" else table[0]

        return own(self.edge_key), own(self.edge_value)


def _table(rows: int, *shape: int) -> nn.Parameter | None:
    return nn.Parameter(torch.empty(rows, *shape)) if rows else None
