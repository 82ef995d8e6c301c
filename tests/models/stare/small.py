"""A small STARE with random weights in double precision, and its plain twin."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from reference.stare import ReferenceStare, StareConfig, graph_of
from torch import Tensor

from nary.facts import FactTable
from nary.models.base import DatasetInfo
from nary.models.batch import Batch, Group
from nary.models.stare.model import Stare, StareSettings

SMALL: dict[str, Any] = {
    "hidden_dim": 8,
    "num_heads": 2,
    "ffn_dim": 10,
    "dropout": 0.0,
    "message_dropout": 0.0,
    "graph_dropout": 0.0,
    "padded_qualifiers": 4,
}


def facts(seed: int = 0, counts: tuple[int, ...] = (9, 8, 7, 3)) -> FactTable:
    """Random facts, so many with 0, 1, 2, ... qualifiers; some are there twice."""
    random = np.random.default_rng(seed)
    qualifiers = np.repeat(np.arange(len(counts)), counts)
    heads = np.stack([random.integers(high, size=qualifiers.size) for high in (5, 12, 12)], 1)
    pairs = np.stack([random.integers(high, size=qualifiers.sum()) for high in (5, 4)], 1)
    table = FactTable.from_columns(heads.astype(np.int32), qualifiers, pairs.astype(np.int32))
    return FactTable.concatenate([table, table.take(np.arange(0, len(table), 5))])


INFO = DatasetInfo(num_entities=12, num_relations=5, max_arity=5, facts=facts())


def make(table: FactTable | None = None, **settings: Any) -> Stare:
    """A model in training mode whose weights are large enough that every term matters."""
    torch.manual_seed(0)
    model = Stare(StareSettings(**(SMALL | settings)), replace(INFO, facts=table or INFO.facts)).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.5)
    return model


def group_of(table: FactTable, qualifiers: int, *columns: int) -> Group:
    """The facts with so many qualifiers, each with the given columns masked in turn."""
    (block,) = (block for block in table.blocks if block.qualifiers == qualifiers)
    ids = torch.from_numpy(block.ids.astype(np.int64))
    return Group(ids.repeat_interleave(len(columns), 0), torch.tensor(columns).repeat(len(ids)))


def every_group(table: FactTable) -> Batch:
    """Every element of every fact masked in turn."""
    return Batch([group_of(table, block.qualifiers, *range(block.ids.shape[1])) for block in table.blocks])


def twin_of(model: Stare, table: FactTable) -> ReferenceStare:
    """The reference with the weights of ``model``."""
    own = model.settings
    config = StareConfig(
        INFO.num_entities,
        INFO.num_relations,
        own.hidden_dim,
        own.num_graph_layers,
        own.relation_weight,
        own.message_dropout,
        own.graph_dropout,
        own.num_layers,
        own.num_heads,
        own.ffn_dim,
        own.dropout,
        own.padded_qualifiers,
    )
    twin = ReferenceStare(config, graph_of([block.ids for block in table.blocks])).double()
    theirs = dict(twin.named_parameters())
    with torch.no_grad():
        for name, ours in renamed(model, dict(model.named_parameters())):
            theirs.pop(name).copy_(ours)
    assert not theirs, f"never set: {list(theirs)}"
    return twin.train(model.training)


_GRAPH = {
    "subject_weight": "to_subjects",
    "object_weight": "to_objects",
    "loop_weight": "loop",
    "qualifier_weight": "qualifier",
    "relation_weight": "relation",
}
_LAYER = {  # name there, and which of the axes of a matrix run over coordinates of a vector
    "projection.weight": ("self_attn.in_proj_weight", (1,)),
    "projection.bias": ("self_attn.in_proj_bias", ()),
    "mixing.weight": ("self_attn.out_proj.weight", (0,)),
    "mixing.bias": ("self_attn.out_proj.bias", (0,)),
    "attention_norm.weight": ("norm1.weight", (0,)),
    "attention_norm.bias": ("norm1.bias", (0,)),
    "inner.weight": ("linear1.weight", (1,)),
    "inner.bias": ("linear1.bias", ()),
    "outer.weight": ("linear2.weight", (0,)),
    "outer.bias": ("linear2.bias", (0,)),
    "outer_norm.weight": ("norm2.weight", (0,)),
    "outer_norm.bias": ("norm2.bias", (0,)),
}


def renamed(model: Stare, tensors: dict[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    """Parameters of ``model``, or their gradients, under the names of the reference and in its order of coordinates."""
    width = model.settings.hidden_dim
    halves = torch.arange(width).view(-1, 2).T.flatten()  # real parts first

    def turned(tensor: Tensor, *axes: int) -> Tensor:
        for axis in axes:
            tensor = tensor.index_select(axis, halves)
        return tensor

    yield "entities", turned(tensors["entity_embedding"], 1)
    yield "relations", turned(tensors["relation_embedding"], 1)
    positions = tensors["decoder.positions"]
    yield "positions", turned(torch.cat([positions[:2], positions[3:]]), 1)  # no place for the object
    for name in ("output.weight", "output.bias"):
        tensor = tensors[f"decoder.{name}"]
        yield name, turned(tensor, *range(tensor.dim()))
    for number in range(model.settings.num_graph_layers):
        own, other = f"encoder.layers.{number}", f"graph_layers.{number}"
        for name, there in _GRAPH.items():
            yield f"{other}.{there}", turned(tensors[f"{own}.{name}"], 0, 1)
        yield f"{other}.loop_relation", turned(tensors[f"{own}.loop_relation"], 1)
        for name in ("norm.weight", "norm.bias"):
            yield f"{other}.{name}", turned(tensors[f"{own}.{name}"], 0)
    for number in range(model.settings.num_layers):
        for name, (there, axes) in _LAYER.items():
            yield f"layers.{number}.{there}", turned(tensors[f"decoder.layers.{number}.{name}"], *axes)
