"""Invented facts with a structure that a model can learn, of any number, equal on every machine.

Entities belong to hidden groups. A group has a few relations of its own, and a group and a relation together have a
few likely objects; a relation has its attributes, and the value of one depends on the relation and on the object's
group. Some entities, relations and answers are far more frequent than others. ``noise`` is the share of relations,
objects and values that are drawn without regard to all that.

Every random number is a hash of what it is for, so nothing depends on a generator's state or on the numpy version.
"""

from dataclasses import dataclass
from enum import IntEnum, auto

import numpy as np

from nary.data.dataset import Dataset
from nary.data.hashing import Numbers, Words, hashed, skewed, uniform
from nary.errors import SettingError
from nary.facts import FactTable, Vocabulary
from nary.facts.table import Ids

_FAVOURITES = 4  # relations of a group
_ANSWERS = 4  # likely objects of a group and a relation, likely values of an attribute
_ROUNDS = 20


def generate(
    facts: int, entities: int, relations: int = 20, max_arity: int = 6, noise: float = 0.1, seed: int = 0
) -> Dataset:
    """Invent distinct facts of every arity from 2 to ``max_arity``, in one split, train.

    With at least as many facts as entities and relations, each of these occurs. Attributes come on top of
    ``relations``.
    """
    _check(facts, entities, relations, max_arity, noise)
    if not 0 <= seed < 1 << 63:
        raise SettingError(f"the seed is {seed}", "A seed is 0 or greater, and less than 2 to the 63.")
    world = _World(entities, relations, max_arity - 2, noise, seed)
    heads, counts, pairs = world.distinct_facts(facts)
    entities_used, (subject, object, value) = _renumbered(heads[:, 1], heads[:, 2], pairs[:, 1])
    relations_used, (relation, attribute) = _renumbered(heads[:, 0], pairs[:, 0])
    table = FactTable.from_columns(
        np.stack([relation, subject, object], axis=1), counts, np.stack([attribute, value], axis=1)
    )
    return Dataset("generated", world.vocabulary(entities_used, relations_used), {"train": table})


def _check(facts: int, entities: int, relations: int, max_arity: int, noise: float) -> None:
    for what, given, least in (
        ("number of facts", facts, 1),
        ("number of entities", entities, 2),
        ("number of relations", relations, 1),
        ("maximum arity", max_arity, 2),
    ):
        if given < least:
            raise SettingError(f"the {what} is {given}", f"The least is {least}.")
    if facts < max_arity - 1:
        raise SettingError(
            f"{facts} facts cannot have every arity from 2 to {max_arity}", f"Ask for {max_arity - 1} facts or more."
        )
    if not 0 <= noise <= 1:
        raise SettingError(f"the noise is {noise}", "It is a share between 0 and 1.")


def _renumbered(*columns: Numbers) -> tuple[Numbers, list[Ids]]:
    """The ids that occur in the columns, and the columns with each id replaced by its place among them."""
    occurs = np.zeros(1 + max(int(column.max(initial=0)) for column in columns), bool)
    for column in columns:
        occurs[column] = True
    places = (np.cumsum(occurs) - 1).astype(np.int32)
    return np.flatnonzero(occurs), [places[column] for column in columns]


class _For(IntEnum):
    """What a random number is for."""

    SUBJECT = auto()
    RELATION = auto()
    OBJECT = auto()
    QUALIFIERS = auto()
    ATTRIBUTES = auto()
    VALUE = auto()
    RANK = auto()
    NOISE = auto()
    ANY = auto()
    ORDER = auto()


