"""Which two slots of a fact are its primary pair: those whose roles have the most distinct values in train."""

import numpy as np
import torch
from torch import Tensor, nn

from nary.facts import FactTable
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT
from nary.models.batch import Group
from nary.models.pairs.slots import slots_of


class Primary(nn.Module):
    """Puts the entities of facts in another order: by how many distinct ones were seen in their roles, most first.

    The first two become subject and object, the others values. A subject or object that becomes a value needs an
    attribute: with R relations, R + r stands for the subject of relation r, and 2R + r for its object. Roles with
    equally many stay in order: subject, object, attributes by number.
    """

    counts: Tensor
    """The number of distinct entities in each role [3R], numbered as by :func:`slots_of`."""

    def __init__(self, relations: int) -> None:
        super().__init__()
        self.register_buffer("counts", torch.zeros(3 * relations, dtype=torch.int64))

    def count(self, train: FactTable) -> None:
        """Count the entities in the roles of these facts."""
        found = [
            torch.stack(slots_of(torch.from_numpy(block.ids.astype(np.int64)), self._relations), 2).flatten(0, 1)
            for block in train.blocks
        ]
        roles = torch.unique(torch.cat(found), dim=0)[:, 0]
        self.counts = torch.bincount(roles, minlength=len(self.counts)).to(self.counts.device)

    def arranged(self, ids: Tensor) -> Tensor:
        """The facts [n, 2m+3] with their primary pair in front."""
        roles, entities = slots_of(ids, self._relations)
        order = self._order(roles)
        entities = entities.gather(1, order)
        attributes = (roles + self._relations).remainder(len(self.counts)).gather(1, order[:, 2:])
        return torch.cat([ids[:, : RELATION + 1], entities[:, :2], attributes, entities[:, 2:]], 1)

    def arranged_group(self, group: Group) -> Group:
        """The same for facts that ask for entities."""
        first_value = FIRST_ATTRIBUTE + group.qualifiers
        slots = torch.where(group.columns <= OBJECT, group.columns - SUBJECT, group.columns - first_value + 2)
        order = self._order(slots_of(group.ids, self._relations)[0])
        slots = (order == slots[:, None]).int().argmax(1)
        return Group(self.arranged(group.ids), torch.where(slots < 2, slots + SUBJECT, slots - 2 + first_value))

    @property
    def _relations(self) -> int:
        return len(self.counts) // 3

    def _order(self, roles: Tensor) -> Tensor:
        """The slot that comes first, second, ... [n, 2+m]."""
        return (roles - self.counts[roles] * len(self.counts)).argsort(dim=1, stable=True)
