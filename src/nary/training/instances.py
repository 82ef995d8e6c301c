"""Instances: every element of every fact masked once an epoch, in batches that run across the borders of epochs.

The batch of a step follows from the table, the seed and the number of the step alone, so a resumed run needs no memory
of what came before.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch

from nary.facts import FactTable
from nary.models.batch import Batch, Group

_Numbers = npt.NDArray[np.int64]


class Instances:
    """The masked instances of a table of facts, a batch a step.

    Instances are numbered fact after fact, lowest arity first, and within a fact by the masked column.
    """

    def __init__(self, table: FactTable, batch: int, seed: int, shuffle: str = "facts") -> None:
        self.table = table
        self.batch = batch
        self.seed = seed
        self.shuffle = shuffle
        sizes = [len(block) for block in table.blocks]
        self._block = np.repeat(np.arange(len(sizes)), sizes)  # of each fact
        self._row = np.concatenate([np.arange(size) for size in sizes])
        self._masks = np.repeat([block.ids.shape[1] for block in table.blocks], sizes)
        self._first = np.cumsum(self._masks) - self._masks  # the first instance of each fact
        self._fact = np.repeat(np.arange(self._masks.size), self._masks)  # of each instance
        self._order = lru_cache(maxsize=2)(self._shuffled)  # where two epochs meet, a batch needs both

    def __len__(self) -> int:
        """The number of instances in an epoch."""
        return int(self._fact.size)

    def steps(self, epochs: int) -> int:
        """How many whole batches so many epochs have."""
        return epochs * len(self) // self.batch

    def at(self, step: int) -> Batch:
        """The batch of a step, counted from 0; its groups are ordered by arity."""
        parts = []
        start, end = step * self.batch, (step + 1) * self.batch
        while start < end:
            epoch, first = divmod(start, len(self))
            parts.append(self._order(epoch)[first : first + end - start])
            start += parts[-1].size
        chosen = np.concatenate(parts)
        facts = self._fact[chosen]
        return self._batch(facts, chosen - self._first[facts])

    def _shuffled(self, epoch: int) -> _Numbers:
        """The order of the instances in an epoch."""
        count = self._masks.size if self.shuffle == "facts" else len(self)
        words = np.random.PCG64([self.seed, epoch]).random_raw(count)  # raw words do not change with numpy's version
        order = np.argsort(words, kind="stable")
        if self.shuffle == "instances":
            return order
        masks = self._masks[order]  # the masks of one fact stay side by side
        return np.repeat(self._first[order] - (np.cumsum(masks) - masks), masks) + np.arange(len(self))

    def _batch(self, facts: _Numbers, columns: _Numbers) -> Batch:
        groups = []
        for number, block in enumerate(self.table.blocks):
            own = np.flatnonzero(self._block[facts] == number)
            if own.size:
                ids = block.ids[self._row[facts[own]]].astype(np.int64)
                groups.append(Group(torch.from_numpy(ids), torch.from_numpy(columns[own])))
        return Batch(groups)
