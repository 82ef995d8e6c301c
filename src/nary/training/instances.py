"""Masked elements of facts, and the queries that they make up."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nary.facts import FactTable, Role
from nary.facts.table import number_rows

Array = npt.NDArray[np.int64]


class Instances:
    """Every element of the given roles, masked one at a time. Instances are numbered by block, row and column.

    What a number stands for is calculated, so that nothing is stored for an instance, however many there are.
    """

    def __init__(self, table: FactTable, roles: Collection[Role]) -> None:
        self.table = table
        self.roles = roles
        columns = [[column for column, role in enumerate(block.roles) if role in roles] for block in table.blocks]
        shape = len(columns), max([1, *map(len, columns)])
        self._columns, self._is_relation = np.zeros(shape, np.int64), np.zeros(shape, bool)  # by block and mask
        for number, (block, masked) in enumerate(zip(table.blocks, columns, strict=True)):
            self._columns[number, : len(masked)] = masked
            self._is_relation[number, : len(masked)] = [column in block.relation_columns for column in masked]
        self._num_masks = np.array([len(masked) for masked in columns], np.int64)  # of a fact, by block
        num_facts = np.array([len(block) for block in table.blocks], np.int64)
        num_instances = num_facts * self._num_masks
        self._first_fact, self._first = (np.cumsum(sizes) - sizes for sizes in (num_facts, num_instances))
        self._size = int(num_instances.sum())

    def __len__(self) -> int:
        return self._size

    def places(self, numbers: Array) -> tuple[Array, Array, Array]:
        """Block and row of the fact, and the masked column, of each instance."""
        block, row, mask = self._masks(numbers)
        return block, row, self._columns[block, mask]

    def ask_relations(self, numbers: Array) -> npt.NDArray[np.bool_]:
        """Whether the masked element of each instance is a relation or an attribute."""
        block, _, mask = self._masks(numbers)
        return self._is_relation[block, mask]

    def _masks(self, numbers: Array) -> tuple[Array, Array, Array]:
        """Block and row of the fact of each instance, and the number of its mask among those of the fact."""
        block = np.searchsorted(self._first, numbers, side="right") - 1
        return block, *np.divmod(numbers - self._first[block], self._num_masks[block])

    def numbers(self, block: Array, row: Array, column: Array) -> Array:
        """The instances at these places, the inverse of :meth:`places`."""
        mask = (self._columns[block] < column[:, None]).argmin(1)
        return self._first[block] + row * self._num_masks[block] + mask

    def of_facts(self, facts: Array) -> tuple[Array, Array]:
        """The first instance of each fact, and how many it has; facts are numbered by block and row."""
        block = np.searchsorted(self._first_fact, facts, side="right") - 1
        count = self._num_masks[block]
        return self._first[block] + (facts - self._first_fact[block]) * count, count

    def answers(self, numbers: Array) -> Array:
        """The masked id of each instance."""
        block, row, column = self.places(numbers)
        answers = np.empty_like(numbers)
        for number in np.unique(block):
            chosen = np.flatnonzero(block == number)
            answers[chosen] = self.table.blocks[number].ids[row[chosen], column[chosen]]
        return answers


@dataclass(frozen=True)
class MergedQueries:
    """Queries [Q] over instances [N]: query q is the instances ``members[start[q] : start[q] + size[q]]``.

    They differ in nothing but the answer; the first one stands for the query.
    """

    members: Array
    start: Array
    size: Array

    @classmethod
    def of(cls, instances: Instances) -> "MergedQueries":
        """Group the instances that differ in nothing but the answer."""
        query = _number_queries(instances)
        size = np.bincount(query)
        return cls(np.argsort(query, kind="stable"), np.cumsum(size) - size, size)

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


class UnmergedQueries:
    """Every instance as a query of its own, with the number that it has."""

    def __init__(self, instances: Instances) -> None:
        self._size = len(instances)

    def __len__(self) -> int:
        return self._size

    def first(self, queries: Array) -> Array:
        """The instances that stand for ``queries`` [B]: they are the same."""
        return queries

    def expand(self, queries: Array) -> tuple[Array, Array]:
        """The instances of ``queries`` [B], and the place in ``queries`` that each belongs to."""
        return queries, np.arange(queries.size)


def _number_queries(instances: Instances) -> Array:
    """The number of the query of each instance: equal for those that differ only in the answer."""
    numbers = np.empty(len(instances), np.int64)
    count = 0
    for block_number, block in enumerate(instances.table.blocks):
        rows = np.arange(len(block))
        for column in (column for column, role in enumerate(block.roles) if role in instances.roles):
            chosen = instances.numbers(np.full_like(rows, block_number), rows, np.full_like(rows, column))
            context = np.delete(block.ids, column, axis=1)
            numbers[chosen] = count + number_rows([context])[0]
            count = numbers[chosen].max() + 1
    return numbers
