"""What is probably missing about an entity: facts that others like it have, with the answers of the model.

Whether a fact is missing is counted, as for suggested qualifiers: entities like this one are those that share the most
slots with it (subject of a relation, object of one, value of an attribute), and the share of them that stand in
another slot, too, is how probable it is that this one should. Where the entity has facts already, the share is that of
entities with one more among those with as many. The model then predicts the other end.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from nary.facts import GAP, FactTable, Query, Role
from nary.facts.layout import OBJECT, RELATION, SUBJECT
from nary.facts.table import Rows
from nary.inference.attribute_shares import Floats
from nary.inference.context import Context
from nary.inference.prediction import check_count, predict
from nary.inference.profile_results import MissingFacts, MissingSlot
from nary.inference.results import Prediction

_COMPARED = 50  # entities at least, if there are as many
_SMALLEST_SHARE = 0.05
_ASKED = 16  # slots for which the model is asked
_ANSWERS = 3
_SMALLEST_PROBABILITY = 0.01  # of a missing fact: less says nothing


class Likely(NamedTuple):
    """How probable it is that an entity stands in a slot, or once more if it does already."""

    slot: int
    known: int
    """In how many facts it stands there."""
    share: float
    compared: int


class EntitySlots:
    """Which entities stand in which slots, and how often.

    The slots are the subject and object of each relation and the value of each attribute, numbered in this order.
    """

    def __init__(self, table: FactTable, num_entities: int, num_relations: int) -> None:
        self._num_entities, self._num_relations = num_entities, num_relations
        self._num_slots = 3 * num_relations
        keys = np.concatenate([np.empty(0, np.int64), *(part for part in _keys(table, num_relations))])
        entity_slots, self._counts = np.unique(keys, return_counts=True)
        self._entities, self._slots = np.divmod(entity_slots, self._num_slots)
        self._starts = np.searchsorted(self._entities, np.arange(num_entities + 1))
        self._by_slot = np.argsort(self._slots, kind="stable")
        self._slot_starts = np.searchsorted(self._slots[self._by_slot], np.arange(self._num_slots + 1))

    def role(self, slot: int) -> tuple[Role, int]:
        """The role and the relation of a slot."""
        kind, relation = divmod(slot, self._num_relations)
        return (Role.SUBJECT, Role.OBJECT, Role.VALUE)[kind], relation

    def likely(self, entity: int) -> list[Likely]:
        """The slots of subjects and objects that an entity may be missing from, the most probable first."""
        at = slice(self._starts[entity], self._starts[entity + 1])
        slots, counts = self._slots[at], self._counts[at]
        shares, compared = self._shares(entity, slots)
        likely = [Likely(slot, 0, float(shares[slot]), compared) for slot in range(2 * self._num_relations)]
        for slot, known in zip(slots.tolist(), counts.tolist(), strict=True):
            if slot < len(likely):
                likely[slot] = self._once_more(slot, known)
        probable = [one for one in likely if one.share >= _SMALLEST_SHARE]
        return sorted(probable, key=lambda one: -one.share)

    def _shares(self, entity: int, slots: Rows) -> tuple[Floats, int]:
        """How many of the entities that share the most slots with this one stand in each slot."""
        others = [self._entities[self._in_slot(slot)] for slot in slots.tolist()]
        shared = np.bincount(np.concatenate([np.empty(0, np.int64), *others]), minlength=self._num_entities)
        shared[entity] = 0
        numbers = np.bincount(shared, minlength=2)  # of entities by how many slots they share
        enough = np.flatnonzero(np.cumsum(numbers[:0:-1]) >= _COMPARED)
        fewest = len(numbers) - 1 - int(enough[0]) if len(enough) else 1
        alike = shared >= fewest
        if not alike.any():
            return np.zeros(self._num_slots), 0
        standing = np.bincount(self._slots[alike[self._entities]], minlength=self._num_slots)
        return standing / alike.sum(), int(alike.sum())

    def _once_more(self, slot: int, known: int) -> Likely:
        counts = self._counts[self._in_slot(slot)]
        as_many = int((counts >= known).sum())
        return Likely(slot, known, float((counts > known).sum() / as_many), as_many)

    def _in_slot(self, slot: int) -> Rows:
        return self._by_slot[self._slot_starts[slot] : self._slot_starts[slot + 1]]


def missing(context: Context, slots: EntitySlots, entity: str, k: int) -> MissingFacts:
    """The ``k`` slots in which facts about an entity are most probably missing, with the best answers for each."""
    check_count(k)
    vocabulary = context.vocabulary
    name = vocabulary.entities[context.names.entity(entity)]
    likely = [one for one in slots.likely(vocabulary.entity(name)) if _can_ask(context, slots, one)][:_ASKED]
    queries = [_query(context, name, *slots.role(one.slot)) for one in likely]
    predictions = predict(context, queries, _ANSWERS, "hide") if queries else []
    filled = [_filled(context, slots, *pair) for pair in zip(likely, predictions, strict=True) if pair[1].answers]
    filled.sort(key=lambda one: -_probability(one))
    shown = [one for one in filled if _probability(one) >= _SMALLEST_PROBABILITY][:k]
    notes = list(dict.fromkeys(note for prediction in predictions for note in prediction.notes))
    return MissingFacts(name, vocabulary.label(name), shown, notes, context.calibrated)


def _keys(table: FactTable, num_relations: int) -> Iterator[Rows]:
    """A number for each entity and slot of the facts."""
    for block in table.blocks:
        ids, size = block.ids.astype(np.int64), 3 * num_relations
        yield ids[:, SUBJECT] * size + ids[:, RELATION]
        yield ids[:, OBJECT] * size + num_relations + ids[:, RELATION]
        yield (block.values.astype(np.int64) * size + 2 * num_relations + block.attributes).ravel()


def _can_ask(context: Context, slots: EntitySlots, likely: Likely) -> bool:
    role, _ = slots.role(likely.slot)
    asked = Role.OBJECT if role is Role.SUBJECT else Role.SUBJECT
    return asked in context.model.roles and context.takes_arity(2)


def _query(context: Context, entity: str, role: Role, relation: int) -> Query:
    name = context.vocabulary.relations[relation]
    return Query(entity, name, GAP) if role is Role.SUBJECT else Query(GAP, name, entity)


def _probability(slot: MissingSlot) -> float:
    """The probability that the best answer is missing."""
    return slot.share * slot.answers[0].probability


def _filled(context: Context, slots: EntitySlots, likely: Likely, prediction: Prediction) -> MissingSlot:
    role, relation = slots.role(likely.slot)
    name = context.vocabulary.relations[relation]
    return MissingSlot(
        role.value,
        name,
        context.vocabulary.label(name),
        likely.known,
        likely.share,
        likely.compared,
        prediction.query,
        prediction.answers,
    )
