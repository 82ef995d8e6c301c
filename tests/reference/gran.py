"""GRAN a second time, as plainly as batched PyTorch allows: the yardstick for results and for speed.

Everything is padded to the maximum arity, in float32, eager, with logits and soft labels over the whole vocabulary, as
in the published code. Nothing here is shared with ``nary``.

Letters: B instances, T = 2 * max_arity - 1 vertices, M = max_arity - 2 qualifiers, H heads, d width, z = d / H,
V tokens.
Tokens: [PAD] = 0, [MASK] = 1, relations 2 .. R + 1, entities R + 2 .. V - 1.
Vertices: relation, subject, object, M attributes, M values; attributes and values are padded separately.

Parameters:

    node_embedding [V, d]                          tokens, both as input and as output
    edge_key, edge_value [5, z]                    edge types, shared by all layers and heads; row 0 has no effect
    input_norm.{weight,bias}
    layers.{i}.{query,key,value,output}.{weight,bias}
    layers.{i}.attention_norm.{weight,bias}
    layers.{i}.{ffn_in,ffn_out}.{weight,bias}
    layers.{i}.ffn_norm.{weight,bias}
    head_transform.{weight,bias}
    head_norm.{weight,bias}                        only with head="code"
    output_bias [V]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - the name everybody knows it by

PAD, MASK, FIRST_RELATION = 0, 1, 2
EDGE_TYPES = 5
FORBIDDEN = -1e6

Ids = NDArray[np.integer]
Inputs = tuple[Tensor, Tensor, Tensor]
"""Masked tokens [B, T], the masked vertex [B] and validity [B, T]: what the model reads."""


@dataclass(frozen=True)
class ReferenceConfig:
    """Sizes and choices. ``head`` is the prediction head of the published code or of the paper's equation."""

    entities: int
    relations: int
    max_arity: int
    layers: int = 12
    heads: int = 4
    width: int = 256
    inner: int = 512
    dropout: float = 0.0
    variant: Literal["hete", "homo", "complete"] = "hete"
    head: Literal["code", "equation"] = "code"

    @property
    def vocabulary(self) -> int:
        """V: all tokens, the two special ones included."""
        return FIRST_RELATION + self.relations + self.entities

    @property
    def first_entity(self) -> int:
        """The token of entity 0."""
        return FIRST_RELATION + self.relations

    @property
    def qualifiers(self) -> int:
        """M: the room for qualifiers."""
        return self.max_arity - 2

    @property
    def vertices(self) -> int:
        """T: the length every instance is padded to."""
        return 2 * self.max_arity - 1


# ---------------------------------------------------------------------------------------------------- encoding


def vertex_of(columns: Ids, qualifiers: int, config: ReferenceConfig) -> NDArray[np.int64]:
    """Where the columns of a fact with ``qualifiers`` pairs stand once the attributes are padded."""
    first_value = 3 + qualifiers
    return np.where(columns < first_value, columns, columns + config.qualifiers - qualifiers).astype(np.int64)


def tokens_of(ids: Ids, config: ReferenceConfig) -> tuple[Tensor, Tensor]:
    """Facts [n, 2m + 3] (relation, subject, object, attributes, values) as tokens and validity, both [n, T]."""
    qualifiers = (ids.shape[1] - 3) // 2
    columns = np.arange(ids.shape[1])
    holds_relation = (columns == 0) | ((columns >= 3) & (columns < 3 + qualifiers))
    tokens = np.full((len(ids), config.vertices), PAD, dtype=np.int64)
    tokens[:, vertex_of(columns, qualifiers, config)] = ids + np.where(
        holds_relation, FIRST_RELATION, config.first_entity
    )
    return torch.from_numpy(tokens), torch.from_numpy(tokens != PAD).float()


