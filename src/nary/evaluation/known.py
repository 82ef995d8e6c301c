"""Known answers: the filter of a ranking, as a sparse index."""

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from nary.evaluation.filters import RULES
from nary.evaluation.protocol import FilterRule
from nary.facts import FactTable
from nary.facts.layout import FIRST_ATTRIBUTE
from nary.facts.table import Ids, Rows

Answers = tuple[Rows, Rows]
"""Answers to n queries: those to query i are ``answers[starts[i] : starts[i + 1]]``, distinct and ascending."""


class KnownAnswers:
    """The answers that facts give to queries, by one of the rules of the protocol."""

    def __init__(self, tables: Sequence[FactTable], rule: FilterRule) -> None:
        self._facts = FactTable.concatenate(tables)
        self._rule = RULES[rule]
        self._indexes: dict[Hashable, _Index] = {}  # built when first asked for

    def of(self, ids: npt.NDArray[np.integer], column: int) -> Answers:
        """``starts`` [n+1] and ``answers`` to the queries made of rows ``ids`` [n, 2m+3] by a gap at ``column``.

        The ids at ``column`` are not looked at. Where the facts hold the right answer it is among the known ones.
        """
        if self._rule is None:
            return np.zeros(len(ids) + 1, np.int64), np.empty(0, np.int64)
        rows = ids.astype(np.int32, copy=False)
        return self._index(rows[:0], column).find(self._rule.contexts(rows, column))

    def _index(self, like: Ids, column: int) -> "_Index":
        """The index for queries ``like`` [0, 2m+3] these."""
        if self._rule is None:
            raise AssertionError("without a rule nothing is indexed")
        space = self._rule.space((like.shape[1] - FIRST_ATTRIBUTE) // 2, column)
        if space not in self._indexes:
            contexts, answers = [self._rule.contexts(like, column)], [like[:, column]]
            for block in self._facts.blocks:
                for other in range(block.ids.shape[1]):
                    if self._rule.space(block.qualifiers, other) == space:
                        contexts.append(self._rule.contexts(block.ids, other))
                        answers.append(block.ids[:, other])
            self._indexes[space] = _Index(np.concatenate(contexts), np.concatenate(answers))
        return self._indexes[space]


class _Index:
    """Answers by context."""

    def __init__(self, contexts: Ids, answers: Ids) -> None:
        self._keys, first, numbers = np.unique(_packed(contexts), return_index=True, return_inverse=True)
        self._contexts = contexts[first]  # [k, w], in the order of the keys
        span = int(answers.max(initial=0)) + 1
        pairs = np.unique(numbers.ravel() * span + answers)  # sorted by context, then answer
        self._answers = pairs % span
        self._starts = np.searchsorted(pairs // span, np.arange(len(first) + 1))

    def find(self, contexts: Ids) -> Answers:
        """The answers for each of ``contexts`` [n, w]."""
        if not len(self._keys):
            return np.zeros(len(contexts) + 1, np.int64), self._answers
        places = np.searchsorted(self._keys, _packed(contexts)).clip(max=len(self._keys) - 1)
        found = (self._contexts[places] == contexts).all(axis=1)
        counts = np.where(found, self._starts[places + 1] - self._starts[places], 0)
        starts = np.concatenate([[0], np.cumsum(counts)])
        shift = np.repeat(self._starts[places] - starts[:-1], counts)
        return starts, self._answers[np.arange(starts[-1]) + shift]


def _packed(rows: Ids) -> npt.NDArray[np.void]:
    """Each row [n, w] as one item [n] that can be sorted and searched for."""
    return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).reshape(len(rows))
