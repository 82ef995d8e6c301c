"""One graph-attention layer, and how weights start."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from nary.models.gran.settings import GranSettings


@dataclass(frozen=True)
class Layout:
    """How the vertices of a batch lie one after the other.

    For each group the number of its facts and of vertices a fact, and the types of the edges between these [T, T].
    """

    sizes: Sequence[tuple[int, int]]
    edges: Sequence[Tensor]


class GraphAttentionLayer(nn.Module):
    """Attention between the vertices of each fact, biased by the types of their edges, and a feed-forward network."""

    def __init__(self, settings: GranSettings) -> None:
        super().__init__()
        width = settings.width
        self.heads = settings.heads
        self.pre_norm = settings.norm == "pre"
        self.projection = nn.Linear(width, 3 * width)  # query, key, value in one product
        self.output = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=1e-12)
        self.inner = nn.Linear(width, settings.inner)
        self.outer = nn.Linear(settings.inner, width)
        self.outer_norm = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, x: Tensor, layout: Layout, edge_key: Tensor | None, edge_value: Tensor | None) -> Tensor:
        """[N, d] -> [N, d]"""
        if self.pre_norm:
            x = x + self.dropout(self._attention(self.attention_norm(x), layout, edge_key, edge_value))
            return x + self.dropout(self._feed_forward(self.outer_norm(x)))
        x = self.attention_norm(x + self.dropout(self._attention(x, layout, edge_key, edge_value)))
        return self.outer_norm(x + self.dropout(self._feed_forward(x)))

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.outer(nn.functional.gelu(self.inner(x)))

    def _attention(self, x: Tensor, layout: Layout, edge_key: Tensor | None, edge_value: Tensor | None) -> Tensor:
        projected = self.projection(x)  # [N, 3d]
        mixed, start = [], 0
        for (size, vertices), edges in zip(layout.sizes, layout.edges, strict=True):
            own = projected[start : start + size * vertices].view(size, vertices, 3, self.heads, -1)
            query, key, value = own.permute(2, 0, 3, 1, 4)  # each [n, H, T, z]
            mixed.append(self._attend(query * query.shape[-1] ** -0.5, key, value, edges, edge_key, edge_value))
            start += size * vertices
        return self.output(torch.cat(mixed))

    def _attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        edges: Tensor,
        edge_key: Tensor | None,
        edge_value: Tensor | None,
    ) -> Tensor:
        """Attention within the facts of one arity: [n, H, T, z] each -> [n * T, d]."""
        scores = query @ key.transpose(-1, -2)  # [n, H, T, T]
        if edge_key is not None:
            scores = scores + torch.einsum("nhiz,ijhz->nhij", query, self._per_pair(edge_key, edges))
        weights = self.dropout(scores.softmax(-1))
        mixed = weights @ value
        if edge_value is not None:
            mixed = mixed + torch.einsum("nhij,ijhz->nhiz", weights, self._per_pair(edge_value, edges))
        return mixed.transpose(1, 2).flatten(2).flatten(0, 1)

    def _per_pair(self, table: Tensor, edges: Tensor) -> Tensor:
        """The bias of each pair of vertices [T, T, H, z]."""
        return table[edges].expand(-1, -1, self.heads, -1)


def init_weights(model: nn.Module) -> None:
    """Truncated normal of deviation 0.02, cut at two deviations, for all matrices and tables; biases start at zero."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1 and "norm" not in name:
            nn.init.trunc_normal_(parameter, std=0.02, a=-0.04, b=0.04)
