"""Synthetic datasets of any size with a structure that a model can learn, identical on every machine.

Entities belong to hidden groups. Each group prefers a few relations, and each pair of group and relation a few objects;
each relation has its attributes, whose values depend on the relation and on the group of the object. Some entities,
relations and answers are far more frequent than others. A fraction ``noise`` of the relations, objects and values
ignores this structure.

Every random number is a hash (SplitMix64) of its purpose, so nothing depends on the state of a generator or on the
numpy version.
"""

from dataclasses import dataclass
from enum import IntEnum, auto

import numpy as np
import numpy.typing as npt

from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.facts import FactTable, Vocabulary
from nary.facts.table import Ids

Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]

_FAVORITES = 4  # relations of a group
_ANSWERS = 4  # likely objects of a group and a relation, likely values of an attribute
_ROUNDS = 20
_MAX_IDS = (1 << 31) - 1
_MAX_ARITY = 1000

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)


def generate(
    facts: int, entities: int, relations: int = 20, max_arity: int = 6, noise: float = 0.1, seed: int = 0
) -> Dataset:
    """Generate distinct facts of every arity from 2 to ``max_arity``, in a single split, train.

    Every entity and relation occurs if there are at least as many facts. Attributes are not counted in ``relations``.
    """
    _check(facts, entities, relations, max_arity, noise)
    if not 0 <= seed < 1 << 63:
        raise SettingError(f"the seed is {seed}", "A seed is 0 or greater, and less than 2 to the 63.")
    world = _World(entities, relations, max_arity - 2, noise, seed)
    heads, counts, pairs = world.distinct_facts(facts)
    entities_used, (subject, object, value) = _renumber(heads[:, 1], heads[:, 2], pairs[:, 1])
    relations_used, (relation, attribute) = _renumber(heads[:, 0], pairs[:, 0])
    table = FactTable.from_columns(
        np.stack([relation, subject, object], axis=1), counts, np.stack([attribute, value], axis=1)
    )
    return Dataset("generated", world.vocabulary(entities_used, relations_used), {"train": table})


def _check(facts: int, entities: int, relations: int, max_arity: int, noise: float) -> None:
    for what, given, minimum, maximum in (
        ("number of facts", facts, 1, _MAX_IDS),
        ("number of entities", entities, 2, _MAX_IDS),
        ("number of relations", relations, 1, _MAX_IDS),
        ("maximum arity", max_arity, 2, _MAX_ARITY),
    ):
        if not minimum <= given <= maximum:
            raise SettingError(f"the {what} is {given:,}", f"Give a number from {minimum} to {maximum:,}.")
    if facts < max_arity - 1:
        raise SettingError(
            f"{facts} facts cannot have every arity from 2 to {max_arity}", f"Ask for {max_arity - 1} facts or more."
        )
    if not 0 <= noise <= 1:
        raise SettingError(f"the noise is {noise}", "It is a fraction between 0 and 1.")


def _renumber(*columns: Numbers) -> tuple[Numbers, list[Ids]]:
    """Return the ids that occur in the columns, and the columns with each id replaced by its index among those."""
    occurs = np.zeros(1 + max(int(column.max(initial=0)) for column in columns), bool)
    for column in columns:
        occurs[column] = True
    indices = (np.cumsum(occurs) - 1).astype(np.int32)
    return np.flatnonzero(occurs), [indices[column] for column in columns]


