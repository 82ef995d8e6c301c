"""Ranks by counting: how many candidates score higher than the answer, and how many score the same.

Scores are only read. Other known answers are counted apart, at their places alone, and subtracted.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nary.evaluation.known import Answers
from nary.evaluation.queries import Candidates
from nary.evaluation.scoring import Scored
from nary.facts.table import Rows

_Scores = npt.NDArray[np.floating]


class Counts(NamedTuple):
    """For each query [q] the candidates above its answer and level with it, and the known answers not counted."""

    higher: Rows
    ties: Rows
    filtered: Rows


def count(scored: Scored, answers: Rows, known: Answers, candidates: Candidates | None = None) -> Counts:
    """Count for the queries of ``scored``, whose answers are ``answers`` [q].

    ``known`` holds the known answers to each question. Every answer must be a candidate; it is itself neither counted
    nor filtered.
    """
    scores, rows = scored.scores, scored.rows
    gold = scores[rows, answers]  # [q]
    higher, equal = _count_all(scores, rows, gold, candidates)
    starts, ids = known
    row_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))  # of each known answer
    if candidates is not None:
        row_of, ids = row_of[candidates[ids]], ids[candidates[ids]]
    known_higher, known_equal = _count_known(row_of, scores[row_of, ids], rows, gold)
    width = scores.shape[1]
    itself = np.isin(rows * width + answers, row_of * width + ids).astype(np.int64)
    filtered = np.bincount(row_of, minlength=len(scores))[rows] - itself
    return Counts(higher - known_higher, equal - 1 - (known_equal - itself), filtered)


def _count_all(scores: _Scores, rows: Rows, gold: _Scores, candidates: Candidates | None) -> tuple[Rows, Rows]:
    """How many candidates score higher than ``gold`` [q] and how many the same."""
    higher, equal = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    mark = np.empty(scores.shape[1], bool)
    # One row at a time stays in the processor's caches; whole matrices of marks take three times as long.
    for i, (row, answer) in enumerate(zip(rows.tolist(), gold, strict=True)):
        for compare, found in ((np.greater, higher), (np.equal, equal)):
            compare(scores[row], answer, out=mark)
            if candidates is not None:
                np.logical_and(mark, candidates, out=mark)
            found[i] = np.count_nonzero(mark)
    return higher, equal


def _count_known(row_of: Rows, own: _Scores, rows: Rows, gold: _Scores) -> tuple[Rows, Rows]:
    """How many known answers, with scores ``own`` at rows ``row_of`` (ascending), are above ``gold`` [q] and level.

    Many queries may share a row, and a row may have very many known answers. So these are sorted by row and score
    once, and each query looks up where it stands among them.
    """
    levels = np.sort(own)
    span = len(levels) + 1
    places = np.sort(row_of * span + np.searchsorted(levels, own))
    equal = np.searchsorted(places, rows * span + np.searchsorted(levels, gold, side="left"))
    higher = np.searchsorted(places, rows * span + np.searchsorted(levels, gold, side="right"))
    end = np.searchsorted(row_of, rows, side="right")
    return end - higher, higher - equal
