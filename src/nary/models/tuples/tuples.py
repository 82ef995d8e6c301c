"""Facts of one arity as tuples."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from nary.facts.layout import FIRST_ATTRIBUTE, SUBJECT
from nary.models.batch import Group


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
        ids, columns, first_value = group.ids, group.columns, FIRST_ATTRIBUTE + group.qualifiers
        slots = torch.where(columns < FIRST_ATTRIBUTE, columns - SUBJECT, columns - first_value + 2)
        schemas = torch.cat([ids[:, :SUBJECT], ids[:, FIRST_ATTRIBUTE:first_value]], 1)
        return cls(schemas, torch.cat([ids[:, SUBJECT:FIRST_ATTRIBUTE], ids[:, first_value:]], 1), slots)

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
