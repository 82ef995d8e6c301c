"""Which facts mention an entity: an index from each entity to its facts, built once."""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from nary.data.dataset import Dataset
from nary.facts import Fact
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT


class FactIndex:
    """The facts of all splits, by the entities they mention."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def mentions(self, entity: int) -> npt.NDArray[np.int64]:
        """The places, among the facts of all splits, of those that mention the entity; ascending, each once."""
        starts, places = self._by_entity
        return places[starts[entity] : starts[entity + 1]]

    def fact(self, place: int) -> tuple[Fact, str]:
        """The fact at a place, and its split."""
        block_of, row_of = self._location
        ids = self._dataset.facts.blocks[block_of[place]].ids[row_of[place]].tolist()
        vocabulary = self._dataset.vocabulary
        middle = (len(ids) + 3) // 2
        attributes = [vocabulary.relations[i] for i in ids[FIRST_ATTRIBUTE:middle]]
        values = [vocabulary.entities[i] for i in ids[middle:]]
        subject, object = vocabulary.entities[ids[SUBJECT]], vocabulary.entities[ids[OBJECT]]
        fact = Fact(subject, vocabulary.relations[ids[RELATION]], object, zip(attributes, values, strict=True))
        ends = np.cumsum([len(table) for table in self._dataset.splits.values()])
        return fact, list(self._dataset.splits)[int(np.searchsorted(ends, place, side="right"))]

    @cached_property
    def _by_entity(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """``starts`` [E+1] and ``places``: entity ``e`` is mentioned at ``places[starts[e]:starts[e+1]]``."""
        facts, entities = self._dataset.facts, len(self._dataset.vocabulary.entities)
        size = max(1, len(facts))
        mentions = [
            (block.entities.astype(np.int64) * size + block.rows[:, None]).ravel()  # sorts by entity, then place
            for block in facts.blocks
        ]
        pairs = np.unique(np.concatenate([np.empty(0, np.int64), *mentions]))
        return np.searchsorted(pairs, np.arange(entities + 1) * size), pairs % size

    @cached_property
    def _location(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """The block, and the row in it, of the fact at each place [n]."""
        facts = self._dataset.facts
        block_of, row_of = np.empty(len(facts), np.int32), np.empty(len(facts), np.int64)
        for number, block in enumerate(facts.blocks):
            block_of[block.rows] = number
            row_of[block.rows] = np.arange(len(block))
        return block_of, row_of
