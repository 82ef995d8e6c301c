"""Facts as tuples, and the schemas that are their relations.

A tuple has one relation and an entity in each slot. The relation of a fact says what its slots mean only together with
its attributes, so both together, its schema, are the relation of its tuple. Where all facts of a relation have the same
attributes, a schema is just that relation.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from nary.facts import FactTable
from nary.facts.table import number_rows
from nary.models.batch import Group, entities_of, relations_of, slot_of_column
from nary.models.layers import hash_rows


@dataclass(frozen=True)
class Tuples:
    """Tuples of ``k`` slots: subject, object, and the values in the order of their attributes.

    ``schemas`` [n, 1+m] holds the relation and the attributes, ``entities`` [n, k] what fills the slots, ``slots`` [n]
    the masked slot of each.
    """

    schemas: Tensor
    entities: Tensor
    slots: Tensor

    @classmethod
    def of(cls, group: Group) -> "Tuples":
        """The facts of a group, each of which asks for an entity."""
        slots = slot_of_column(group.columns, group.qualifiers)
        return cls(relations_of(group.ids), entities_of(group.ids), slots)

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def arity(self) -> int:
        """The number of slots, ``k``."""
        return self.entities.shape[1]

    @property
    def masked(self) -> Tensor:
        """Which slot of each is masked [n, k]."""
        return nn.functional.one_hot(self.slots, self.arity).bool()

    @property
    def known(self) -> Tensor:
        """The entities in the other slots [n, k-1]."""
        return self.entities[~self.masked].view(len(self), self.arity - 1)


class Schemas(nn.Module):
    """The numbered schemas of a table of facts.

    ``keys`` [S, max_arity - 1] holds the relation and the attributes of each, padded with -1; ``hashes`` [S] holds the
    hashes of these rows, in ascending order, to look them up by.
    """

    keys: Tensor
    hashes: Tensor

    def __init__(self, facts: FactTable, max_arity: int) -> None:
        super().__init__()
        self.max_relations = max_arity - 1
        distinct = [torch.from_numpy(_distinct(block.relations).astype(np.int64)) for block in facts.blocks]
        keys = torch.cat([self._padded(schemas) for schemas in distinct])
        hashes, order = hash_rows(keys).sort()
        self.register_buffer("keys", keys[order], persistent=False)
        self.register_buffer("hashes", hashes, persistent=False)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def arities(self) -> Tensor:
        """The arity of each schema [S]."""
        return 1 + (self.keys >= 0).sum(1)

    def rows(self, table: Tensor, schemas: Tensor) -> Tensor:
        """The rows of ``table`` [S, ...] for ``schemas`` [n, 1+m]; there must be a schema of their arity.

        An unknown schema gets the mean over those with its relation and arity; without any, over those with its
        relation; and zeros if its relation is unknown too.
        """
        keys, numbers = self._padded(schemas), self.find(schemas)
        known = (self.keys[numbers] == keys).all(1)
        flat = table.flatten(1)
        rows = nn.functional.embedding(numbers, flat)
        if not known.all():
            same_relation = self.keys[:, 0] == keys[:, :1]  # [n, S]
            same_arity = same_relation & (self.arities == 1 + schemas.shape[1])
            chosen = torch.where(same_arity.any(1, keepdim=True), same_arity, same_relation)
            means = chosen.to(flat.dtype) @ flat / chosen.sum(1, keepdim=True).clamp(min=1)
            rows = torch.where(known[:, None], rows, means)
        return rows.view(len(schemas), *table.shape[1:])

    def find(self, schemas: Tensor) -> Tensor:
        """The numbers of known ``schemas`` [n, 1+m]; any number for an unknown one."""
        return torch.searchsorted(self.hashes, hash_rows(self._padded(schemas))).clamp(max=len(self) - 1)

    def _padded(self, schemas: Tensor) -> Tensor:
        return nn.functional.pad(schemas, (0, self.max_relations - schemas.shape[1]), value=-1)


def _distinct(rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Every row once; like ``np.unique`` of rows, but faster and in another order."""
    (numbers,) = number_rows([rows])
    return rows[np.unique(numbers, return_index=True)[1]]
