"""Negative sampling: random candidates for a masked element, and corruptions of whole facts.

All samples follow from torch's random state, which the trainer seeds anew each step.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from nary.facts.layout import FIRST_ATTRIBUTE, RELATION, SUBJECT, first_value, num_qualifiers
from nary.models.base import DatasetInfo
from nary.models.batch import Group, slot_of_column, slots_of
from nary.models.layers import hash_rows

_ATTEMPTS = 20  # to find a corruption that is no fact; the second half draws from all entities

NegativePool = Literal["slot", "relation", "mixed", "all"]


class SlotPools:
    """The facts of a table, and the entities seen in each slot.

    A slot is the subject or the object of a relation, or the value of an attribute.
    With ``by_relation`` the slots of a relation share one pool.
    """

    def __init__(self, info: DatasetInfo, device: torch.device | None = None, *, by_relation: bool = False) -> None:
        self.info = info
        self._num_pools = info.num_relations if by_relation else 3 * info.num_relations
        blocks = [torch.from_numpy(block.ids.astype(np.int64)) for block in info.facts.blocks]
        self._facts = torch.cat([hash_rows(1 + ids) for ids in blocks]).sort().values.to(device)
        seen = torch.unique(torch.cat([self._pool_and_entity(ids).flatten() for ids in blocks]))
        self._entities = (seen % info.num_entities).to(device)  # pool after pool
        bounds = torch.arange(self._num_pools + 1) * info.num_entities
        self._start = torch.searchsorted(seen, bounds).to(device)  # where each pool begins

    def draw(self, facts: Tensor, slots: Tensor) -> Tensor:
        """An entity for a slot of each fact, of those seen in that slot [n]."""
        pools = self._pool_and_entity(facts).gather(1, slots[:, None])[:, 0] // self.info.num_entities
        first, last = self._start[pools], self._start[pools + 1]
        return self._entities[first + torch.randint(1 << 62, first.shape, device=first.device) % (last - first)]

    def is_fact(self, ids: Tensor) -> Tensor:
        """Whether each row is a fact of the table [n]; qualifiers must be sorted as in a table."""
        hashes = hash_rows(1 + ids)
        nearest = torch.searchsorted(self._facts, hashes).clamp(max=len(self._facts) - 1)
        return self._facts[nearest] == hashes

    def _pool_and_entity(self, ids: Tensor) -> Tensor:
        """The pool and the entity of each slot [n, 2+m] as one number: pool * E + entity."""
        roles, entities = slots_of(ids, self.info.num_relations)
        return roles % self._num_pools * self.info.num_entities + entities


class NegativeSampler:
    """Random candidates for the masked elements of facts.

    A share ``slot_negatives`` of the entities is drawn from those seen in the same slot; the others, and all relations,
    from all.
    """

    def __init__(
        self,
        num_negatives: int,
        slot_negatives: float,
        info: DatasetInfo,
        device: torch.device | None = None,
    ) -> None:
        self.info = info
        self.num_negatives = num_negatives
        self.slot_negatives = slot_negatives
        self._pools = SlotPools(info, device) if slot_negatives else None

    def __call__(self, group: Group) -> Tensor:
        """Each fact, then its negatives: the fact with another id in the masked column [n, 1 + k, 2m+3]."""
        ids = torch.cat([group.answers[:, None], self._candidates(group)], 1)
        columns = group.columns[:, None, None].expand(-1, ids.shape[1], 1)
        return group.ids[:, None].repeat(1, ids.shape[1], 1).scatter(2, columns, ids[..., None])

    def _candidates(self, group: Group) -> Tensor:
        """Random entities or relations for the masked column of each fact [n, k]."""
        shape, device = (len(group.columns), self.num_negatives), group.ids.device
        entities = torch.randint(self.info.num_entities, shape, device=device)
        if self._pools is not None:
            rows = group.asks_entity.nonzero()[:, 0]
            near = draw_from_slots(self._pools, group.ids[rows], group.columns[rows], entities[rows])
            chosen = torch.rand(near.shape, device=device) < self.slot_negatives
            entities[rows] = torch.where(chosen, near, entities[rows])
        if group.asks_entity.all():
            return entities
        relations = torch.randint(self.info.num_relations, shape, device=device)
        return torch.where(group.asks_entity[:, None], entities, relations)


class CorruptionSampler:
    """Corruptions of facts: one element is replaced so that the result is no fact of the table.

    A batch has either entities replaced or relations; ``value_fraction`` is the probability of entities, by the numbers
    of entities and relations if it is None. Where nearly all that can be drawn are facts, one of them may slip through.
    """

    def __init__(
        self,
        num_negatives: int,
        value_fraction: float | None,
        negative_pool: NegativePool,
        info: DatasetInfo,
        device: torch.device | None = None,
    ) -> None:
        self.info = info
        self.num_negatives = num_negatives
        by_numbers = info.num_entities / (info.num_entities + info.num_relations)
        self.value_fraction = by_numbers if value_fraction is None else value_fraction
        self._from_pool = {"slot": 1.0, "relation": 1.0, "mixed": 0.5, "all": 0.0}[negative_pool]
        self._pools = SlotPools(info, device, by_relation=negative_pool == "relation")

    def __call__(self, groups: Sequence[Tensor]) -> list[Tensor]:
        """``num_negatives`` corruptions of each fact [n * k, 2m+3], for groups of facts [n, 2m+3]."""
        entities = bool(torch.rand(()) < self.value_fraction)
        return [self._corrupt(ids.repeat_interleave(self.num_negatives, 0), entities) for ids in groups]

    def _corrupt(self, facts: Tensor, entities: bool) -> Tensor:
        qualifiers, device = num_qualifiers(facts.shape[1]), facts.device
        slots = torch.randint(2 + qualifiers, (len(facts),), device=device)
        if entities:
            columns = torch.where(slots < 2, SUBJECT + slots, first_value(qualifiers) + slots - 2)
        else:  # subject and object share the relation
            columns = torch.where(slots < 2, RELATION, FIRST_ATTRIBUTE + slots - 2)
        from_pool = torch.rand(slots.shape, device=device) < self._from_pool
        corrupted = facts.clone()
        pending = torch.arange(len(facts), device=device)
        for attempt in range(_ATTEMPTS):
            drawn = torch.randint(
                self.info.num_entities if entities else self.info.num_relations, pending.shape, device=device
            )
            if entities and attempt < _ATTEMPTS // 2:
                drawn = torch.where(from_pool[pending], self._pools.draw(facts[pending], slots[pending]), drawn)
            tried = _sort_qualifiers(facts[pending].scatter(1, columns[pending, None], drawn[:, None]))
            corrupted[pending] = tried
            pending = pending[self._pools.is_fact(tried)]
            if not len(pending):
                break
        return corrupted


def draw_from_slots(pools: SlotPools, facts: Tensor, columns: Tensor, otherwise: Tensor) -> Tensor:
    """Entities seen in the same slot, to replace those in a column of each fact [n, k].

    An entity that would make a fact again is taken from ``otherwise`` [n, k]. The columns are of subjects, objects and
    values.
    """
    slots = slot_of_column(columns, num_qualifiers(facts.shape[1]))
    count = otherwise.shape[1]
    facts, slots, columns = (part.repeat_interleave(count, 0) for part in (facts, slots, columns))
    drawn = pools.draw(facts, slots)
    known = pools.is_fact(_sort_qualifiers(facts.scatter(1, columns[:, None], drawn[:, None])))
    return torch.where(known, otherwise.flatten(), drawn).view_as(otherwise)


def _sort_qualifiers(ids: Tensor) -> Tensor:
    """The facts with their qualifiers sorted by attribute and value, as in a table."""
    qualifiers = num_qualifiers(ids.shape[1])
    primary, attributes, values = torch.split(ids, [FIRST_ATTRIBUTE, qualifiers, qualifiers], 1)
    pairs = (attributes << 32 | values).sort(1).values
    return torch.cat([primary, pairs >> 32, pairs & 0xFFFFFFFF], 1)