def encode(ids: Ids, columns: Ids, config: ReferenceConfig) -> Inputs:
    """One instance a fact, with the element in ``columns`` [n] masked. Qualifiers must be in their sorted order."""
    tokens, validity = tokens_of(ids, config)
    position = torch.from_numpy(vertex_of(columns, (ids.shape[1] - 3) // 2, config))
    return tokens.scatter(1, position[:, None], MASK), position, validity


def targets_of(ids: Ids, columns: Ids, config: ReferenceConfig) -> Tensor:
    """The tokens [n] that :func:`encode` masks."""
    _, position, _ = encode(ids, columns, config)
    return tokens_of(ids, config)[0].gather(1, position[:, None]).squeeze(1)


def all_masks(ids: Ids) -> tuple[Ids, Ids]:
    """Every fact once for each of its elements, side by side: facts and columns as :func:`encode` takes them."""
    facts, width = ids.shape
    return ids.repeat(width, axis=0), np.tile(np.arange(width), facts)


def is_relation(position: Tensor, config: ReferenceConfig) -> Tensor:
    """Whether the vertices hold relations; they hold entities otherwise."""
    return (position == 0) | ((position >= 3) & (position < 3 + config.qualifiers))


def candidates(config: ReferenceConfig) -> Tensor:
    """1.0 for every candidate, [2, V]: the first row for a missing entity, the second for a missing relation."""
    found = torch.zeros(2, config.vocabulary)
    found[0, config.first_entity :] = 1
    found[1, FIRST_RELATION : config.first_entity] = 1
    return found


def edge_types(config: ReferenceConfig) -> Tensor:
    """The type of the edge between each two vertices, [T, T]; 0 where there is none."""
    subject, object, attribute, value = {"hete": (1, 2, 3, 4), "homo": (1, 1, 1, 1), "complete": (0, 0, 0, 0)}[
        config.variant
    ]
    edges = torch.zeros(config.vertices, config.vertices, dtype=torch.long)
    edges[0, 1] = subject
    edges[0, 2] = object
    for i in range(3, 3 + config.qualifiers):
        edges[0, i] = attribute
        edges[i, i + config.qualifiers] = value
    return edges + edges.T


# ------------------------------------------------------------------------------------------------------- model


class Layer(nn.Module):
    """Self-attention with edge biases, then a feed-forward network; each is added to its input and normalized."""

    def __init__(self, config: ReferenceConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.query = nn.Linear(config.width, config.width)
        self.key = nn.Linear(config.width, config.width)
        self.value = nn.Linear(config.width, config.width)
        self.output = nn.Linear(config.width, config.width)
        self.attention_norm = nn.LayerNorm(config.width, eps=1e-12)
        self.ffn_in = nn.Linear(config.width, config.inner)
        self.ffn_out = nn.Linear(config.inner, config.width)
        self.ffn_norm = nn.LayerNorm(config.width, eps=1e-12)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, edge_key: Tensor, edge_value: Tensor, mask: Tensor) -> Tensor:
        """Vertices [B, T, d] from vertices, edge biases [T, T, z] and what is added to the scores [B, 1, T, T]."""
        x = self.attention_norm(x + self.dropout(self.attend(x, edge_key, edge_value, mask)))
        ffn = self.ffn_out(F.gelu(self.ffn_in(x)))
        normed: Tensor = self.ffn_norm(x + self.dropout(ffn))
        return normed

    def attend(self, x: Tensor, edge_key: Tensor, edge_value: Tensor, mask: Tensor) -> Tensor:
        """Attention of all vertices to all vertices, [B, T, d]."""
        query, key, value = (self.split(linear(x)) for linear in (self.query, self.key, self.value))  # [B, H, T, z]
        query = query / query.shape[-1] ** 0.5
        scores = query @ key.transpose(2, 3) + torch.einsum("bhiz,ijz->bhij", query, edge_key) + mask
        weights = self.dropout(scores.softmax(dim=-1))  # [B, H, T, T]
        heads = weights @ value + torch.einsum("bhij,ijz->bhiz", weights, edge_value)
        mixed: Tensor = self.output(heads.transpose(1, 2).flatten(2))
        return mixed

    def split(self, x: Tensor) -> Tensor:
        """[B, T, d] as [B, H, T, z]."""
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)


class ReferenceGran(nn.Module):
    """Masked facts in, a score for every token out."""

    edges: Tensor

    def __init__(self, config: ReferenceConfig) -> None:
        super().__init__()
        self.config = config
        self.node_embedding = nn.Parameter(torch.empty(config.vocabulary, config.width))
        self.edge_key = nn.Parameter(torch.empty(EDGE_TYPES, config.width // config.heads))
        self.edge_value = nn.Parameter(torch.empty(EDGE_TYPES, config.width // config.heads))
        self.input_norm = nn.LayerNorm(config.width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.head_transform = nn.Linear(config.width, config.width)
        if config.head == "code":
            self.head_norm = nn.LayerNorm(config.width, eps=1e-12)
        self.output_bias = nn.Parameter(torch.zeros(config.vocabulary))
        self.dropout = nn.Dropout(config.dropout)
        self.register_buffer("edges", edge_types(config), persistent=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                nn.init.trunc_normal_(parameter, std=0.02, a=-0.04, b=0.04)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, tokens: Tensor, mask_position: Tensor, validity: Tensor) -> Tensor:
        """Logits [B, V] for the masked vertex; those of the wrong type and of special tokens are pushed away."""
        x = self.dropout(self.input_norm(F.embedding(tokens, self.node_embedding)))  # [B, T, d]
        linked = (self.edges > 0).unsqueeze(2)
        edge_key, edge_value = self.edge_key[self.edges] * linked, self.edge_value[self.edges] * linked  # [T, T, z]
        mask = (1 - validity[:, None, :, None] * validity[:, None, None, :]) * FORBIDDEN  # [B, 1, T, T]
        for layer in self.layers:
            x = layer(x, edge_key, edge_value, mask)
        hidden = self.head_transform(x[torch.arange(len(x)), mask_position])  # [B, d]
        if self.config.head == "code":
            hidden = self.head_norm(F.gelu(hidden))
        logits = F.linear(hidden, self.node_embedding, self.output_bias)
        penalty = (1 - candidates(self.config)) * FORBIDDEN
        return logits + penalty[is_relation(mask_position, self.config).long()]


# ---------------------------------------------------------------------------------------------------- training


def smoothed_loss(
    logits: Tensor,
    target_token: Tensor,
    relation: Tensor,
    eps_entity: float,
    eps_relation: float,
    config: ReferenceConfig,
) -> Tensor:
    """Mean cross-entropy with soft labels [B, V]: 1 - eps for the target, eps spread over the other candidates."""
    eps = torch.tensor([[eps_entity], [eps_relation]])
    others = torch.tensor([[config.entities], [config.relations]]) - 1
    kind = relation.long()
    labels = (candidates(config) * eps / others)[kind]
    labels.scatter_(1, target_token[:, None], 1 - eps[kind])
    return F.cross_entropy(logits, labels)


def rate_at(step: int, total_steps: int, peak: float) -> float:
    """The learning rate of a step counted from 0: up to the peak over a tenth of the steps, then on the way to 0."""
    if 10 * step < total_steps:
        return peak * 10 * step / total_steps
    return peak * (1 - step / total_steps)


class ReferenceAdam:
    """Adam with epsilon beside the uncorrected second moment, decoupled decay of everything, and clipping."""

    def __init__(self, parameters: Sequence[nn.Parameter]) -> None:
        self.parameters = parameters
        self.first = [torch.zeros_like(parameter) for parameter in parameters]
        self.second = [torch.zeros_like(parameter) for parameter in parameters]
        self.updates = 0

    @torch.no_grad()
    def update(self, rate: float, decay: float = 0.01, clip: float = 1.0, epsilon: float = 1e-6) -> None:
        """One update from the gradients of the parameters, all of which must have one."""
        self.updates += 1
        gradients = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        norm = torch.stack([gradient.square().sum() for gradient in gradients]).sum().sqrt().item()
        scale = clip / max(norm, clip)
        corrected = rate * (1 - 0.999**self.updates) ** 0.5 / (1 - 0.9**self.updates)
        for parameter, gradient, first, second in zip(self.parameters, gradients, self.first, self.second, strict=True):
            gradient = gradient * scale
            first.mul_(0.9).add_(gradient, alpha=0.1)
            second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
            parameter.mul_(1 - decay * rate)
            parameter.addcdiv_(first, second.sqrt().add_(epsilon), value=-corrected)


def train_step(
    model: ReferenceGran,
    adam: ReferenceAdam,
    inputs: Inputs,
    target_token: Tensor,
    smoothing: tuple[float, float],
    rate: float,
) -> float:
    """One update from one batch; ``smoothing`` is eps for entities and for relations. Returns the loss before it."""
    model.train()
    model.zero_grad()
    relation = is_relation(inputs[1], model.config)
    loss = smoothed_loss(model(*inputs), target_token, relation, *smoothing, model.config)
    loss.backward()  # type: ignore[no-untyped-call]
    adam.update(rate)
    return loss.item()


# ----------------------------------------------------------------------------------------------------- ranking

Known = dict[tuple[int, tuple[int, ...]], set[int]]
"""The answers known for (masked vertex, tokens of all other vertices)."""


def _keys(ids: Ids, columns: Ids, config: ReferenceConfig) -> list[tuple[int, tuple[int, ...]]]:
    tokens, positions, _ = encode(ids, columns, config)
    return [
        (position, (*row[:position], *row[position + 1 :]))
        for position, row in zip(positions.tolist(), tokens.tolist(), strict=True)
    ]


def known_answers(blocks: Sequence[Ids], config: ReferenceConfig) -> Known:
    """What all the facts, given by blocks of one arity each, tell about each other's elements."""
    known: Known = {}
    for block in blocks:
        ids, columns = all_masks(block)
        for key, answer in zip(_keys(ids, columns, config), targets_of(ids, columns, config).tolist(), strict=True):
            known.setdefault(key, set()).add(answer)
    return known


@torch.no_grad()
def rank_all(model: ReferenceGran, facts: Ids, known: Known, batch: int = 1024) -> NDArray[np.int64]:
    """The filtered rank, from 1, of every element of every fact: the same shape as ``facts``. Ties fall anyhow."""
    model.eval()
    ids, columns = all_masks(facts)
    ranks = []
    for start in range(0, len(ids), batch):
        part = ids[start : start + batch], columns[start : start + batch], model.config
        gold = targets_of(*part)
        logits = model(*encode(*part))
        for row, key, answer in zip(logits, _keys(*part), gold.tolist(), strict=True):
            row[[other for other in known.get(key, set()) if other != answer]] = -torch.inf
        order = logits.argsort(dim=1, descending=True)
        ranks.append((order == gold[:, None]).nonzero()[:, 1] + 1)
    return torch.cat(ranks).reshape(facts.shape).numpy()
