"""Known answers: the filter of a ranking, as a sparse index.

A filter rule gives each query a *context*, a row of ids, within a *space*. The answer of one query is a known answer to
another if both have the same space and the same context.
"""

from collections.abc import Hashable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nary.evaluation.contained_answers import Answers, ContainedAnswers
from nary.evaluation.protocol import FilterRule
from nary.facts import FactTable
from nary.facts.layout import FIRST_ATTRIBUTE, num_qualifiers, partner_column, position_at
from nary.facts.table import Ids, packed_rows


class KnownAnswers:
    """The answers that facts give to queries under one of the filter rules of the protocol."""

    def __init__(self, tables: Sequence[FactTable], rule: FilterRule) -> None:
        self._facts = FactTable.concatenate(tables)
        self._rule = _RULES[rule]
        self._indexes: dict[Hashable, _Index] = {}  # built on first use

    def of(self, ids: npt.NDArray[np.integer], column: int, *, contained: bool = False) -> Answers:
        """``starts`` [n+1] and ``answers`` to the queries that mask ``column`` of the rows ``ids`` [n, 2m+3].

        The ids in that column are ignored. The right answer is among the known ones if the facts hold it. With
        ``contained``, all facts count that contain the query, under every rule but ``none``.
        """
        if self._rule is None:
            return np.zeros(len(ids) + 1, np.int64), np.empty(0, np.int64)
        if contained:
            return self._contained.of(ids, column)
        rows = ids.astype(np.int32, copy=False)
        return self._index(self._rule, rows[:0], column).find(self._rule.contexts(rows, column))

    @cached_property
    def _contained(self) -> ContainedAnswers:
        return ContainedAnswers(self._facts)

    def _index(self, rule: "_Slots", empty: Ids, column: int) -> "_Index":
        """The index for queries like those of ``empty`` [0, 2m+3] with a gap at ``column``."""
        space = rule.space(num_qualifiers(empty.shape[1]), column)
        if space not in self._indexes:
            contexts, answers = [rule.contexts(empty, column)], [empty[:, column]]
            for block in self._facts.blocks:
                for other in range(block.ids.shape[1]):
                    if rule.space(block.qualifiers, other) == space:
                        contexts.append(rule.contexts(block.ids, other))
                        answers.append(block.ids[:, other])
            self._indexes[space] = _Index(np.concatenate(contexts), np.concatenate(answers))
        return self._indexes[space]


class _Slots:
    """The gap is in the same column, and all other columns are equal."""

    def space(self, num_qualifiers: int, column: int) -> Hashable:
        """What must be equal before contexts may be compared."""
        return num_qualifiers, column

    def contexts(self, ids: Ids, column: int) -> Ids:
        """The context [n, w] of each row of ``ids`` [n, 2m+3] with a gap at ``column``."""
        return np.delete(ids, column, axis=1)


class _OrderFree(_Slots):
    """Like slots, but a gap in a qualifier may be in any qualifier: its partner and the other qualifiers are equal."""

    def space(self, num_qualifiers: int, column: int) -> Hashable:
        """A gap in any attribute is like a gap in any other; the same for values."""
        if column < FIRST_ATTRIBUTE:
            return super().space(num_qualifiers, column)
        return num_qualifiers, position_at(column, num_qualifiers).role

    def contexts(self, ids: Ids, column: int) -> Ids:
        """The partner of the gap, then all but the qualifier with the gap; the others stay sorted without it."""
        partner = partner_column(column, num_qualifiers(ids.shape[1]))
        if partner is None:
            return super().contexts(ids, column)
        return np.concatenate([ids[:, [partner]], np.delete(ids, [column, partner], axis=1)], axis=1)


class _Primary(_Slots):
    """Like slots, but for a gap in the primary triple only its other two elements count, whatever the arity."""

    def space(self, num_qualifiers: int, column: int) -> Hashable:
        """Primary triples are compared across arities."""
        return column if column < FIRST_ATTRIBUTE else super().space(num_qualifiers, column)

    def contexts(self, ids: Ids, column: int) -> Ids:
        """The rest of the primary triple."""
        return super().contexts(ids[:, :FIRST_ATTRIBUTE] if column < FIRST_ATTRIBUTE else ids, column)


_RULES: dict[FilterRule, _Slots | None] = {
    "slots": _Slots(),
    "order-free": _OrderFree(),
    "primary": _Primary(),
    "none": None,
}


class _Index:
    """Answers by context."""

    def __init__(self, contexts: Ids, answers: Ids) -> None:
        self._keys, first, numbers = np.unique(packed_rows(contexts), return_index=True, return_inverse=True)
        self._contexts = contexts[first]  # [k, w], in the order of the keys
        span = int(answers.max(initial=0)) + 1
        pairs = np.unique(numbers.ravel() * span + answers)  # sorted by context, then answer
        self._answers = pairs % span
        self._starts = np.searchsorted(pairs // span, np.arange(len(first) + 1))

    def find(self, contexts: Ids) -> Answers:
        """The answers for each of ``contexts`` [n, w]."""
        if not len(self._keys):
            return np.zeros(len(contexts) + 1, np.int64), self._answers
        places = np.searchsorted(self._keys, packed_rows(contexts)).clip(max=len(self._keys) - 1)
        is_match = (self._contexts[places] == contexts).all(axis=1)
        counts = np.where(is_match, self._starts[places + 1] - self._starts[places], 0)
        starts = np.concatenate([[0], np.cumsum(counts)])
        shift = np.repeat(self._starts[places] - starts[:-1], counts)
        return starts, self._answers[np.arange(starts[-1]) + shift]
