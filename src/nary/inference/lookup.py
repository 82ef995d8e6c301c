"""Stored facts that match a pattern, without a model: :class:`FactLookup` for a dataset."""

from collections.abc import Mapping
from functools import cached_property
from itertools import accumulate

import numpy as np

from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.facts import Fact, FactTable, Query
from nary.facts.index import FactIndex, Pattern
from nary.facts.table import decode_fact
from nary.inference.names import Names
from nary.inference.results import StoredFact, StoredFacts


class FactLookup:
    """Finds the facts of a dataset that contain a pattern; names may be given by label, or ignoring case."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.names = Names(dataset.vocabulary)

    @cached_property
    def _index(self) -> FactIndex:
        return FactIndex(FactTable.concatenate(list(self.dataset.splits.values())))

    @cached_property
    def _first_rows(self) -> Mapping[str, int]:
        """The place of the first fact of each split among all facts."""
        sizes = [len(table) for table in self.dataset.splits.values()]
        return dict(zip(self.dataset.splits, accumulate([0, *sizes]), strict=False))

    def find(self, pattern: Fact | Query, limit: int = 20) -> StoredFacts:
        """The facts that match ``pattern``, in their order, at most ``limit`` of them.

        A fact matches if it has every known element of the pattern; it may have further qualifiers.
        """
        if limit < 1:
            raise SettingError(f"{limit} facts were asked for", "Ask for one or more.")
        resolve = self.names.resolve
        resolved = resolve(pattern) if isinstance(pattern, Fact) else resolve(pattern)  # noqa: RUF034 (one type each)
        matches = list(self._index.match(Pattern.encode(resolved, self.dataset.vocabulary)))
        places = [(place, block, row) for block, rows in matches for row in rows for place in [int(block.rows[row])]]
        places.sort(key=lambda match: match[0])
        shown = [
            self._stored(decode_fact(block.ids[row].tolist(), self.dataset.vocabulary), place)
            for place, block, row in places[:limit]
        ]
        return StoredFacts(str(resolved), len(places), shown)

    def _stored(self, fact: Fact, place: int) -> StoredFact:
        splits, firsts = list(self._first_rows), list(self._first_rows.values())
        split = splits[int(np.searchsorted(firsts, place, side="right")) - 1]
        return StoredFact(str(fact), self.names.labeled(fact), split)
