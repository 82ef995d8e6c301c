"""A model that knows a list of facts by heart: its probabilities are shares of these facts, so they can be counted."""

from itertools import permutations

import numpy as np
import torch
from torch import Tensor

from nary.config import Settings
from nary.data.dataset import Dataset
from nary.facts.layout import FIRST_ATTRIBUTE
from nary.inference.predictor import Predictor
from nary.models.base import DatasetInfo, Kind, Model
from nary.models.batch import Batch, Group

_NEVER = 1e-9


class Memory(Model):
    """Scores a candidate by the logarithm of how many facts, that agree with all known elements, have it."""

    name = "memory"
    supports_multiple_masks = True

    def __init__(self, info: DatasetInfo) -> None:
        super().__init__(Settings(), info)
        self.facts = {}
        for block in info.facts.blocks:
            m = block.qualifiers
            orders = [np.array(order, int) for order in permutations(range(m))]
            primary = np.arange(FIRST_ATTRIBUTE)
            turned = [block.ids[:, np.r_[primary, 3 + order, 3 + m + order]] for order in orders]
            self.facts[block.ids.shape[1]] = np.concatenate(turned)

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        size = self.info.num_candidates(kind)
        return torch.stack([row for group in batch.groups for row in self._rows(group, size)])

    def _rows(self, group: Group, size: int) -> list[Tensor]:
        facts = self.facts.get(group.ids.shape[1], np.empty((0, group.ids.shape[1]), int))
        hidden = torch.zeros_like(group.ids, dtype=torch.bool) if group.hidden is None else group.hidden
        found = []
        for ids, column, own in zip(group.ids.numpy(), group.columns.tolist(), hidden.numpy(), strict=True):
            visible = ~own
            visible[column] = False
            agree = (facts[:, visible] == ids[visible]).all(axis=1)
            counts = np.bincount(facts[agree, column], minlength=size) + _NEVER
            found.append(torch.from_numpy(counts).log().float())
        return found


def remembering(dataset: Dataset) -> Predictor:
    """A predictor that knows train by heart."""
    return Predictor(Memory(DatasetInfo.from_dataset(dataset)), dataset)