class _Purpose(IntEnum):
    """The purpose of a random number."""

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
    """The hidden structure. Fact number ``i`` depends only on ``i`` and the settings.

    Relation ids come after attribute ids, as their names do. Low entity and relation numbers are the frequent ones.
    """

    entities: int
    relations: int
    max_qualifiers: int
    noise: float
    seed: int

    @property
    def groups(self) -> int:
        """Number of groups; entity ``i`` is in group ``i % groups``."""
        return min(64, max(2, self.entities // 20))

    @property
    def attributes(self) -> int:
        """Number of attributes: enough for one fact, and fewer than the relations, so that relations share them."""
        return max(self.max_qualifiers, self.relations // 2) if self.max_qualifiers else 0

    def distinct_facts(self, num_facts: int) -> tuple[Numbers, Numbers, Numbers]:
        """Generate the first ``num_facts`` distinct facts, as columns for :meth:`FactTable.from_columns`."""
        kept, kept_keys, drawn = np.empty(0, np.int64), np.empty(0, np.uint64), 0
        for _ in range(_ROUNDS):
            numbers = np.arange(drawn, drawn + min(num_facts, 2 * (num_facts - len(kept))))
            keys = _keys(*self._facts(numbers))
            first = np.sort(np.unique(keys, return_index=True)[1])
            first = first[~np.isin(keys[first], kept_keys)]
            kept, kept_keys = np.concatenate([kept, numbers[first]]), np.concatenate([kept_keys, keys[first]])
            drawn += len(numbers)
            if len(kept) >= num_facts:
                kept = kept[:num_facts]
                return self._facts(kept[np.argsort(self._draw(_Purpose.ORDER, kept), kind="stable")])
        raise SettingError(
            f"found only {len(kept):,} of {num_facts:,} distinct facts",
            "Ask for more entities, more relations, a higher arity or more noise.",
        )

    def vocabulary(self, entity_ids: Numbers, relation_ids: Numbers) -> Vocabulary:
        """Name the ids so that names sort like ids."""
        width, short = max(6, len(str(self.entities))), max(2, len(str(max(self.relations, self.attributes))))
        entities = tuple(f"entity {i + 1:0{width}}" for i in entity_ids.tolist())
        relations = tuple(
            f"attribute {i + 1:0{short}}" if i < self.attributes else f"relation {i + 1 - self.attributes:0{short}}"
            for i in relation_ids.tolist()
        )
        return Vocabulary(entities, relations)

    def _facts(self, numbers: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Generate relation, subject, object [n, 3], numbers of qualifiers [n], attributes and values [sum, 2]."""
        # The first facts cycle through all entities, relations and arities, so that each occurs.
        subject = np.where(
            numbers < self.entities, numbers, skewed(self._draw(_Purpose.SUBJECT, numbers), self.entities)
        )
        relation = np.where(numbers < self.relations, numbers, self._relation(numbers, subject % self.groups))
        object = self._answer(
            self._draw(_Purpose.OBJECT, numbers), self._draw(_Purpose.OBJECT, relation, subject % self.groups)
        )
        counts = skewed(self._draw(_Purpose.QUALIFIERS, numbers), self.max_qualifiers + 1)
        counts = np.where(numbers <= self.max_qualifiers, numbers, counts)

        owner = np.repeat(np.arange(len(numbers)), counts)
        slot = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        value = self._answer(
            self._draw(_Purpose.VALUE, numbers[owner], slot),
            self._draw(_Purpose.VALUE, relation[owner], slot, object[owner] % self.groups),
        )
        heads = np.stack([self.attributes + relation, subject, object], axis=1)
        return heads, counts, np.stack([self._attribute(relation[owner], slot), value], axis=1)

    def _draw(self, purpose: _Purpose, *parts: Numbers) -> Words:
        return hash_words(self.seed, purpose, *parts)

    def _relation(self, numbers: Numbers, group: Numbers) -> Numbers:
        """Choose one of the preferred relations of a group, mostly the first."""
        random = self._draw(_Purpose.RELATION, numbers)
        rank = skewed(hash_words(random, _Purpose.RANK), _FAVORITES)
        return self._unless_noisy(
            skewed(self._draw(_Purpose.RELATION, group, rank), self.relations), random, self.relations
        )

    def _attribute(self, relation: Numbers, slot: Numbers) -> Numbers:
        """Choose consecutive attributes, starting with the first one of the relation; no fact has one twice."""
        pool = max(1, self.attributes)  # with no attributes, nothing is drawn
        first = (self._draw(_Purpose.ATTRIBUTES, relation) % np.uint64(pool)).astype(np.int64)
        return (first + slot) % pool

    def _answer(self, random: Words, context: Words) -> Numbers:
        """Choose one of the few entities that are likely in a context, all of one group, mostly the first."""
        rank = skewed(hash_words(random, _Purpose.RANK), _ANSWERS)
        group = context % np.uint64(self.groups)
        member = hash_words(context, rank) % np.uint64(self.entities // self.groups)
        likely = (group + member * np.uint64(self.groups)).astype(np.int64)
        return self._unless_noisy(likely, random, self.entities)

    def _unless_noisy(self, likely: Numbers, random: Words, size: int) -> Numbers:
        noisy = uniform(hash_words(random, _Purpose.NOISE)) < self.noise
        return np.where(noisy, skewed(hash_words(random, _Purpose.ANY), size), likely)


def _keys(heads: Numbers, counts: Numbers, pairs: Numbers) -> Words:
    """Hash each fact; a collision merely drops a fact."""
    qualifiers = np.zeros(len(heads), np.uint64)
    np.add.at(qualifiers, np.repeat(np.arange(len(heads)), counts), hash_words(pairs[:, 0], pairs[:, 1]))
    return hash_words(heads[:, 0], heads[:, 1], heads[:, 2], qualifiers)


def split_mix(words: Words) -> Words:
    """Apply one step of SplitMix64: distinct inputs give distinct outputs that look random."""
    words = words + _STEP
    words = (words ^ (words >> _SHIFTS[0])) * _FACTORS[0]
    words = (words ^ (words >> _SHIFTS[1])) * _FACTORS[1]
    return words ^ (words >> _SHIFTS[2])


def hash_words(*parts: int | Numbers | Words) -> Words:
    """Hash ``parts`` element-wise, after broadcasting their shapes."""
    words = np.zeros(1, np.uint64)  # not a scalar, whose arithmetic would warn about overflow
    for part in parts:
        words = split_mix(words ^ np.asarray(part).astype(np.uint64))
    return words


def uniform(words: Words) -> npt.NDArray[np.float64]:
    """Convert words to numbers from 0 (inclusive) to 1 (exclusive)."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def skewed(words: Words, size: int) -> Numbers:
    """Convert words to numbers below ``size``, low ones more often: the lowest quarter gets half of them."""
    fraction = uniform(words)
    return (fraction * fraction * size).astype(np.int64)
