"""Small models of tuples with random weights, and facts for them."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nary.facts import FactTable
from nary.models.base import DatasetInfo
from nary.models.batch import Batch, Group
from nary.models.registry import MODELS as REGISTRY
from nary.models.tuples.base import TupleModel

SETTINGS: dict[str, dict[str, Any]] = {
    "n-cp": {"embedding_dim": 4},
    "n-tucker": {"embedding_dim": 2},
    "getd": {"embedding_dim": 2, "rank": 3},
    "hype": {"embedding_dim": 7, "num_filters": 3},
    "m-distmult": {"embedding_dim": 4},
    "m-cp": {"embedding_dim": 4},
    "hsimple": {"embedding_dim": 7},
    "ram": {"embedding_dim": 3, "num_parts": 2, "num_bases": 4},
    "m-transh": {"embedding_dim": 4},
    "rae": {"embedding_dim": 4, "hidden_dim": 5},
}
"""Every model of tuples, small."""
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "hype, filters that overlap": ("hype", {"embedding_dim": 7, "num_filters": 2, "filter_size": 3, "stride": 2}),
    "m-transh of HypE": ("m-transh", {"embedding_dim": 4, "variant": "hype"}),
}
"""Models with options."""
MODELS = {name: (name, settings) for name, settings in SETTINGS.items()} | OTHERS
DISTANCES = {"m-transh", "rae"}


def facts(arities: tuple[int, ...] = (2, 3, 4, 5), count: int = 4, seed: int = 0) -> FactTable:
    """Random facts, so many of each arity."""
    random = np.random.default_rng(seed)
    counts = np.repeat(arities, count) - 2
    heads = np.stack([random.integers(high, size=len(counts)) for high in (6, 9, 9)], 1)
    pairs = np.stack([random.integers(high, size=counts.sum()) for high in (6, 9)], 1)
    return FactTable.from_columns(heads.astype(np.int32), counts, pairs.astype(np.int32))


INFO = DatasetInfo(num_entities=9, num_relations=6, max_arity=5, facts=facts())


def build(name: str, info: DatasetInfo, **settings: Any) -> TupleModel:
    """A model with the first weights it has after ``torch.manual_seed(0)``."""
    torch.manual_seed(0)
    model_class = REGISTRY.get(name)
    model = model_class(model_class.settings_class(**settings), info)
    assert isinstance(model, TupleModel)
    return model


def make(name: str, table: FactTable | None = None, info: DatasetInfo = INFO, **settings: Any) -> TupleModel:
    """A model in double precision whose weights, and whatever norms remember, are random."""
    model = build(name, replace(info, facts=table or info.facts), **(SETTINGS[name] | settings)).double()
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            if tensor.is_floating_point():
                tensor.copy_(torch.randn_like(tensor))
        for key, tensor in model.named_buffers():
            if key.endswith("running_var"):
                tensor.abs_().add_(0.1)
    return model.eval()


def groups(table: FactTable) -> list[Group]:
    """Every entity of every fact masked in turn; a group an arity, the masked columns mixed."""
    found = []
    for block in table.blocks:
        columns = torch.tensor(block.entity_columns)
        ids = torch.from_numpy(block.ids.astype(np.int64)).repeat_interleave(len(columns), 0)
        found.append(Group(ids, columns.repeat(len(block))))
    return found


def scores(model: TupleModel, *own: Group) -> Tensor:
    with torch.inference_mode():
        return model.score(Batch(own), "entity")
