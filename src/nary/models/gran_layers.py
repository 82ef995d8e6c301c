"""The graph-attention layer of GRAN, and the initialization of its weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from nary.models.base import Model
from nary.models.entity_tables import draw_table
from nary.models.layers import Dropout
from nary.models.products import Linear, linear

if TYPE_CHECKING:
    from nary.models.gran import GranSettings


@dataclass(frozen=True)
class Layout:
    """How the vertices of a batch are concatenated."""

    sizes: Sequence[tuple[int, int]]
    """For each group the number of facts ``n`` and of vertices of a fact ``T``."""
    edges: Sequence[Tensor]
    """For each group the edge types [n * H, T, T]."""
    masked: Tensor
    """The places of the masked vertices [B]."""
    masked_edges: Sequence[Tensor]
    """For each group the types of the edges of the masked vertices [n * H, 1, T]."""
    weights: list[Tensor] | None = None
    """If given, collects the attention weights [n, Q, T] of each layer and group."""


class GraphAttentionLayer(nn.Module):
    """Attention between the vertices of each fact, biased by the types of their edges, and a feed-forward network.

    The last layer computes its output for the masked vertices only: the others are not needed.
    """

    def __init__(self, settings: "GranSettings", last: bool) -> None:
        super().__init__()
        width = settings.hidden_dim
        self.heads = settings.num_heads
        self.pre_norm = settings.norm == "pre"
        self.last = last
        self.projection = Linear(width, 3 * width)  # query, key, value
        self.output = Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=1e-12)
        self.inner = Linear(width, settings.ffn_dim)
        self.outer = Linear(settings.ffn_dim, width)
        self.outer_norm = nn.LayerNorm(width, eps=1e-12)
        self.dropout = Dropout(settings.dropout)

    def forward(self, x: Tensor, layout: Layout, edge_key: Tensor | None, edge_value: Tensor | None) -> Tensor:
        """[N, d] -> [N, d], or [B, d] for the last layer."""
        source = self.attention_norm(x) if self.pre_norm else x
        mixed = self._attention(source, layout, edge_key, edge_value)
        x = self._add(x[layout.masked] if self.last else x, self.output, mixed)
        if self.pre_norm:
            return self._add(x, self.outer, self.inner(self.outer_norm(x), gelu=True))
        x = self.attention_norm(x)
        return self.outer_norm(self._add(x, self.outer, self.inner(x, gelu=True)))

    def _add(self, x: Tensor, linear: Linear, branch: Tensor) -> Tensor:
        """``x`` plus a residual branch, the last step of which is ``linear``."""
        return x + self.dropout(linear(branch)) if self.training else linear(branch, residual=x)

    def _attention(self, x: Tensor, layout: Layout, edge_key: Tensor | None, edge_value: Tensor | None) -> Tensor:
        """The weighted sums of the values: [N, d] -> [N, d], or [B, d] for the last layer."""
        edges = layout.masked_edges if self.last else layout.edges
        mixed = []
        for (query, key, value), (size, _), types in zip(self._project(x, layout), layout.sizes, edges, strict=True):
            weights = self._weights(query, key, types, edge_key)  # [n * H, Q, T]
            if layout.weights is not None:
                layout.weights.append(weights.view(size, self.heads, *weights.shape[1:]).mean(1))
            mixed.append(self._mix(self.dropout(weights) if self.training else weights, value, types, edge_value))
        return mixed[0] if len(mixed) == 1 else torch.cat(mixed)

    def _project(self, x: Tensor, layout: Layout) -> Iterator[Sequence[Tensor]]:
        """For each group the queries [n * H, Q, z], the keys and the values [n * H, T, z]."""
        whole = [size * vertices for size, vertices in layout.sizes]
        if not self.last:
            for part, (size, _) in zip(self.projection(x).split_with_sizes(whole), layout.sizes, strict=True):
                yield self._by_head(part, size, 3)
            return
        width = x.shape[1]
        weight, bias = self.projection.weight, self.projection.bias
        queries = linear(x[layout.masked], weight[:width], bias[:width]).split_with_sizes(
            [size for size, _ in layout.sizes]
        )
        others = linear(x, weight[width:], bias[width:]).split_with_sizes(whole)
        for query, other, (size, _) in zip(queries, others, layout.sizes, strict=True):
            yield *self._by_head(query, size, 1), *self._by_head(other, size, 2)

    def _by_head(self, projected: Tensor, size: int, count: int) -> Sequence[Tensor]:
        """[n * T, count * d] -> ``count`` times [n * H, T, z]; a single fact is not copied."""
        vertices = projected.view(size, -1, count, self.heads, projected.shape[1] // (count * self.heads))
        return vertices.permute(2, 0, 3, 1, 4).flatten(1, 2).unbind()

    # There are few edge types: a product with the bias of each type serves all edges of that type, so that no tensor of
    # biases for pairs of vertices is needed.

    def _weights(self, query: Tensor, key: Tensor, types: Tensor, edge_key: Tensor | None) -> Tensor:
        """Attention weights: [n * H, Q, z], [n * H, T, z] -> [n * H, Q, T]."""
        scale = query.shape[-1] ** -0.5
        if edge_key is None:
            return (query @ key.transpose(1, 2) * scale).softmax(-1)
        by_type = self._times(query, edge_key.transpose(-1, -2))  # [n * H, Q, types]
        biases = by_type.gather(-1, types)
        return torch.baddbmm(biases, query, key.transpose(1, 2), beta=scale, alpha=scale).softmax(-1)

    def _mix(self, weights: Tensor, value: Tensor, types: Tensor, edge_value: Tensor | None) -> Tensor:
        """Weighted sums of the values: [n * H, Q, T], [n * H, T, z] -> [n * Q, d]."""
        if edge_value is None:
            mixed = weights @ value
        else:
            by_type = weights.new_zeros(*weights.shape[:-1], edge_value.shape[-2]).scatter_add_(-1, types, weights)
            mixed = torch.baddbmm(self._times(by_type, edge_value), weights, value)
        by_fact = mixed.view(-1, self.heads, *mixed.shape[1:])  # [n, H, Q, z]
        return by_fact.transpose(1, 2).reshape(-1, self.heads * mixed.shape[2])

    def _times(self, x: Tensor, table: Tensor) -> Tensor:
        """X [n * H, Q, a] times a table [a, b] that the heads share, or [H, a, b] with one for each."""
        if table.dim() == 2:
            return x @ table
        return (x.view(-1, self.heads, *x.shape[1:]) @ table).flatten(0, 1)


def init_weights(model: Model) -> None:
    """Truncated normal with deviation 0.02, cut at two deviations, for matrices and tables; zeros for biases."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)
    tables = model.entity_tables()
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1 and "norm" not in name:
            draw_table(parameter.detach(), _draw, model.info, tables.get(name))


def _draw(rows: Tensor) -> None:
    nn.init.trunc_normal_(rows, std=0.02, a=-0.04, b=0.04)
