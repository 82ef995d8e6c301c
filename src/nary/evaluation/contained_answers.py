"""Known answers by containment: the filter for queries that give part of a fact, for many queries at once.

An answer is known if some fact contains the completed query: it has the same primary triple, and for each qualifier of
the query one of its own. :mod:`nary.facts.containment` does the same for one pattern with any gaps.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nary.facts import FactTable
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT, first_value, num_qualifiers, partner_column
from nary.facts.table import Rows, packed_rows

Answers = tuple[Rows, Rows]
"""Answers to n queries: those to query i are ``answers[starts[i] : starts[i + 1]]``, distinct and ascending."""

_PRIMARY = (RELATION, SUBJECT, OBJECT)
_MAX_PAIRS = 1 << 22  # pairs of query and fact looked at in one go


class ContainedAnswers:
    """The answers that facts give to queries which they contain."""

    def __init__(self, table: FactTable) -> None:
        blocks = table.blocks
        sizes, starts = [len(block) for block in blocks], np.cumsum([0, *map(len, blocks)])
        self._primary = _stacked([block.ids[:, :FIRST_ATTRIBUTE] for block in blocks], FIRST_ATTRIBUTE)  # [F, 3]
        numbers = (np.arange(start, start + size) for start, size in zip(starts, sizes, strict=False))
        of_facts = [np.repeat(facts, block.qualifiers) for facts, block in zip(numbers, blocks, strict=True)]
        self._fact = np.concatenate([np.empty(0, np.int64), *of_facts])  # of each qualifier [Q]
        pairs = [np.stack([block.attributes, block.values], 2) for block in blocks]  # [n, m, 2]
        self._pair = _stacked([part.reshape(-1, 2) for part in pairs], 2)  # [Q, 2]
        self._pair_keys = np.unique(_keys(self._pair))
        repeats = [_repeats(part).reshape(-1) for part in pairs]
        repeats_of = np.concatenate([np.empty(0, np.int64), *repeats])
        self._span = int(repeats_of.max(initial=0)) + 1
        self._number = self._numbered(_keys(self._pair), repeats_of)  # [Q]
        self._count = max(1, len(self._pair_keys) * self._span)
        self._members = np.sort(self._fact * self._count + self._number)
        self._postings: dict[tuple[str, int], _Postings] = {}

    def of(self, ids: npt.NDArray[np.integer], column: int) -> Answers:
        """``starts`` [n+1] and ``answers`` to the queries that mask ``column`` of the rows ``ids`` [n, 2m+3].

        The ids in that column are ignored.
        """
        rows = ids.astype(np.int64, copy=False)
        qualifiers = num_qualifiers(rows.shape[1])
        partner = partner_column(column, qualifiers)
        masked = None if partner is None else (column - FIRST_ATTRIBUTE) % qualifiers
        given = self._given(rows, masked)  # [n, k]
        parts = [np.empty((2, 0), np.int64)]
        for queries, entries in self._candidates(rows, column, partner, given):
            facts = self._fact[entries] if partner is not None or given.shape[1] else entries
            if partner is not None:  # the qualifier that answers is none of those given
                fits = (given[queries] != self._number[entries, None]).all(1)
                queries, entries, facts = queries[fits], entries[fits], facts[fits]
            for place in range(given.shape[1]):
                fits = self._has(facts, given[queries, place])
                queries, entries, facts = queries[fits], entries[fits], facts[fits]
            is_value = column >= first_value(qualifiers)
            answers = self._primary[facts, column] if partner is None else self._pair[entries, int(is_value)]
            parts.append(np.stack([queries, answers]))
        queries, answers = np.concatenate(parts, axis=1)
        span = int(answers.max(initial=0)) + 1
        distinct = np.unique(queries * span + answers)
        return np.searchsorted(distinct // span, np.arange(len(ids) + 1)), distinct % span

    def _candidates(self, ids: Rows, column: int, partner: int | None, given: Rows) -> Iterator[tuple[Rows, Rows]]:
        """Queries with the entries, facts or qualifiers, that may answer them, a part at a time."""
        if partner is not None:
            is_value = column >= first_value(num_qualifiers(ids.shape[1]))
            partners = self._pair[:, 1 - is_value]
            postings = self._posting(("qualifier", is_value), lambda: [self._primary[self._fact], partners])
            return postings.join(np.column_stack([ids[:, _PRIMARY], ids[:, partner]]))
        others = [other for other in _PRIMARY if other != column]
        if not given.shape[1]:
            return self._posting(("fact", column), lambda: [self._primary[:, others]]).join(ids[:, others])
        # Of the pairs that are given, the one that fewest facts have.
        rarest = np.take_along_axis(given, self._frequency[given].argmin(1)[:, None], 1)
        postings = self._posting(("pair", column), lambda: [self._primary[self._fact][:, others], self._number])
        return postings.join(np.column_stack([ids[:, others], rarest]))

    def _given(self, ids: Rows, masked: int | None) -> Rows:
        """The numbers of the pairs that each query gives [n, k]; -1 if no fact has the pair."""
        qualifiers = num_qualifiers(ids.shape[1])
        pairs = np.stack([ids[:, FIRST_ATTRIBUTE : first_value(qualifiers)], ids[:, first_value(qualifiers) :]], 2)
        if masked is not None:
            pairs = np.delete(pairs, masked, axis=1)
        return self._numbered(_keys(pairs), _repeats(pairs))

    def _numbered(self, keys: Rows, repeats: Rows) -> Rows:
        """A number for each pair and how often the same pair comes before it; -1 for what no fact has."""
        if not len(self._pair_keys):
            return np.full(keys.shape, -1)
        places = np.searchsorted(self._pair_keys, keys).clip(max=len(self._pair_keys) - 1)
        is_known = (self._pair_keys[places] == keys) & (repeats < self._span)
        return np.where(is_known, places * self._span + repeats, -1)

    def _has(self, facts: Rows, numbers: Rows) -> npt.NDArray[np.bool_]:
        """Whether each fact has the qualifier of that number."""
        keys = facts * self._count + numbers
        places = np.searchsorted(self._members, keys).clip(max=max(0, len(self._members) - 1))
        return (numbers >= 0) & (self._members[places] == keys) if len(self._members) else np.zeros(len(keys), bool)

    @cached_property
    def _frequency(self) -> Rows:
        """How many facts have each pair; the last entry, 0, is for pairs that none has."""
        return np.append(np.bincount(self._number, minlength=self._count), 0)

    def _posting(self, name: tuple[str, int], contexts: Callable[[], list[Rows]]) -> "_Postings":
        """The entries by their contexts, sorted when they are first needed."""
        if name not in self._postings:
            self._postings[name] = _Postings(np.column_stack(contexts()))
        return self._postings[name]


class _Postings:
    """Entries [N] by their contexts [N, w]."""

    def __init__(self, contexts: Rows) -> None:
        packed = packed_rows(contexts)
        self._order = np.argsort(packed, kind="stable")
        self._packed = packed[self._order]

    def join(self, contexts: Rows) -> Iterator[tuple[Rows, Rows]]:
        """The rows of ``contexts`` [n, w] with the entries of the same context, a part at a time."""
        packed = packed_rows(contexts)
        first, last = (np.searchsorted(self._packed, packed, side) for side in ("left", "right"))
        sizes = last - first
        ends = np.cumsum(sizes)
        start = 0
        while start < len(contexts):
            before = ends[start] - sizes[start]
            stop = max(start + 1, int(np.searchsorted(ends, before + _MAX_PAIRS, side="right")))
            rows = np.repeat(np.arange(start, stop), sizes[start:stop])
            shift = np.repeat(first[start:stop] - (ends[start:stop] - sizes[start:stop] - before), sizes[start:stop])
            yield rows, self._order[np.arange(len(rows)) + shift]
            start = stop


def _stacked(parts: Sequence[npt.NDArray[np.integer]], width: int) -> Rows:
    return np.concatenate([np.empty((0, width), np.int64), *parts])


def _keys(pairs: npt.NDArray[np.integer]) -> Rows:
    """Attribute and value [..., 2] as one number [...]."""
    return (pairs[..., 0].astype(np.int64) << 32) | pairs[..., 1]


def _repeats(pairs: npt.NDArray[np.integer]) -> Rows:
    """How often the same pair comes before each one in its row [n, m, 2] -> [n, m]."""
    keys = _keys(pairs)
    repeats = [(keys[:, :place] == keys[:, [place]]).sum(1) for place in range(keys.shape[1])]
    return np.stack(repeats, 1) if repeats else np.empty(keys.shape, np.int64)
