"""Features: what is known of an entity from a fact it is in. The bodies of rules that name a certain answer."""

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nary.facts import FactTable
from nary.models.rules.arrays import Index, Ints
from nary.models.rules.edges import Edges, unique_with_fact
from nary.models.rules.settings import RulesSettings
from nary.models.rules.slots import Slots, mix

_MOST_JOINED = 6
"""Facts with more entities than this have no joint features: there would be too many."""


@dataclass(frozen=True, eq=False)
class Features:
    """What is known of each entity: an edge to a certain entity (``target`` >= 0), being in a slot (-1), or two edges.

    ``type`` and ``target`` [F] describe the features; ``entity``, ``feature`` and ``fact`` [n] say who has which,
    sorted by entity. For a slot ``type`` is the slot's number in ``slots``. A joint feature has ``parts`` [F, 2], two
    features that are edges of one fact; others have -1 there.
    """

    slots: Ints
    type: Ints
    target: Ints
    parts: Ints
    entity: Ints
    feature: Ints
    fact: Ints
    by_entity: Index
    num_hubs: int

    def __len__(self) -> int:
        return len(self.type)


class _Held(NamedTuple):
    """Which ``entity`` has which of ``names`` [F], by number: ``feature``; and the only ``fact`` that says so [n]."""

    names: Ints
    entity: Ints
    feature: Ints
    fact: Ints

    @property
    def counts(self) -> Ints:
        """How many entities have each feature."""
        return np.bincount(self.feature, minlength=len(self.names))


def find_features(facts: FactTable, slots: Slots, edges: Edges, settings: RulesSettings) -> Features:
    """The features that ``min_support`` entities (at least two) have; hubs, with over ``max_degree``, have none."""
    size = edges.num_entities
    key = edges.type * size + edges.target
    places, slot_of_type = np.unique(edges.types[:, 0], return_inverse=True)
    in_slot, slot_fact = unique_with_fact(edges.source * len(places) + slot_of_type[edges.type], edges.fact)
    offset = edges.num_types * size
    keys = np.concatenate([key, offset + in_slot % len(places)])
    entity = np.concatenate([edges.source, in_slot // len(places)])
    single = _frequent(keys, entity, np.concatenate([edges.fact, slot_fact]), settings)
    joint = _joint(facts, slots, edges, single, settings) if settings.joint_features else _NONE
    is_edge = single.names < offset
    type_ = np.where(is_edge, single.names // size, single.names - offset)
    target = np.where(is_edge, single.names % size, -1)
    missing = np.full(len(joint.names), -1)
    parts = np.concatenate([np.full((len(type_), 2), -1), np.stack(np.divmod(joint.names, max(1, len(type_))), axis=1)])
    entity, feature, fact = (
        np.concatenate(columns)
        for columns in (
            (single.entity, joint.entity),
            (single.feature, joint.feature + len(type_)),
            (single.fact, joint.fact),
        )
    )
    degree = np.bincount(single.entity, minlength=size)
    kept = degree[entity] <= settings.max_degree
    order = np.flatnonzero(kept)[np.argsort(entity[kept], kind="stable")]
    type_, target = np.append(type_, missing), np.append(target, missing)
    entity = entity[order]
    hubs = int((degree > settings.max_degree).sum())
    return Features(places, type_, target, parts, entity, feature[order], fact[order], Index.of(entity), hubs)


def _frequent(keys: Ints, entity: Ints, fact: Ints, settings: RulesSettings) -> _Held:
    """The keys that enough entities have, sorted, and who has them."""
    names, feature, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return _only(counts >= max(settings.min_support, 2), _Held(names, entity, feature, fact))  # one entity is no rule


def _only(wanted: npt.NDArray[np.bool_], held: _Held) -> _Held:
    """Some of the features, numbered anew."""
    kept = wanted[held.feature]
    numbers = np.cumsum(wanted) - 1
    return _Held(held.names[wanted], held.entity[kept], numbers[held.feature[kept]], held.fact[kept])


def _joint(facts: FactTable, slots: Slots, edges: Edges, single: _Held, settings: RulesSettings) -> _Held:
    """Each two edges of one fact as ``first * F + second``, unless they say no more than one of them."""
    joint = _frequent(*_edges_of_one_fact(facts, slots, edges, single.names), settings)
    parts = np.stack(np.divmod(joint.names, max(1, len(single.names))))
    return _only(joint.counts < single.counts[parts].min(0), joint)


def _edges_of_one_fact(facts: FactTable, slots: Slots, edges: Edges, names: Ints) -> tuple[Ints, Ints, Ints]:
    """Each two of the features ``names`` [F] that an entity has from one fact: their key, the entity and the fact."""
    singles = Index(names, np.arange(len(names) + 1))
    hashes = mix(edges.types[:, 0], edges.types[:, 1])
    order = np.argsort(hashes)
    types = Index(hashes[order], np.arange(len(order) + 1))
    pairs: list[tuple[Ints, Ints, Ints]] = []
    for block in facts.blocks:
        columns = list(block.entity_columns)
        if len(columns) > _MOST_JOINED:
            continue
        ids = block.ids.astype(np.int64)
        known = {column: slots.known(ids, column) for column in columns}
        for source in columns:
            numbers = {}
            for other in columns:
                if other != source:
                    type_ = order[types.find(mix(known[source], known[other]))]
                    numbers[other] = singles.find(type_ * edges.num_entities + ids[:, other])
            for first, second in combinations(numbers.values(), 2):
                rows = np.flatnonzero((first >= 0) & (second >= 0) & (first != second))
                low, high = np.minimum(first, second)[rows], np.maximum(first, second)[rows]
                pairs.append((low * len(names) + high, ids[rows, source], block.rows[rows]))
    empty = (np.empty(0, np.int64),) * 3
    key, entity, fact = (np.concatenate(column) for column in zip(empty, *pairs, strict=True))
    keys, number = np.unique(key, return_inverse=True)
    held, fact = unique_with_fact(number * edges.num_entities + entity, fact)
    number, entity = np.divmod(held, edges.num_entities)
    return keys[number], entity, fact


_EMPTY = np.empty(0, np.int64)
_NONE = _Held(_EMPTY, _EMPTY, _EMPTY, _EMPTY)
