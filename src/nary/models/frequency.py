"""The floor every system must beat: answer with what stands most often in that place."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from nary.config import Settings
from nary.facts import FactTable
from nary.facts.layout import FIRST_ATTRIBUTE, RELATION
from nary.models.batch import Batch, Group
from nary.models.contract import Kind, Model, Sizes

_BACKOFF = 1e-3
"""The weight of how often a candidate occurs at all, which orders those never seen in the place."""


class FrequencySettings(Settings):
    """``[model]`` of a recipe for the frequency model."""

    name: Literal["frequency"] = "frequency"


class Frequency(Model):
    """Scores a candidate by how often it fills the place in train.

    The place of a subject or object is the relation, that of a value the attribute, that of an attribute the relation;
    a missing relation is answered by how often each relation occurs.
    """

    name = "frequency"

    def __init__(self, settings: FrequencySettings, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        for kind in ("entity", "relation"):  # counts by place, as rows of a sparse matrix
            self.register_buffer(f"{kind}_starts", torch.zeros(1, dtype=torch.int64))
            self.register_buffer(f"{kind}_candidates", torch.zeros(0, dtype=torch.int64))
            self.register_buffer(f"{kind}_counts", torch.zeros(0))
            self.register_buffer(f"{kind}_overall", torch.zeros(0))

    def prepare(self, train: FactTable) -> None:
        """Count."""
        places: dict[str, list[tuple[Tensor, Tensor]]] = {"entity": [], "relation": []}
        for block in train.blocks:
            ids = torch.from_numpy(block.ids.astype(np.int64))
            for column in range(ids.shape[1]):
                group = Group(ids, torch.full((len(ids),), column))
                kind = "entity" if group.asks_entity[0] else "relation"
                places[kind].append((self._places(group), ids[:, column]))
        for kind, found in places.items():
            size = self.sizes.entities if kind == "entity" else self.sizes.relations
            place, candidate = (torch.cat(part) for part in zip(*found, strict=True))
            keys, counts = torch.unique(place * size + candidate, return_counts=True)
            rows = torch.bincount(keys // size, minlength=4 * self.sizes.relations)
            setattr(self, f"{kind}_starts", torch.cat([torch.zeros(1, dtype=torch.int64), rows.cumsum(0)]))
            setattr(self, f"{kind}_candidates", keys % size)
            setattr(self, f"{kind}_counts", counts.float())
            setattr(self, f"{kind}_overall", torch.bincount(candidate, minlength=size).float())

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """The logarithm of how often each candidate stands in the place [B, C]: its softmax is the share of each."""
        starts, candidates, counts, overall = self._of(kind)
        places = torch.cat([self._places(group) for group in batch.groups])
        first, sizes = starts[places], starts[places + 1] - starts[places]
        rows = torch.arange(len(places), device=places.device).repeat_interleave(sizes)
        at = torch.arange(len(rows), device=places.device) + (first - (sizes.cumsum(0) - sizes))[rows]
        shares = (overall + 1) / (overall + 1).sum()  # never 0, not even for what train does not have
        scores = (_BACKOFF * shares).repeat(len(places), 1)
        return scores.index_put((rows, candidates[at]), counts[at], accumulate=True).log()

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Take counts of any length: how many there are depends on the facts."""
        for name, counts in state_dict.items():
            setattr(self, name, counts)
        for kind, size in (("entity", self.sizes.entities), ("relation", self.sizes.relations)):
            starts, candidates, counts, overall = self._of(kind)
            lengths = len(starts) == 4 * self.sizes.relations + 1 and len(candidates) == len(counts)
            borders = [0, *starts.tolist(), len(candidates)]
            known = bool(((candidates >= 0) & (candidates < size)).all())
            if (
                not lengths
                or borders != sorted(borders)
                or borders[-2] != borders[-1]
                or not known
                or len(overall) != size
            ):
                raise RuntimeError(f"the counts of {kind} candidates do not fit together")

    def _of(self, kind: str) -> tuple[Tensor, ...]:
        return tuple(getattr(self, f"{kind}_{name}") for name in ("starts", "candidates", "counts", "overall"))

    def _places(self, group: Group) -> Tensor:
        """The number of the place of each masked element [n]; the elements themselves are not looked at."""
        m, columns = group.qualifiers, group.columns
        asked = torch.tensor([0, 1, 2, *[1] * m, *[3] * m], device=columns.device)[columns]
        partner = torch.where(
            columns >= FIRST_ATTRIBUTE + m, columns - m, RELATION
        )  # a value's attribute, or the relation
        known = group.ids.gather(1, partner[:, None])[:, 0]
        return torch.where(columns == RELATION, 0, asked * self.sizes.relations + known)
