"""What stands in each slot of the training facts, and how often: the ranges of relations and attributes.

The slots are: the relation; the subject, the object and the attributes of each relation; the values of each attribute.
"""

import numpy as np
import numpy.typing as npt

from nary.facts import Block, FactTable
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT, first_value
from nary.facts.table import Ids, Rows


class Slots:
    """The elements seen in each slot of a table of facts."""

    def __init__(self, table: FactTable, num_entities: int, num_relations: int) -> None:
        self._num_relations = num_relations
        self._span = max(num_entities, num_relations)
        keys = [(self.of(block.ids) * self._span + block.ids).ravel() for block in table.blocks]
        self._keys, self._counts = np.unique(np.concatenate([np.empty(0, np.int64), *keys]), return_counts=True)
        self.totals = np.zeros(1 + 4 * num_relations, np.int64)
        """How many elements stand in each slot."""
        np.add.at(self.totals, self._keys // self._span, self._counts)

    def of(self, ids: Ids) -> Rows:
        """The number of the slot of each element of id rows [n, 2m+3]."""
        size = self._num_relations
        values = first_value((ids.shape[1] - FIRST_ATTRIBUTE) // 2)
        relation = ids[:, [RELATION]].astype(np.int64)
        slots = np.zeros(ids.shape, np.int64)
        slots[:, [SUBJECT]] = 1 + relation
        slots[:, [OBJECT]] = 1 + size + relation
        slots[:, FIRST_ATTRIBUTE:values] = 1 + 2 * size + relation
        slots[:, values:] = self.of_values(ids[:, FIRST_ATTRIBUTE:values])
        return slots

    def of_values(self, attributes: npt.NDArray[np.integer]) -> Rows:
        """The slots of the values of attributes."""
        return 1 + 3 * self._num_relations + attributes.astype(np.int64)

    def roles(self, slots: Rows) -> Rows:
        """The role of each slot: 0 for relations, then 1 to 4 for subjects, objects, attributes and values."""
        return (slots - 1) // self._num_relations + 1

    def counts(self, slots: Rows, ids: npt.NDArray[np.integer]) -> Rows:
        """How often each element stands in its slot; both arrays have the same shape."""
        if not len(self._keys):
            return np.zeros(slots.shape, np.int64)
        keys = slots * self._span + ids
        places = np.searchsorted(self._keys, keys).clip(max=len(self._keys) - 1)
        return np.where(self._keys[places] == keys, self._counts[places], 0)

    def members(self, slot: int) -> tuple[Rows, Rows]:
        """The elements that stand in a slot, ascending, and how often each does."""
        first, last = np.searchsorted(self._keys, [slot * self._span, (slot + 1) * self._span])
        return self._keys[first:last] % self._span, self._counts[first:last]


class Pairs:
    """How often two entities occur in the same fact of a table."""

    def __init__(self, table: FactTable) -> None:
        keys = [_pair_keys(block).ravel() for block in table.blocks]
        self._keys, self._counts = np.unique(np.concatenate([np.empty(0, np.int64), *keys]), return_counts=True)

    def counts(self, block: Block) -> Rows:
        """How often each two entities of each fact occur together [n, pairs]."""
        keys = _pair_keys(block)
        if not len(self._keys):
            return np.zeros(keys.shape, np.int64)
        places = np.searchsorted(self._keys, keys).clip(max=len(self._keys) - 1)
        return np.where(self._keys[places] == keys, self._counts[places], 0)


def _pair_keys(block: Block) -> Rows:
    """A number for each two entities of each fact, whatever their order [n, pairs]."""
    entities = block.entities.astype(np.int64)
    one, two = np.triu_indices(entities.shape[1], 1)
    first, second = entities[:, one], entities[:, two]
    return (np.minimum(first, second) << 32) | np.maximum(first, second)
