"""Training batches: every element of every fact masked once an epoch, in a shuffled order.

The steps are separate: :func:`mask_elements` lists the instances, :meth:`QueryIndex.merging` groups those that differ
only in the answer, :class:`EpochOrder` shuffles the queries of an epoch, and :class:`TrainingBatches` cuts batches out
of the epochs, one after the other. The batch of a step is a function of table, seed and step, so resuming needs no
sampler state.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nary.facts import FactTable, Role
from nary.facts.table import number_rows
from nary.models.batch import Batch, Group
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


@dataclass(frozen=True)
class Instances:
    """Masked elements [N]: the block and the row of the fact, the masked column and the id there.

    They are ordered by block, then by row, then by column.
    """

    block: Array
    row: Array
    column: Array
    answer: Array
    asks_relation: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return self.block.size


def mask_elements(table: FactTable, roles: Collection[Role]) -> Instances:
    """Mask every element of the given roles, one at a time."""
    parts = [
        _mask_block(table, number, [column for column, role in enumerate(block.roles) if role in roles])
        for number, block in enumerate(table.blocks)
    ]
    return Instances(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _mask_block(table: FactTable, number: int, columns: list[int]) -> tuple[npt.NDArray[np.generic], ...]:
    block = table.blocks[number]
    size = len(block) * len(columns)
    return (
        np.full(size, number, np.int64),
        np.repeat(np.arange(len(block)), len(columns)),
        np.tile(np.array(columns, np.int64), len(block)),
        block.ids[:, columns].reshape(-1).astype(np.int64),
        np.tile(np.isin(columns, block.relation_columns), len(block)),
    )


@dataclass(frozen=True)
class QueryIndex:
    """Queries [Q] over instances [N]: query q is the instances ``members[start[q] : start[q] + size[q]]``.

    They differ in nothing but the answer; the first one stands for the query.
    """

    members: Array
    start: Array
    size: Array

    @classmethod
    def merging(cls, table: FactTable, instances: Instances) -> "QueryIndex":
        """Group the instances that differ in nothing but the answer."""
        query = _number_queries(table, instances)
        size = np.bincount(query)
        return cls(np.argsort(query, kind="stable"), np.cumsum(size) - size, size)

    @classmethod
    def one_each(cls, instances: Instances) -> "QueryIndex":
        """Every instance is a query of its own."""
        numbers = np.arange(len(instances))
        return cls(numbers, numbers, np.ones_like(numbers))

    def __len__(self) -> int:
        return self.size.size

    def first(self, queries: Array) -> Array:
        """The instances that stand for ``queries`` [B]."""
        return self.members[self.start[queries]]

    def expand(self, queries: Array) -> tuple[Array, Array]:
        """All instances of ``queries`` [B], and the place in ``queries`` that each belongs to; both [K]."""
        size = self.size[queries]
        rows = np.repeat(np.arange(queries.size), size)
        offset_in_query = np.arange(rows.size) - np.repeat(np.cumsum(size) - size, size)
        return self.members[np.repeat(self.start[queries], size) + offset_in_query], rows


def _number_queries(table: FactTable, instances: Instances) -> Array:
    """The number of the query of each instance: equal for those that differ only in the answer."""
    numbers = np.empty(len(instances), np.int64)
    count = 0
    for block_number, block in enumerate(table.blocks):
        in_block = np.flatnonzero(instances.block == block_number)
        for column in np.unique(instances.column[in_block]):
            chosen = in_block[instances.column[in_block] == column]
            context = np.delete(block.ids[instances.row[chosen]], column, axis=1)
            numbers[chosen] = count + number_rows([context])[0]
            count = numbers[chosen].max() + 1
    return numbers


class EpochOrder:
    """The order of the queries in each epoch, by ``training.shuffle`` and ``training.relation_fraction``."""

    def __init__(self, table: FactTable, instances: Instances, queries: QueryIndex, settings: TrainingSettings) -> None:
        self.seed = settings.seed
        self.shuffle = settings.shuffle
        block_start = np.cumsum([0, *(len(block) for block in table.blocks)])
        self._masks = np.bincount(block_start[instances.block] + instances.row, minlength=len(table))  # of each fact
        asks_relation = instances.asks_relation[queries.members[queries.start]]
        self._relation_queries = np.flatnonzero(asks_relation)
        self._entity_queries = np.flatnonzero(~asks_relation)
        self._num_relation_queries = round(settings.relation_fraction * self._relation_queries.size)

    def __len__(self) -> int:
        """The number of queries in an epoch."""
        return self._entity_queries.size + self._num_relation_queries

    def __call__(self, epoch: int) -> Array:
        """The queries of an epoch."""
        generator = np.random.PCG64([self.seed, epoch])  # its raw words do not change with numpy's version
        return self._by_fact(generator) if self.shuffle == "facts" else self._by_query(generator)

    def _by_fact(self, generator: np.random.PCG64) -> Array:
        """Shuffle the facts; the instances of a fact stay side by side."""
        facts = _permutation(self._masks.size, generator)
        masks = self._masks[facts]
        first = (np.cumsum(self._masks) - self._masks)[facts]  # the first instance of each fact
        return np.repeat(first - (np.cumsum(masks) - masks), masks) + np.arange(len(self))

    def _by_query(self, generator: np.random.PCG64) -> Array:
        """Shuffle all queries for entities and a new sample of those for relations."""
        sample = _permutation(self._relation_queries.size, generator)[: self._num_relation_queries]
        queries = np.concatenate([self._entity_queries, self._relation_queries[sample]])
        return queries[_permutation(queries.size, generator)]


def _permutation(count: int, generator: np.random.PCG64) -> Array:
    return np.argsort(generator.random_raw(count), kind="stable")


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
        self.instances = mask_elements(table, {Role.RELATION} if whole_facts else roles)
        merge = settings.merge_queries
        self.queries = QueryIndex.merging(table, self.instances) if merge else QueryIndex.one_each(self.instances)
        self.order = EpochOrder(table, self.instances, self.queries, settings)
        self._epoch = lru_cache(maxsize=2)(
            self.order
        )  # a batch may need the end of one epoch and the start of the next
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
        first = self.queries.first(queries)
        places = (part[first] for part in (self.instances.block, self.instances.row, self.instances.column))
        order, batch = self._masked_facts(*places) if self._dropout is None else self._dropout(step, *places)
        members, rows = self.queries.expand(queries[order])
        weights = np.full(rows.size, self._weight)
        targets = (torch.from_numpy(part) for part in (rows, self.instances.answer[members], weights))
        return TrainingBatch(batch, *targets)

    def _queries_at(self, step: int) -> Array:
        """The queries of a batch, which may run across the border of epochs."""
        parts = []
        start, end = step * self.batch_size, (step + 1) * self.batch_size
        while start < end:
            epoch, first = divmod(start, len(self))
            parts.append(self._epoch(epoch)[first : first + end - start])
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
