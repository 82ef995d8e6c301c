"""Small models that judge whole facts, with random weights, and facts for them."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nary.facts import FactTable
from nary.models.base import DatasetInfo, Kind, Model
from nary.models.batch import Batch


def facts(arities: Sequence[int] = (2, 3, 4, 5), count: int = 4) -> FactTable:
    """Random facts, so many of each arity; with three attributes for up to three qualifiers, some have one twice."""
    random = np.random.default_rng(0)
    counts = np.repeat(arities, count) - 2
    heads = np.stack([random.integers(high, size=len(counts)) for high in (6, 9, 9)], 1)
    pairs = np.stack([random.integers(high, size=counts.sum()) for high in (3, 9)], 1)
    return FactTable.from_columns(heads.astype(np.int32), counts, pairs.astype(np.int32))


INFO = DatasetInfo(num_entities=9, num_relations=6, max_arity=5, facts=facts())


def ids_of(table: FactTable) -> list[Tensor]:
    """The facts of each arity."""
    return [torch.from_numpy(block.ids.astype(np.int64)) for block in table.blocks]


def randomized(model: Model) -> Model:
    """The model in double precision, in evaluation, with random weights and a norm that has seen something."""
    model.double()
    torch.manual_seed(0)
    with torch.no_grad():
        for name, tensor in (*model.named_parameters(), *model.named_buffers()):
            if tensor.is_floating_point():
                tensor.copy_(torch.rand_like(tensor) + 0.5 if name.endswith("variance") else torch.randn_like(tensor))
    return model.eval()


def whole_scores(model: Model, batch: Batch, kind: Kind) -> Tensor:
    """The scores [B, C] of all candidates, each put into the fact."""
    candidates = torch.arange(INFO.num_candidates(kind))
    rows = []
    for group in batch.groups:
        for ids, column in zip(group.ids, group.columns.tolist(), strict=True):
            tiled = ids.repeat(len(candidates), 1)
            tiled[:, column] = candidates
            rows.append(model.fact_scores(tiled).detach())
    return torch.stack(rows)
