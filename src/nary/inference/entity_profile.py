"""What stored facts say about an entity, grouped by where it stands in them."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from nary.errors import SettingError
from nary.facts import Block, Role
from nary.facts.layout import OBJECT, RELATION, SUBJECT
from nary.facts.table import Rows
from nary.inference.lookup import FactLookup
from nary.inference.profile_results import EntityProfile, FactGroup
from nary.inference.results import StoredFacts

MAX_GROUPS = 100
"""The most groups of a profile: with more, nobody reads them."""
_ROLES = (Role.SUBJECT, Role.OBJECT, Role.VALUE)


class _Standing(NamedTuple):
    """Where an entity stands: an entry for each fact and place in it."""

    roles: Rows
    """Indices of :data:`_ROLES`."""
    relations: Rows
    """The relation of the fact or, for a value, its attribute."""
    places: Rows
    """The place of the fact."""


def entity_profile(lookup: FactLookup, entity: str, limit: int = 5) -> EntityProfile:
    """The facts about an entity in groups, the largest first, with the first ``limit`` facts of each."""
    i = lookup.names.entity(entity)
    standing = _standing(lookup, i)
    keys, counts = np.unique(np.stack([standing.roles, standing.relations]), axis=1, return_counts=True)
    largest = np.argsort(-counts, kind="stable")
    vocabulary = lookup.dataset.vocabulary
    groups = []
    for role, relation in keys[:, largest[:MAX_GROUPS]].T.tolist():
        places = _of_group(standing, role, relation)
        name = vocabulary.relations[relation]
        facts = lookup.page("", places, limit).facts
        groups.append(FactGroup(_ROLES[role].value, name, vocabulary.label(name), len(places), facts))
    name, total = vocabulary.entities[i], len(np.unique(standing.places))
    types = vocabulary.types.get(name, ())
    return EntityProfile(name, vocabulary.label(name), list(types), total, len(largest), groups)


def facts_of_group(
    lookup: FactLookup, entity: str, role: str, relation: str, limit: int = 20, offset: int = 0
) -> StoredFacts:
    """The facts of one group of a profile, page by page."""
    if role not in (roles := [one.value for one in _ROLES]):
        raise SettingError(f"unknown role {role!r} of an entity", f"Expected {', '.join(roles)}.")
    i = lookup.names.entity(entity)
    places = _of_group(_standing(lookup, i), roles.index(role), lookup.names.relation(relation))
    return lookup.page(lookup.dataset.vocabulary.entities[i], places, limit, offset)


def _standing(lookup: FactLookup, entity: int) -> _Standing:
    parts = [np.empty((3, 0), np.int64)]
    for block, rows in lookup.index.mentioning(entity):
        parts += _in_block(block, rows, entity)
    return _Standing(*np.concatenate(parts, axis=1))


def _in_block(block: Block, rows: Rows, entity: int) -> Iterator[Rows]:
    """Role, relation and place [3, n] of the entity in each column of some rows of a block."""
    ids = block.ids[rows]
    for role, column in enumerate((SUBJECT, OBJECT)):
        at = ids[:, column] == entity
        yield np.stack(np.broadcast_arrays(role, ids[at, RELATION], block.rows[rows[at]]))
    row, number = np.nonzero(block.values[rows] == entity)
    yield np.stack(np.broadcast_arrays(2, block.attributes[rows[row], number], block.rows[rows[row]]))


def _of_group(standing: _Standing, role: int, relation: int) -> Rows:
    """The places of the facts in which the entity stands there, ascending."""
    return np.unique(standing.places[(standing.roles == role) & (standing.relations == relation)])
