"""The order in which an epoch visits the queries, by ``training.shuffle`` and ``training.relation_fraction``.

Up to ``MANY`` queries the order of an epoch is made as a whole. Above, that would be what takes most of the memory, 16
bytes an instance and more, so any part of it is calculated when it is needed. The two are not the same order: results
that were recorded with the first can be repeated.
"""

from abc import ABC, abstractmethod
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from nary.training.instances import Instances, MergedQueries, UnmergedQueries
from nary.training.permutation import Permutation
from nary.training.settings import TrainingSettings

Array = npt.NDArray[np.int64]
MANY = 10_000_000
"""The number of queries up to which the order of an epoch is stored. Merged queries are stored in any case."""
_FACTS = 1 << 16  # of which the instances are listed at a time
_QUERIES, _SAMPLE = 0, 1  # what a permutation is for


class EpochOrder(ABC):
    """The order of the queries in each epoch."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of queries in an epoch."""

    @abstractmethod
    def queries(self, epoch: int, start: int, end: int) -> Array:
        """The queries at places ``start`` to ``end`` of an epoch, of which ``end`` may be beyond the last."""


def epoch_order(
    instances: Instances, queries: MergedQueries | UnmergedQueries, settings: TrainingSettings
) -> EpochOrder:
    """The order that the settings ask for, stored or calculated."""
    seed, relation_fraction = settings.seed, settings.relation_fraction
    if len(queries) <= MANY or isinstance(queries, MergedQueries):
        if settings.shuffle == "facts":
            return StoredFactOrder(instances, seed)
        return StoredOrder(instances, queries, seed, relation_fraction)
    if settings.shuffle == "facts":
        return CalculatedFactOrder(instances, seed)
    return CalculatedOrder(instances, seed, relation_fraction)


class _Stored(EpochOrder):
    """An order as an array, by sorting random words."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        # a batch may need the end of one epoch and the start of the next
        self._epoch = lru_cache(maxsize=2)(
            lambda epoch: self._shuffled(np.random.PCG64([seed, epoch]))  # raw words do not change with numpy's version
        )

    def queries(self, epoch: int, start: int, end: int) -> Array:
        return self._epoch(epoch)[start:end]

    @abstractmethod
    def _shuffled(self, generator: np.random.PCG64) -> Array:
        """All queries of an epoch."""


class StoredFactOrder(_Stored):
    """Shuffled facts, each with its instances side by side."""

    def __init__(self, instances: Instances, seed: int) -> None:
        super().__init__(seed)
        self._instances = instances

    def __len__(self) -> int:
        return len(self._instances)

    def _shuffled(self, generator: np.random.PCG64) -> Array:
        return _side_by_side(self._instances, _permutation(len(self._instances.table), generator))


class StoredOrder(_Stored):
    """Shuffled queries: all for entities, and in each epoch a new sample of those for relations."""

    def __init__(
        self,
        instances: Instances,
        queries: MergedQueries | UnmergedQueries,
        seed: int,
        relation_fraction: float,
    ) -> None:
        super().__init__(seed)
        asks_relation = instances.ask_relations(queries.first(np.arange(len(queries))))
        self._relation_queries = np.flatnonzero(asks_relation)
        self._entity_queries = np.flatnonzero(~asks_relation)
        self._num_relation_queries = round(relation_fraction * self._relation_queries.size)

    def __len__(self) -> int:
        return self._entity_queries.size + self._num_relation_queries

    def _shuffled(self, generator: np.random.PCG64) -> Array:
        sample = _permutation(self._relation_queries.size, generator)[: self._num_relation_queries]
        queries = np.concatenate([self._entity_queries, self._relation_queries[sample]])
        return queries[_permutation(queries.size, generator)]


class CalculatedOrder(EpochOrder):
    """The same as :class:`StoredOrder` for very many queries, which are not merged."""

    def __init__(self, instances: Instances, seed: int, relation_fraction: float) -> None:
        self.seed = seed
        self._instances = instances
        self._of_entities, self._of_relations = (
            Instances(instances.table, {role for role in instances.roles if role.is_entity == is_entity})
            for is_entity in (True, False)
        )
        self._num_relation_queries = round(relation_fraction * len(self._of_relations))

    def __len__(self) -> int:
        return len(self._of_entities) + self._num_relation_queries

    def queries(self, epoch: int, start: int, end: int) -> Array:
        """Permute the places, and find the instances that the results stand for."""
        numbers = Permutation(len(self), self.seed, epoch, _QUERIES)(np.arange(start, min(end, len(self))))
        asks_entity = numbers < len(self._of_entities)
        sampled = numbers[~asks_entity] - len(self._of_entities)
        if sampled.size:
            sampled = Permutation(len(self._of_relations), self.seed, epoch, _SAMPLE)(sampled)
        for chosen, kind, of_kind in (
            (asks_entity, self._of_entities, numbers[asks_entity]),
            (~asks_entity, self._of_relations, sampled),
        ):
            if of_kind.size:
                numbers[chosen] = self._instances.numbers(*kind.places(of_kind))
        return numbers


class CalculatedFactOrder(EpochOrder):
    """The same as :class:`StoredFactOrder` for very many facts.

    How many instances come before a fact depends on the arities of all facts before it. That is counted once an epoch,
    for every 65,536th fact; the instances of those after it are then listed.
    """

    def __init__(self, instances: Instances, seed: int) -> None:
        self.seed = seed
        self._instances = instances
        self._num_facts = len(instances.table)
        self._starts = lru_cache(maxsize=2)(self._count)
        self._listed = lru_cache(maxsize=2)(self._list)

    def __len__(self) -> int:
        return len(self._instances)

    def queries(self, epoch: int, start: int, end: int) -> Array:
        """Cut them out of the parts that they are in."""
        starts = self._starts(epoch)
        first, last = np.searchsorted(starts, [start, min(end, len(self)) - 1], side="right") - 1
        listed = [self._listed(epoch, part) for part in range(first, last + 1)]
        return np.concatenate(listed)[start - starts[first] : end - starts[first]]

    def _facts(self, epoch: int, part: int) -> Array:
        places = np.arange(part * _FACTS, min((part + 1) * _FACTS, self._num_facts))
        return Permutation(self._num_facts, self.seed, epoch, _QUERIES)(places)

    def _count(self, epoch: int) -> Array:
        """The number of instances before each part."""
        num_parts = -(-self._num_facts // _FACTS)
        sizes = [self._instances.of_facts(self._facts(epoch, part))[1].sum() for part in range(num_parts)]
        return np.cumsum(sizes) - sizes

    def _list(self, epoch: int, part: int) -> Array:
        return _side_by_side(self._instances, self._facts(epoch, part))


def _side_by_side(instances: Instances, facts: Array) -> Array:
    """The instances of ``facts``, one fact after the other."""
    first, count = instances.of_facts(facts)
    return np.repeat(first - (np.cumsum(count) - count), count) + np.arange(count.sum())


def _permutation(count: int, generator: np.random.PCG64) -> Array:
    return np.argsort(generator.random_raw(count), kind="stable")
