"""The graph encoder: entities learn from their neighbors, along the facts about them."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from nary.models.layers import Dropout
from nary.models.stare.graph import MessageGraph, product, rotation_times

if TYPE_CHECKING:
    from nary.models.stare.model import StareSettings


class GraphEncoder(nn.Module):
    """All entities and relations through the layers, over all edges."""

    def __init__(self, settings: "StareSettings", graph: MessageGraph) -> None:
        super().__init__()
        self.graph = graph
        self.layers = nn.ModuleList(GraphLayer(settings) for _ in range(settings.num_graph_layers))
        self.dropout = Dropout(settings.graph_dropout)

    def forward(self, x: Tensor, relations: Tensor) -> tuple[Tensor, Tensor]:
        """Entities [E, d] and relations in both directions [2R, d] -> the same shapes."""
        for layer in self.layers:
            x, relations = layer(x, relations, self.graph)
            x = self.dropout(x)
        return x, relations


class GraphLayer(nn.Module):
    """tanh(norm((to subjects + to objects + self-loop) / 3)) for entities, a linear map for relations.

    The weights of a direction multiply the sums of messages, not each message.
    """

    def __init__(self, settings: "StareSettings") -> None:
        super().__init__()
        width = settings.hidden_dim
        self.subject_weight = _xavier(width, width)
        self.object_weight = _xavier(width, width)
        self.loop_weight = _xavier(width, width)
        self.loop_relation = _xavier(1, width)
        self.qualifier_weight = _xavier(width, width)
        self.relation_weight = _xavier(width, width)
        self.dropout = Dropout(settings.message_dropout)
        self.norm = nn.BatchNorm1d(width)

    def forward(self, x: Tensor, relations: Tensor, graph: MessageGraph) -> tuple[Tensor, Tensor]:
        """Entities [E, d] and relations [2R, d] after one round of messages."""
        total = product(x, rotation_times(self.loop_relation, self.loop_weight) / 3)
        received = graph.messages(x, relations, self.qualifier_weight)
        for (receivers, messages), weight in zip(received, (self.subject_weight, self.object_weight), strict=True):
            total.index_add_(0, receivers, self.dropout(product(messages, weight / 3)))
        return torch.tanh(self.norm(total)), product(relations, self.relation_weight)


def _xavier(*shape: int) -> nn.Parameter:
    return nn.Parameter(nn.init.xavier_normal_(torch.empty(shape)))