@dataclass(frozen=True)
class _World:
    """The hidden structure. Fact number ``i`` is a function of ``i`` and the settings alone.

    Relation ids follow the attributes' ids, as their names do. Low entity and relation numbers are the popular ones.
    """

    entities: int
    relations: int
    max_qualifiers: int
    noise: float
    seed: int

    @property
    def groups(self) -> int:
        """Entity ``i`` is in group ``i % groups``."""
        return min(64, max(2, self.entities // 20))

    @property
    def attributes(self) -> int:
        """Enough for one fact, and fewer than the relations, so that relations share them."""
        return max(self.max_qualifiers, self.relations // 2) if self.max_qualifiers else 0

    def distinct_facts(self, wished: int) -> tuple[Numbers, Numbers, Numbers]:
        """The first ``wished`` facts that are not repeated, as columns for :meth:`FactTable.from_columns`."""
        kept, kept_keys, drawn = np.empty(0, np.int64), np.empty(0, np.uint64), 0
        for _ in range(_ROUNDS):
            numbers = np.arange(drawn, drawn + min(wished, 2 * (wished - len(kept))))
            keys = _keys(*self._facts(numbers))
            first = np.sort(np.unique(keys, return_index=True)[1])
            first = first[~np.isin(keys[first], kept_keys)]
            kept, kept_keys = np.concatenate([kept, numbers[first]]), np.concatenate([kept_keys, keys[first]])
            drawn += len(numbers)
            if len(kept) >= wished:
                kept = kept[:wished]
                return self._facts(kept[np.argsort(self._draw(_For.ORDER, kept), kind="stable")])
        raise SettingError(
            f"found only {len(kept):,} distinct facts of the {wished:,} asked for",
            "Ask for more entities, more relations, a higher arity or more noise.",
        )

    def vocabulary(self, entity_ids: Numbers, relation_ids: Numbers) -> Vocabulary:
        """Names for the ids, in an order that sorting does not change."""
        width, short = max(6, len(str(self.entities))), max(2, len(str(max(self.relations, self.attributes))))
        entities = tuple(f"entity {i + 1:0{width}}" for i in entity_ids.tolist())
        relations = tuple(
            f"attribute {i + 1:0{short}}" if i < self.attributes else f"relation {i + 1 - self.attributes:0{short}}"
            for i in relation_ids.tolist()
        )
        return Vocabulary(entities, relations)

    def _facts(self, numbers: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Relation, subject, object [n, 3], number of qualifiers [n], attribute and value of all of them [sum, 2]."""
        # The first facts go through all entities, relations and arities in turn, so that each occurs.
        subject = np.where(numbers < self.entities, numbers, skewed(self._draw(_For.SUBJECT, numbers), self.entities))
        relation = np.where(numbers < self.relations, numbers, self._relation(numbers, subject % self.groups))
        object = self._answer(
            self._draw(_For.OBJECT, numbers), self._draw(_For.OBJECT, relation, subject % self.groups)
        )
        counts = skewed(self._draw(_For.QUALIFIERS, numbers), self.max_qualifiers + 1)
        counts = np.where(numbers <= self.max_qualifiers, numbers, counts)

        owner = np.repeat(np.arange(len(numbers)), counts)
        slot = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        value = self._answer(
            self._draw(_For.VALUE, numbers[owner], slot),
            self._draw(_For.VALUE, relation[owner], slot, object[owner] % self.groups),
        )
        heads = np.stack([self.attributes + relation, subject, object], axis=1)
        return heads, counts, np.stack([self._attribute(relation[owner], slot), value], axis=1)

    def _draw(self, purpose: _For, *parts: Numbers) -> Words:
        return hashed(self.seed, purpose, *parts)

    def _relation(self, numbers: Numbers, group: Numbers) -> Numbers:
        """One of the group's favorites, mostly the first."""
        random = self._draw(_For.RELATION, numbers)
        rank = skewed(hashed(random, _For.RANK), _FAVOURITES)
        return self._unless_noisy(
            skewed(self._draw(_For.RELATION, group, rank), self.relations), random, self.relations
        )

    def _attribute(self, relation: Numbers, slot: Numbers) -> Numbers:
        """The attributes of a relation are neighbors; no fact holds one twice."""
        pool = max(1, self.attributes)  # of an empty one nothing is drawn
        first = (self._draw(_For.ATTRIBUTES, relation) % np.uint64(pool)).astype(np.int64)
        return (first + slot) % pool

    def _answer(self, random: Words, context: Words) -> Numbers:
        """One of the few entities that are likely in a context, all of one group, mostly the first."""
        rank = skewed(hashed(random, _For.RANK), _ANSWERS)
        group = context % np.uint64(self.groups)
        member = hashed(context, rank) % np.uint64(self.entities // self.groups)
        likely = (group + member * np.uint64(self.groups)).astype(np.int64)
        return self._unless_noisy(likely, random, self.entities)

    def _unless_noisy(self, likely: Numbers, random: Words, size: int) -> Numbers:
        noisy = uniform(hashed(random, _For.NOISE)) < self.noise
        return np.where(noisy, skewed(hashed(random, _For.ANY), size), likely)


def _keys(heads: Numbers, counts: Numbers, pairs: Numbers) -> Words:
    """A word for each fact, equal for equal facts; that unequal ones share a word may happen and does no harm."""
    qualifiers = np.zeros(len(heads), np.uint64)
    np.add.at(qualifiers, np.repeat(np.arange(len(heads)), counts), hashed(pairs[:, 0], pairs[:, 1]))
    return hashed(heads[:, 0], heads[:, 1], heads[:, 2], qualifiers)
