"""STARE a second time, as plainly as batched PyTorch allows: the yardstick for results and for speed.

Every message is made and multiplied on its own, questions are padded, everything is float32 and eager, as in the
published code. Nothing here is shared with ``nary``.

Letters: E entities, R relations, n facts, B questions, M qualifiers they have room for, T = 2 + 2 M tokens, d width.
Entities 0 .. E - 1 and E for padding; relations 0 .. R - 1, their inverses R .. 2 R - 1, and 2 R for padding.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - the name everybody knows it by

Ids = NDArray[np.integer]


@dataclass(frozen=True)
class StareConfig:
    """Sizes and choices."""

    entities: int
    relations: int
    width: int = 200
    graph_layers: int = 2
    relation_share: float = 0.8
    message_dropout: float = 0.1
    graph_dropout: float = 0.3
    layers: int = 2
    heads: int = 4
    inner: int = 512
    dropout: float = 0.1
    qualifiers: int = 6


@dataclass(frozen=True)
class Graph:
    """Facts as edges: subjects, relations, objects [n]; fact, attribute and value of each qualifier [k]."""

    subjects: Tensor
    relations: Tensor
    objects: Tensor
    qualified: Tensor
    attributes: Tensor
    values: Tensor


def graph_of(blocks: Sequence[Ids]) -> Graph:
    """Facts by blocks of one arity each, [n, 2m + 3]: relation, subject, object, attributes, values."""
    heads, qualifiers, count = [], [], 0
    for ids in blocks:
        m = (ids.shape[1] - 3) // 2
        heads.append(ids[:, :3])
        facts = np.repeat(np.arange(count, count + len(ids)), m)
        qualifiers.append(np.stack([facts, ids[:, 3 : 3 + m].reshape(-1), ids[:, 3 + m :].reshape(-1)], 1))
        count += len(ids)
    relations, subjects, objects = torch.from_numpy(np.concatenate(heads).astype(np.int64)).T
    return Graph(subjects, relations, objects, *torch.from_numpy(np.concatenate(qualifiers).astype(np.int64)).T)


def questions_of(ids: Ids, columns: Ids, config: StareConfig) -> tuple[Tensor, Tensor]:
    """Facts of one arity [n, 2m + 3] that ask for the subject or the object (columns 1 and 2): tokens and padding.

    Tokens [n, T] are the known entity, the relation (the inverse one if the subject is asked for), and attribute and
    value in turns; padding [n, T] is true where a token is none. Qualifiers there is no room for are cut off.
    """
    m = (ids.shape[1] - 3) // 2
    kept = min(m, config.qualifiers)
    asks_subject = columns == 1
    tokens = np.empty((len(ids), 2 + 2 * config.qualifiers), np.int64)
    tokens[:, 0] = np.where(asks_subject, ids[:, 2], ids[:, 1])
    tokens[:, 1] = ids[:, 0] + config.relations * asks_subject
    tokens[:, 2::2], tokens[:, 3::2] = 2 * config.relations, config.entities
    tokens[:, 2 : 2 + 2 * kept : 2] = ids[:, 3 : 3 + kept]
    tokens[:, 3 : 3 + 2 * kept : 2] = ids[:, 3 + m : 3 + m + kept]
    padding = np.zeros(tokens.shape, bool)
    padding[:, 2 + 2 * kept :] = True
    return torch.from_numpy(tokens), torch.from_numpy(padding)


def rotate(x: Tensor, by: Tensor) -> Tensor:
    """The product of complex numbers whose real parts are the first half of a vector."""
    (real, imaginary), (other_real, other_imaginary) = x.chunk(2, -1), by.chunk(2, -1)
    return torch.cat(
        [real * other_real - imaginary * other_imaginary, real * other_imaginary + imaginary * other_real], -1
    )


def edge_weights(receivers: Tensor, senders: Tensor, entities: int) -> Tensor:
    """One over the roots of the degrees of both ends, where a degree counts what is received in this direction."""
    degrees = torch.zeros(entities).index_add(0, receivers, torch.ones(len(receivers)))
    roots = torch.where(degrees > 0, degrees.clamp(min=1) ** -0.5, 0.0)
    return roots[receivers] * roots[senders]


class GraphLayer(nn.Module):
    """One round of messages."""

    def __init__(self, config: StareConfig) -> None:
        super().__init__()
        self.config = config
        shape = (config.width, config.width)
        for name in ("to_subjects", "to_objects", "loop", "qualifier", "relation"):
            setattr(self, name, nn.Parameter(nn.init.xavier_normal_(torch.empty(shape))))
        self.loop_relation = nn.Parameter(nn.init.xavier_normal_(torch.empty(1, config.width)))
        self.dropout = nn.Dropout(config.message_dropout)
        self.norm = nn.BatchNorm1d(config.width)

    def forward(self, x: Tensor, relations: Tensor, graph: Graph) -> tuple[Tensor, Tensor]:
        """Entities [E + 1, d] and relations [2R + 1, d] after it."""
        inverses = graph.relations + self.config.relations
        to_subjects = self._sum(x, relations, graph, (graph.subjects, graph.objects, graph.relations), self.to_subjects)
        to_objects = self._sum(x, relations, graph, (graph.objects, graph.subjects, inverses), self.to_objects)
        loop = rotate(x, self.loop_relation.expand_as(x)) @ self.loop
        total = (self.dropout(to_subjects) + self.dropout(to_objects) + loop) / 3
        return torch.tanh(self.norm(total)), relations @ self.relation

    def _sum(
        self, x: Tensor, relations: Tensor, graph: Graph, edges: tuple[Tensor, Tensor, Tensor], weight: Tensor
    ) -> Tensor:
        receivers, senders, kinds = edges
        qualifiers = rotate(x[graph.values], relations[graph.attributes])  # [k, d]
        summed = x.new_zeros(len(receivers), x.shape[1]).index_add(0, graph.qualified, qualifiers)  # [n, d]
        share = self.config.relation_share
        said = share * relations[kinds] + (1 - share) * (summed @ self.qualifier)
        messages = rotate(x[senders], said) @ weight
        messages = messages * edge_weights(receivers, senders, len(x)).to(x.dtype)[:, None]
        return torch.zeros_like(x).index_add(0, receivers, messages)


class ReferenceStare(nn.Module):
    """Everything from the facts to the scores of all entities."""

    def __init__(self, config: StareConfig, graph: Graph) -> None:
        super().__init__()
        self.config = config
        self.graph = graph
        width = config.width
        self.entities = nn.Parameter(nn.init.xavier_normal_(torch.empty(config.entities + 1, width)))
        angles = 2 * torch.pi * torch.rand(config.relations, width // 2)
        there, back = (torch.cat([angles.cos(), sine], 1) for sine in (angles.sin(), -angles.sin()))
        self.relations = nn.Parameter(torch.cat([there, back, torch.zeros(1, width)]))
        self.entities.data[-1] = 0
        self.graph_layers = nn.ModuleList(GraphLayer(config) for _ in range(config.graph_layers))
        self.graph_dropout = nn.Dropout(config.graph_dropout)
        self.positions = nn.Parameter(torch.randn(2 + 2 * config.qualifiers, width))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, config.heads, config.inner, config.dropout, batch_first=True)
            for _ in range(config.layers)
        )
        self.output = nn.Linear(width, width)

    def encode(self) -> tuple[Tensor, Tensor]:
        """The vectors of entities and relations, by all messages."""
        x, relations = self.entities, self.relations
        for layer in self.graph_layers:
            x, relations = layer(x, relations, self.graph)
            x = self.graph_dropout(x)
        return x, relations

    def forward(self, tokens: Tensor, padding: Tensor) -> Tensor:
        """The scores [B, E] of all entities for questions as :func:`questions_of` gives them, both [B, T]."""
        x, relations = self.encode()
        is_entity = torch.arange(tokens.shape[1]) % 2 == 1
        is_entity[:2] = torch.tensor([True, False])
        found = x.new_empty(*tokens.shape, x.shape[1])
        found[:, is_entity], found[:, ~is_entity] = x[tokens[:, is_entity]], relations[tokens[:, ~is_entity]]
        found = found + self.positions
        for layer in self.layers:
            found = layer(found, src_key_padding_mask=padding)
        return self.output(found.mean(1)) @ x[:-1].T


def multi_hot(rows: Tensor, answers: Tensor, shape: tuple[int, int], smoothing: float) -> Tensor:
    """Labels [B, E] of all answers to each question; smoothing lowers answers, and raises all by 1 / E."""
    labels = torch.zeros(shape)
    labels[rows, answers] = 1
    return labels * (1 - smoothing) + 1 / shape[1] if smoothing else labels


def train_step(
    model: ReferenceStare, adam: torch.optim.Optimizer, questions: tuple[Tensor, Tensor], labels: Tensor
) -> float:
    """One update from one batch; returns the loss before it."""
    model.train()
    adam.zero_grad()
    loss = F.binary_cross_entropy(torch.sigmoid(model(*questions)), labels)
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    adam.step()
    return loss.item()
