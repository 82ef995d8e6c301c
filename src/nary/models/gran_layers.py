"""The graph-attention layer of GRAN, and the initialization of its weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

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
    """For each group the edge types [1, 1, T, T]."""
    masked: Tensor
    """The places of the masked vertices [B]."""
    masked_edges: Sequence[Tensor]
    """For each group the types of the edges of the masked vertices [n, 1, 1, T]."""
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
        attended = self.dropout(self._attention(source, layout, edge_key, edge_value))
        x = (x[layout.masked] if self.last else x) + attended
        if self.pre_norm:
            return x + self.dropout(self._feed_forward(self.outer_norm(x)))
        x = self.attention_norm(x)
        return self.outer_norm(x + self.dropout(self._feed_forward(x)))

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.outer(nn.functional.gelu(self.inner(x)))

    def _attention(self, x: Tensor, layout: Layout, edge_key: Tensor | None, edge_value: Tensor | None) -> Tensor:
        queries, keys, values = self._project(x, layout)
        edges = layout.masked_edges if self.last else layout.edges
        asked = [size if self.last else size * vertices for size, vertices in layout.sizes]
        whole = [size * vertices for size, vertices in layout.sizes]
        divided = (queries.split_with_sizes(asked), keys.split_with_sizes(whole), values.split_with_sizes(whole))
        mixed = []
        for query, key, value, (size, _), types in zip(*divided, layout.sizes, edges, strict=True):
            by_head = [part.view(size, -1, self.heads, part.shape[1] // self.heads) for part in (query, key, value)]
            query, key, value = (part.transpose(1, 2) for part in by_head)  # each [n, H, Q or T, z]
            weights = self._weights(query, key, types, edge_key)  # [n, H, Q, T]
            if layout.weights is not None:
                layout.weights.append(weights.mean(1))
            mixed.append(self._mix(self.dropout(weights), value, types, edge_value))
        return self.output(torch.cat(mixed))

    def _project(self, x: Tensor, layout: Layout) -> tuple[Tensor, Tensor, Tensor]:
        """The scaled queries [N or B, d], the keys and the values [N, d]."""
        width = x.shape[1]
        scale = (width // self.heads) ** -0.5
        if not self.last:
            query, key, value = self.projection(x).chunk(3, dim=1)
            return query * scale, key, value
        weight, bias = self.projection.weight, self.projection.bias
        query = linear(x[layout.masked], weight[:width], bias[:width])
        key, value = linear(x, weight[width:], bias[width:]).chunk(2, dim=1)
        return query * scale, key, value

    # There are few edge types: a product with the bias of each type serves all edges of that type, so that no tensor of
    # biases for pairs of vertices is needed.

    def _weights(self, query: Tensor, key: Tensor, types: Tensor, edge_key: Tensor | None) -> Tensor:
        """Attention weights: [n, H, Q, z], [n, H, T, z] -> [n, H, Q, T]."""
        scores = query @ key.transpose(-1, -2)  # [n, H, Q, T]
        if edge_key is not None:
            scores = scores + (query @ edge_key.transpose(-1, -2)).gather(-1, types.expand_as(scores))
        return scores.softmax(-1)

    def _mix(self, weights: Tensor, value: Tensor, types: Tensor, edge_value: Tensor | None) -> Tensor:
        """Weighted sums of the values: [n, H, Q, T], [n, H, T, z] -> [n * Q, d]."""
        mixed = weights @ value
        if edge_value is not None:
            by_type = weights.new_zeros(*weights.shape[:-1], edge_value.shape[-2])
            by_type = by_type.scatter_add(-1, types.expand_as(weights), weights)
            mixed = mixed + by_type @ edge_value
        return mixed.transpose(1, 2).flatten(2).flatten(0, 1)


def init_weights(model: nn.Module) -> None:
    """Truncated normal with deviation 0.02, cut at two deviations, for matrices and tables; zeros for biases."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1 and "norm" not in name:
            nn.init.trunc_normal_(parameter, std=0.02, a=-0.04, b=0.04)
