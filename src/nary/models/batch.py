"""Batches of masked facts of mixed arity, without padding; and facts as slots."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT, first_value, num_qualifiers


@dataclass(frozen=True)
class Group:
    """Masked facts of one arity: ``ids`` [n, 2m+3] as in a block, and the masked column ``columns`` [n] of each.

    The ids at the masked columns are the answers; a model must not look at them. Nor may it look at those where
    ``hidden`` [n, 2m+3] is true: elements that are unknown, but not asked for. Where ``partial`` [n] is true, the fact
    may have further qualifiers that are not given; without it, none has.
    """

    ids: Tensor
    columns: Tensor
    hidden: Tensor | None = None
    partial: Tensor | None = None

    @property
    def qualifiers(self) -> int:
        """The number of qualifiers, ``m``."""
        return num_qualifiers(self.ids.shape[1])

    @property
    def asks_entity(self) -> Tensor:
        """Whether each answer is an entity, not a relation [n]."""
        primary = (self.columns >= SUBJECT) & (self.columns <= OBJECT)
        return primary | (self.columns >= first_value(self.qualifiers))

    @property
    def answers(self) -> Tensor:
        """The masked ids [n]."""
        return self.ids.gather(1, self.columns[:, None])[:, 0]

    @property
    def unknown(self) -> Tensor:
        """Which elements a model must not look at, masked or hidden [n, 2m+3]."""
        masked = torch.zeros_like(self.ids, dtype=torch.bool).scatter(1, self.columns[:, None], True)
        return masked if self.hidden is None else masked | self.hidden

    def to(self, device: torch.device) -> "Group":
        """The same group on ``device``."""
        hidden, partial = (None if flags is None else flags.to(device) for flags in (self.hidden, self.partial))
        return Group(self.ids.to(device), self.columns.to(device), hidden, partial)


@dataclass(frozen=True)
class Batch:
    """Groups of masked facts; the facts of the batch are those of the first group, then of the second, ..."""

    groups: Sequence[Group]

    def __len__(self) -> int:
        return sum(len(group.columns) for group in self.groups)

    @property
    def asks_entity(self) -> Tensor:
        """Whether each answer is an entity, not a relation [B]."""
        return torch.cat([group.asks_entity for group in self.groups])

    @property
    def answers(self) -> Tensor:
        """The masked ids [B]: entity ids or relation ids."""
        return torch.cat([group.answers for group in self.groups])

    def to(self, device: torch.device) -> "Batch":
        """The same batch on ``device``."""
        return Batch([group.to(device) for group in self.groups])


def entities_of(ids: Tensor) -> Tensor:
    """The entities of facts [n, 2m+3], in the order of the slots: subject, object, values [n, 2+m]."""
    values = first_value(num_qualifiers(ids.shape[1]))
    return torch.cat([ids[:, SUBJECT : OBJECT + 1], ids[:, values:]], 1)


def relations_of(ids: Tensor) -> Tensor:
    """The relation and the attributes of facts [n, 2m+3]: [n, 1+m]."""
    values = first_value(num_qualifiers(ids.shape[1]))
    return torch.cat([ids[:, RELATION : RELATION + 1], ids[:, FIRST_ATTRIBUTE:values]], 1)


def slots_of(ids: Tensor, num_relations: int) -> tuple[Tensor, Tensor]:
    """The roles and the entities in the slots of facts [n, 2m+3]: subject, object, values; both [n, 2+m].

    With R relations, r is the role of the subject of relation r, R + r that of its object, and 2R + a that of the
    values of attribute a.
    """
    relation = ids[:, RELATION : RELATION + 1]
    attributes = ids[:, FIRST_ATTRIBUTE : first_value(num_qualifiers(ids.shape[1]))]
    roles = torch.cat([relation, num_relations + relation, 2 * num_relations + attributes], 1)
    return roles, entities_of(ids)


def slot_of_column(columns: Tensor, qualifiers: int) -> Tensor:
    """The slots of entities in these columns [n]: 0 subject, 1 object, 2... values."""
    return torch.where(columns <= OBJECT, columns - SUBJECT, columns - first_value(qualifiers) + 2)
