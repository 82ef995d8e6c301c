"""A fact as slots: its entities one after the other, each in a role."""

import torch
from torch import Tensor

from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT


def slots_of(ids: Tensor, relations: int) -> tuple[Tensor, Tensor]:
    """The roles and the entities in the slots of facts [n, 2m+3]: subject, object, values; both [n, 2+m].

    With R ``relations``, r is the role of the subject of relation r, R + r that of its object, and 2R + a that of the
    values of attribute a.
    """
    values = FIRST_ATTRIBUTE + (ids.shape[1] - FIRST_ATTRIBUTE) // 2
    relation = ids[:, RELATION : RELATION + 1]
    roles = torch.cat([relation, relations + relation, 2 * relations + ids[:, FIRST_ATTRIBUTE:values]], 1)
    return roles, torch.cat([ids[:, SUBJECT : OBJECT + 1], ids[:, values:]], 1)


def slots_with(column: int, qualifiers: int) -> list[int]:
    """The slots that the element in a column of a fact is part of: both of subject and object if it is the relation."""
    if column == RELATION:
        return [0, 1]
    if column <= OBJECT:
        return [column - SUBJECT]
    return [2 + (column - FIRST_ATTRIBUTE) % qualifiers]
