"""Which names are new to a model: those that it does not have, and those that it has, but never learned."""

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from nary.facts import FactTable
from nary.models.base import DatasetInfo, Kind

Ids = npt.NDArray[np.int64]


class NewNames(NamedTuple):
    """The ids of the entities and of the relations that are new, ascending."""

    entities: Ids
    relations: Ids

    @classmethod
    def of(cls, old: DatasetInfo, info: DatasetInfo, added: FactTable) -> Self:
        """The names of ``info`` that ``old`` does not have, and those that only ``added`` facts have.

        A name can be without facts because only other splits have it.
        """
        return cls(_new("entity", old, info, added), _new("relation", old, info, added))

    def of_kind(self, kind: Kind) -> Ids:
        """The entities, or the relations."""
        return self.entities if kind == "entity" else self.relations

    def per_name(self, table: FactTable) -> float:
        """In how many facts a new name stands, in the mean; 0 if there are no new names."""
        blocks = table.blocks
        entities = sum(int(np.isin(block.entities, self.entities).sum()) for block in blocks)
        relations = sum(int(np.isin(block.relations, self.relations).sum()) for block in blocks)
        return (entities + relations) / max(1, len(self.entities) + len(self.relations))

    def facts_with(self, table: FactTable) -> FactTable:
        """The facts of ``table`` in which a new name stands."""
        rows = [
            block.rows[np.isin(block.entities, self.entities).any(1) | np.isin(block.relations, self.relations).any(1)]
            for block in table.blocks
        ]
        return table.take(np.concatenate(rows))


def _new(kind: Kind, old: DatasetInfo, info: DatasetInfo, added: FactTable) -> Ids:
    before, after = _occurring(kind, old.facts, info), _occurring(kind, added, info)
    after[old.num_candidates(kind) :] = True
    return np.flatnonzero(after & ~before)


def _occurring(kind: Kind, facts: FactTable, info: DatasetInfo) -> npt.NDArray[np.bool_]:
    """Whether each entity, or each relation, stands in the facts."""
    occurs = np.zeros(info.num_candidates(kind), bool)
    for block in facts.blocks:
        occurs[block.entities if kind == "entity" else block.relations] = True
    return occurs
