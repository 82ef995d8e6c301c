"""Stored facts that match a pattern, and what they answer, without a model: :class:`FactLookup` for a dataset."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.evaluation.queries import EncodedQuery
from nary.facts import Fact, FactTable, Query
from nary.facts.containment import Pattern
from nary.facts.index import FactIndex
from nary.facts.table import Rows, decode_fact
from nary.inference.names import Names
from nary.inference.results import StoredFact, StoredFacts


class StoredAnswers(NamedTuple):
    """What stored facts answer to a query, an entry for each answer."""

    ids: Rows
    """The answers, ascending."""
    places: Rows
    """The place of the stored fact with this answer that has the fewest further qualifiers."""
    matches: Rows
    """How many stored facts have this answer."""
    total: int
    """How many stored facts contain the query."""

    def find(self, id: int) -> tuple[int, int] | None:
        """The place of the fact and the number of facts with an answer."""
        at = int(np.searchsorted(self.ids, id))
        if at == len(self.ids) or self.ids[at] != id:
            return None
        return int(self.places[at]), int(self.matches[at])


class FurtherQualifier(NamedTuple):
    """Where a qualifier stands that a fact lacks."""

    place: int
    """The place of the stored fact that contains the fact with this qualifier and has the fewest further ones."""
    matches: int
    """How many stored facts do."""


class FactLookup:
    """Finds the facts of a dataset that contain a pattern; names may be given by label, or ignoring case."""

    def __init__(self, dataset: Dataset, names: Names | None = None) -> None:
        self.dataset = dataset
        self.names = names or Names(dataset.vocabulary)
        ends = np.cumsum([0, *(len(table) for table in dataset.splits.values())]).tolist()
        self._bounds = dict(zip(dataset.splits, pairwise(ends), strict=True))

    @cached_property
    def index(self) -> FactIndex:
        """The facts of all splits."""
        return FactIndex(FactTable.concatenate(list(self.dataset.splits.values())))

    def find(self, pattern: Fact | Query, limit: int = 20, offset: int = 0) -> StoredFacts:
        """The facts that match ``pattern``, in their order, at most ``limit`` of them after the first ``offset``.

        A fact matches if it has every known element of the pattern; it may have further qualifiers.
        """
        resolve = self.names.resolve
        resolved = resolve(pattern) if isinstance(pattern, Fact) else resolve(pattern)  # noqa: RUF034 (one type each)
        places = self.index.places(Pattern.encode(resolved, self.dataset.vocabulary))
        return self.page(str(resolved), places, limit, offset)

    def about(self, entity: str, limit: int = 20, offset: int = 0) -> StoredFacts:
        """The facts that mention an entity anywhere, like :meth:`find`."""
        i = self.names.entity(entity)
        return self.page(self.dataset.vocabulary.entities[i], self.index.mentions(i), limit, offset)

    def stored(self, place: int) -> StoredFact:
        """The fact at a place among those of all splits."""
        fact = decode_fact(self.index.row(place), self.dataset.vocabulary)
        split = next(split for split, (first, last) in self._bounds.items() if first <= place < last)
        return StoredFact(str(fact), self.names.labeled(fact), split)

    def count(self, row: Sequence[int], split: str) -> int:
        """How many facts of a split contain the fact of an id row [2m+3]."""
        first, last = np.searchsorted(self.index.places(Pattern.of_row(row)), self._bounds[split])
        return int(last - first)

    def containing(self, fact: Fact) -> tuple[StoredFact | None, int]:
        """The stored fact with the fewest qualifiers that contains ``fact``, and how many do."""
        matches = list(self.index.match(Pattern.encode(fact, self.dataset.vocabulary)))
        if not matches:
            return None, 0
        block, rows = matches[0]  # blocks are in the order of their arity
        return self.stored(int(block.rows[rows[0]])), sum(len(rows) for _, rows in matches)

    def further(self, fact: Fact) -> tuple[dict[tuple[int, int], FurtherQualifier], int]:
        """What stored facts that contain ``fact`` have beyond it, by (attribute, value), and how many they are."""
        pattern = Pattern.encode(fact, self.dataset.vocabulary)
        qualifiers: dict[tuple[int, int], FurtherQualifier] = {}
        total = 0
        for block, rows in self.index.match(pattern):  # in the order of their arity
            total += len(rows)
            for row in rows.tolist():
                pairs = zip(block.attributes[row].tolist(), block.values[row].tolist(), strict=True)
                for pair in set(pairs).difference(pattern.qualifiers):
                    place, matches = qualifiers.get(pair, (int(block.rows[row]), 0))
                    qualifiers[pair] = FurtherQualifier(place, matches + 1)
        return qualifiers, total

    def answers(self, query: EncodedQuery) -> StoredAnswers:
        """What stored facts that contain the query have in its masked column; hidden columns may hold anything."""
        pattern = Pattern.of_row(query.ids, query.hidden | {query.column})
        answers, places, extra = self.index.fillings(pattern, query.column)
        order = np.lexsort((places, extra, answers))
        answers, places = answers[order], places[order]
        ids, first = np.unique(answers, return_index=True)
        size = max(1, len(self.index.table))
        facts = np.unique(answers * size + places)  # a fact may give the same answer twice
        matches = np.bincount(np.searchsorted(ids, facts // size), minlength=len(ids))
        return StoredAnswers(ids, places[first], matches, len(np.unique(facts % size)))

    def facts_about(self, entity: str, limit: int = 20, offset: int = 0) -> list[Fact]:
        """The facts that :meth:`about` lists."""
        places = self.index.mentions(self.names.entity(entity))[offset : offset + limit].tolist()
        return [decode_fact(self.index.row(place), self.dataset.vocabulary) for place in places]

    def page(self, pattern: str, places: Rows, limit: int, offset: int = 0) -> StoredFacts:
        """The facts at some places, at most ``limit`` of them after the first ``offset``."""
        if limit < 1:
            raise SettingError(f"{limit} facts were asked for", "Ask for one or more.")
        shown = places[offset : offset + limit].tolist()
        return StoredFacts(pattern, len(places), [self.stored(place) for place in shown])
