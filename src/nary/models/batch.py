"""A batch: facts with one element masked each, of mixed arity, without padding."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT, first_value, num_qualifiers


@dataclass(frozen=True)
class Group:
    """Masked facts of one arity: ``ids`` [n, 2m+3] as in a block, and the masked column ``columns`` [n] of each.

    The ids at the masked columns are the answers; a model must not look at them. Nor may it look at those where
    ``hidden`` [n, 2m+3] is true: elements that are not asked for, but not known either.
    """

    ids: Tensor
    columns: Tensor
    hidden: Tensor | None = None

    @property
    def qualifiers(self) -> int:
        """The number of qualifiers, ``m``."""
        return (self.ids.shape[1] - 3) // 2

    @property
    def asks_entity(self) -> Tensor:
        """Whether the answer of each is an entity, not a relation [n]."""
        first_value = FIRST_ATTRIBUTE + self.qualifiers
        return ((self.columns >= 1) & (self.columns <= OBJECT)) | (self.columns >= first_value)

    @property
    def answers(self) -> Tensor:
        """The masked ids [n]."""
        return self.ids.gather(1, self.columns[:, None])[:, 0]

    def to(self, device: torch.device) -> "Group":
        """The same group on ``device``."""
        hidden = None if self.hidden is None else self.hidden.to(device)
        return Group(self.ids.to(device), self.columns.to(device), hidden)


@dataclass(frozen=True)
class Batch:
    """Groups of masked facts; the facts of the batch are those of the first group, then of the second, ..."""

    groups: Sequence[Group]

    def __len__(self) -> int:
        return sum(len(group.columns) for group in self.groups)

    @property
    def asks_entity(self) -> Tensor:
        """Whether the answer of each is an entity, not a relation [B]."""
        return torch.cat([group.asks_entity for group in self.groups])

    @property
    def answers(self) -> Tensor:
        """The masked ids [B]: entity ids or relation ids."""
        return torch.cat([group.answers for group in self.groups])

    def to(self, device: torch.device) -> "Batch":
        """The same batch on ``device``."""
        return Batch([group.to(device) for group in self.groups])


def slots_of(ids: Tensor, relations: int) -> tuple[Tensor, Tensor]:
    """The roles and the entities in the slots of facts [n, 2m+3]: subject, object, values; both [n, 2+m].

    With R ``relations``, r is the role of the subject of relation r, R + r that of its object, and 2R + a that of the
    values of attribute a.
    """
    values = first_value(num_qualifiers(ids.shape[1]))
    relation = ids[:, RELATION : RELATION + 1]
    roles = torch.cat([relation, relations + relation, 2 * relations + ids[:, FIRST_ATTRIBUTE:values]], 1)
    return roles, torch.cat([ids[:, SUBJECT : OBJECT + 1], ids[:, values:]], 1)
