"""Training batches: every element of every fact masked once an epoch, in a shuffled order.

The steps are separate: :class:`Instances` numbers the masked elements, :class:`MergedQueries` groups those that differ
only in the answer, :class:`EpochOrder` shuffles the queries of an epoch, and :class:`TrainingBatches` cuts batches out
of the epochs, one after the other. The batch of a step is a function of table, seed and step, so resuming needs no
sampler state.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nary.facts import FactTable, Role
from nary.models.batch import Batch, Group
from nary.training.epoch_order import epoch_order
from nary.training.instances import Instances, MergedQueries, UnmergedQueries
from nary.training.qualifier_dropout import QualifierDropout
from nary.training.settings import TrainingSettings

Array = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TrainingBatch:
    """Masked facts [B] and their sparse targets [K]: one each, or more where equal queries are merged.

    ``rows`` [K] is the row of the batch that a target belongs to, ascending; ``weights`` [K] how much it counts.
    """

    batch: Batch
    rows: Tensor
    targets: Tensor
    weights: Tensor

    @classmethod
    def from_batch(cls, batch: Batch) -> "TrainingBatch":
        """Every masked fact with its own answer as the only target."""
        return cls(batch, torch.arange(len(batch)), batch.answers, torch.ones(len(batch)))

    def to(self, device: torch.device) -> "TrainingBatch":
        """The same batch on ``device``."""
        parts = (part.to(device) for part in (self.rows, self.targets, self.weights))
        return TrainingBatch(self.batch.to(device), *parts)


class TrainingBatches:
    """The batches of a table of facts.

    Only elements of ``roles`` are masked. A loss of ``whole_facts`` gets every fact once an epoch, whatever is masked.
    """

    def __init__(
        self,
        table: FactTable,
        settings: TrainingSettings,
        roles: Collection[Role] = frozenset(Role),
        *,
        whole_facts: bool = False,
    ) -> None:
        self.table = table
        self.batch_size = settings.batch_size
        self.instances = Instances(table, {Role.RELATION} if whole_facts else roles)
        merge = MergedQueries.of if settings.merge_queries else UnmergedQueries
        self.queries: MergedQueries | UnmergedQueries = merge(self.instances)
        self.order = epoch_order(self.instances, self.queries, settings)
        # An epoch of merged queries counts as much as it has queries.
        self._weight = np.float32(len(self.queries) / max(1, len(self.instances)))
        share = settings.qualifier_dropout
        self._dropout = QualifierDropout(table, share, settings.seed) if share else None

    def __len__(self) -> int:
        """The number of queries in an epoch; without merging, of instances."""
        return len(self.order)

    def num_steps(self, epochs: int) -> int:
        """The number of whole batches in so many epochs."""
        return epochs * len(self) // self.batch_size

    def batch_at(self, step: int) -> TrainingBatch:
        """The batch of a step, counted from 0; its groups are ordered by arity."""
        queries = self._queries_at(step)
        places = self.instances.places(self.queries.first(queries))
        order, batch = self._masked_facts(*places) if self._dropout is None else self._dropout(step, *places)
        members, rows = self.queries.expand(queries[order])
        weights = np.full(rows.size, self._weight)
        targets = (torch.from_numpy(part) for part in (rows, self.instances.answers(members), weights))
        return TrainingBatch(batch, *targets)

    def _queries_at(self, step: int) -> Array:
        """The queries of a batch, which may run across the border of epochs."""
        parts = []
        start, end = step * self.batch_size, (step + 1) * self.batch_size
        while start < end:
            epoch, first = divmod(start, len(self))
            parts.append(self.order.queries(epoch, first, first + end - start))
            start += parts[-1].size
        return np.concatenate(parts)

    def _masked_facts(self, block: Array, row: Array, column: Array) -> tuple[Array, Batch]:
        """The facts of instances [B], group by group, and the order of the instances in them."""
        order = np.argsort(block, kind="stable")
        groups = []
        for rows in np.split(order, np.flatnonzero(np.diff(block[order])) + 1):
            ids = self.table.blocks[block[rows[0]]].ids[row[rows]].astype(np.int64)
            groups.append(Group(torch.from_numpy(ids), torch.from_numpy(column[rows])))
        return order, Batch(groups)
