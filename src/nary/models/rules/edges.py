"""Edges: every fact links each of its entities with each other one, in their slots.

An edge of *type* (slot of the source, slot of the target) says that some fact has both. Rule bodies are edge types.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nary.facts import FactTable, layout
from nary.models.rules.arrays import Index, Ints
from nary.models.rules.slots import Slots

MANY = -1
"""Stands for the fact of an edge that more than one fact gives."""


@dataclass(frozen=True, eq=False)
class Edges:
    """Distinct edges, sorted by source, type and target.

    ``types`` [T, 2] are the slots of source and target; ``fact`` [n] is the row of the only fact that gives an edge,
    or :data:`MANY`; ``degree`` [n] is the number of edges with the same source and type.
    """

    num_entities: int
    types: Ints
    type: Ints
    source: Ints
    target: Ints
    fact: Ints
    degree: Ints
    by_source: Index

    def __len__(self) -> int:
        return len(self.type)

    @property
    def num_types(self) -> int:
        """The number of edge types."""
        return len(self.types)

    @property
    def source_type(self) -> Ints:
        """Source and type of each edge as one key, ascending."""
        return self.source * self.num_types + self.type

    @classmethod
    def of(cls, facts: FactTable, slots: Slots, num_entities: int) -> "Edges":
        """The edges of all ``facts``."""
        parts = [part for block in facts.blocks for part in _pairs(block.ids.astype(np.int64), block.rows, slots)]
        first, second, source, target, fact = (
            np.concatenate([np.empty(0, np.int64), *column]) for column in zip(*parts, strict=True)
        )
        codes, numbers = np.unique(np.stack([first, second]), return_inverse=True)
        first, second = numbers.reshape(2, -1)
        pairs, type_ = np.unique(first * len(codes) + second, return_inverse=True)
        types = np.stack([codes[pairs // len(codes)], codes[pairs % len(codes)]], axis=1)
        key = (source * len(pairs) + type_) * num_entities + target
        keys, unique_fact = unique_with_fact(key, fact)
        source_type, target = np.divmod(keys, num_entities)
        source, type_ = np.divmod(source_type, len(pairs))
        by_pair = Index.of(source_type)
        degree = np.repeat(by_pair.counts, by_pair.counts)
        return cls(num_entities, types, type_, source, target, unique_fact, degree, Index.of(source))


def _pairs(ids: Ints, rows: Ints, slots: Slots) -> list[tuple[Ints, ...]]:
    columns = layout.entity_columns(layout.num_qualifiers(ids.shape[1]))
    known = {column: slots.known(ids, column) for column in columns}
    return [(known[a], known[b], ids[:, a], ids[:, b], rows) for a in columns for b in columns if a != b]


def unique_with_fact(keys: npt.NDArray[np.int64], fact: Ints) -> tuple[Ints, Ints]:
    """The distinct keys, sorted, and the only fact of each, or :data:`MANY`."""
    order = np.argsort(keys, kind="stable")
    keys, fact = keys[order], fact[order]
    index = Index.of(keys)
    if not len(keys):
        return keys, fact
    lowest = np.minimum.reduceat(fact, index.starts[:-1])
    highest = np.maximum.reduceat(fact, index.starts[:-1])
    return index.keys.astype(np.int64), np.where(lowest == highest, lowest, MANY)
