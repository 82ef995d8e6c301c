"""Corruptions: facts with one slot made wrong in a way that its role allows, as NaLP and its kin learn from."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nary.facts import FactTable
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, SUBJECT
from nary.models.base import DatasetInfo
from nary.models.batch import slots_of
from nary.models.layers import hash_rows
from nary.training.settings import TrainingSettings

_ATTEMPTS = 20  # to find a corruption that is no fact; the second half looks beyond what the role was seen with


class Corruptions:
    """Makes corruptions of facts of a table, none of which is a fact of it, in whatever order its qualifiers are.

    What they are follows from torch's seed alone. Only where nearly all that could be drawn are facts, one of them may
    slip through.
    """

    def __init__(self, table: FactTable, info: DatasetInfo, settings: TrainingSettings, device: torch.device) -> None:
        self.info = info
        self.negatives = settings.negatives
        self._pools = info.num_relations if settings.corrupt_from == "relation" else 3 * info.num_relations
        self._from_pools = {"slot": 1.0, "relation": 1.0, "mixed": 0.5, "all": 0.0}[settings.corrupt_from]
        share = settings.corrupt_values
        self.share = info.num_entities / (info.num_entities + info.num_relations) if share is None else share
        blocks = [torch.from_numpy(block.ids.astype(np.int64)) for block in table.blocks]
        self._facts = torch.cat([hash_rows(1 + ids) for ids in blocks]).sort().values.to(device)
        found = torch.unique(torch.cat([self._seen(ids).flatten() for ids in blocks]))
        self._pool = (found % info.num_entities).to(device)  # the entities seen in each role, role after role
        ends = torch.arange(self._pools + 1) * info.num_entities
        self._start = torch.searchsorted(found, ends).to(device)  # where in the pool each role begins

    def of(self, groups: Sequence[Tensor]) -> list[Tensor]:
        """So many corruptions as ``negatives`` of each fact [n * k, 2m+3], for facts [n, 2m+3] in groups.

        Either a value is replaced in all of them, or a role in all of them.
        """
        values = bool(torch.rand(()) < self.share)
        return [self._corrupted(ids.repeat_interleave(self.negatives, 0), values) for ids in groups]

    def near(self, facts: Tensor, columns: Tensor, otherwise: Tensor) -> Tensor:
        """Entities to replace those in a column of each fact [n, k], of those seen in its role.

        As in ``otherwise`` [n, k] where that would be a fact again. The columns are of subjects, objects and values.
        """
        qualifiers = (facts.shape[1] - FIRST_ATTRIBUTE) // 2
        slots = torch.where(columns <= OBJECT, columns - SUBJECT, columns - 1 - qualifiers)
        count = otherwise.shape[1]
        facts, slots, columns = (of.repeat_interleave(count, 0) for of in (facts, slots, columns))
        drawn = self._from_pool(facts, slots)
        known = self._is_fact(_in_order(facts.scatter(1, columns[:, None], drawn[:, None])))
        return torch.where(known, otherwise.flatten(), drawn).view_as(otherwise)

    def _corrupted(self, facts: Tensor, values: bool) -> Tensor:
        qualifiers = (facts.shape[1] - FIRST_ATTRIBUTE) // 2
        slots = torch.randint(2 + qualifiers, (len(facts),), device=facts.device)
        if values:
            columns = torch.where(slots < 2, 1 + slots, 1 + qualifiers + slots)
        else:  # the roles of subject and object are one: the relation
            columns = torch.where(slots < 2, 0, 1 + slots)
        near = torch.rand(slots.shape, device=facts.device) < self._from_pools
        found = facts.clone()
        left = torch.arange(len(facts), device=facts.device)  # what is still to be corrupted
        for attempt in range(_ATTEMPTS):
            high = self.info.num_entities if values else self.info.num_relations
            drawn = torch.randint(high, left.shape, device=facts.device)
            if values and attempt < _ATTEMPTS // 2:
                drawn = torch.where(near[left], self._from_pool(facts[left], slots[left]), drawn)
            tried = _in_order(facts[left].scatter(1, columns[left, None], drawn[:, None]))
            found[left] = tried
            left = left[self._is_fact(tried)]
            if not len(left):
                break
        return found

    def _from_pool(self, facts: Tensor, slots: Tensor) -> Tensor:
        """An entity for a slot of each fact, of those seen in its role [n]."""
        roles = self._seen(facts).gather(1, slots[:, None])[:, 0] // self.info.num_entities
        first, last = self._start[roles], self._start[roles + 1]
        return self._pool[first + torch.randint(1 << 62, first.shape, device=first.device) % (last - first)]

    def _seen(self, ids: Tensor) -> Tensor:
        """A number for the role and the entity in each slot [n, 2+m]: role * E + entity."""
        roles, entities = slots_of(ids, self.info.num_relations)
        return roles % self._pools * self.info.num_entities + entities

    def _is_fact(self, ids: Tensor) -> Tensor:
        """Whether each is a fact of the table [n]."""
        found = hash_rows(1 + ids)
        return self._facts[torch.searchsorted(self._facts, found).clamp(max=len(self._facts) - 1)] == found


def _in_order(ids: Tensor) -> Tensor:
    """The facts with their qualifiers sorted by attribute and value, as in a table."""
    qualifiers = (ids.shape[1] - FIRST_ATTRIBUTE) // 2
    head, attributes, values = torch.split(ids, [FIRST_ATTRIBUTE, qualifiers, qualifiers], 1)
    both = (attributes << 32 | values).sort(1).values
    return torch.cat([head, both >> 32, both & 0xFFFFFFFF], 1)
