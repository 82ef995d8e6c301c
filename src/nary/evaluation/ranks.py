"""Ranks: for every query, the rank of the right answer among all candidates.

Ranks are counted: how many candidates score higher than the answer, and how many score the same. Scores are only read.
Other known answers are counted separately, at their indices only, and subtracted.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from nary.data.files import open_to_write
from nary.evaluation.contained_answers import Answers
from nary.evaluation.given import give
from nary.evaluation.guesses import Guesser, Guesses
from nary.evaluation.known_answers import KnownAnswers
from nary.evaluation.protocol import Protocol, Ties
from nary.evaluation.queries import Candidates, MaskedBlock, evaluated_roles, mask_table
from nary.evaluation.scorer import QueryScorer, QueryScores
from nary.evaluation.values import ValueRanges
from nary.facts import FactTable, Role, Vocabulary
from nary.facts.layout import FIRST_ATTRIBUTE, RELATION, position_at
from nary.facts.table import Rows
from nary.files.writing import atomic_path
from nary.models.base import Model
from nary.progress import Progress, no_progress
from nary.workers import ALONE, Workers

ROLES = tuple(Role)
"""Roles by their number in :attr:`Ranks.role`."""

ALL_GIVEN = -1
"""In :attr:`Ranks.given`: the query gave all qualifiers of the fact."""

_NUM_COLUMNS = 10  # of Ranks
_Scores = npt.NDArray[np.floating]


@dataclass(frozen=True, eq=False, repr=False)
class Ranks:
    """One entry per query in each array [q], ordered by fact and column.

    ``ties`` is the protocol's rule for candidates with the same score; ``left_out`` is the number of queries that were
    not ranked because their answer is not a candidate.
    """

    ties: Ties
    left_out: int
    row: Rows
    """The index of the fact in its table."""
    arity: Rows
    relation: Rows
    """The id of the relation of the fact, whichever element is masked."""
    column: Rows
    """The masked column."""
    role: Rows
    """The number of the masked element's role in ``ROLES``."""
    answer: Rows
    """The id that was masked."""
    optimistic: Rows
    """The rank of the answer if it comes first among candidates with the same score."""
    pessimistic: Rows
    """The rank of the answer if it comes last among them."""
    filtered: Rows
    """The number of other known answers that were filtered out."""
    given: Rows
    """How many qualifiers the query gave at most, besides that of the masked element; ``ALL_GIVEN`` for all."""
    guesses: Guesses | None = None
    """What was expected where the answer is a literal, if that was asked for."""

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        return f"Ranks({len(self):,} queries)"

    @property
    def is_curve(self) -> bool:
        """Whether the same queries were asked with different numbers of qualifiers given."""
        return len(np.unique(self.given)) > 1

    @property
    def num_others(self) -> Rows:
        """The number of qualifiers of the fact besides that of the masked element [q]."""
        return self.arity - 2 - (self.column >= FIRST_ATTRIBUTE)

    def rank(self, ties: Ties | None = None) -> npt.NDArray[np.float64]:
        """The ranks [q] under a rule for ties, by default that of the protocol."""
        low, high = self.optimistic.astype(np.float64), self.pessimistic.astype(np.float64)
        return {"optimistic": low, "pessimistic": high, "mean": (low + high) / 2}[ties or self.ties]

    def write_jsonl(self, path: Path, table: FactTable, vocabulary: Vocabulary) -> None:
        """Write a line of JSON per query; ``table`` holds the ranked facts."""
        with atomic_path(path) as temporary, open_to_write(temporary) as file:
            for line in self._lines(table, vocabulary):
                file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def _lines(self, table: FactTable, vocabulary: Vocabulary) -> Iterator[dict[str, Any]]:
        figures = (self.rank(), self.optimistic, self.pessimistic, self.filtered, self.given)
        columns = (self.arity, self.column, self.answer, *figures)
        queries = zip(*(column.tolist() for column in columns), strict=True)
        counts = np.bincount(self.row, minlength=len(table)).tolist()
        for fact, num_queries in zip(table.facts(vocabulary), counts, strict=True):
            text = str(fact)
            for _ in range(num_queries):
                arity, column, answer, rank, optimistic, pessimistic, filtered, given = next(queries)
                position = position_at(column, arity - 2)
                names = vocabulary.entities if position.role.is_entity else vocabulary.relations
                yield {
                    "fact": text,
                    "position": str(position),
                    "answer": names[answer],
                    "rank": rank,
                    "optimistic": optimistic,
                    "pessimistic": pessimistic,
                    "filtered": filtered,
                    **({} if given == ALL_GIVEN else {"given": given}),
                }


def rank(
    model: Model,
    table: FactTable,
    known: KnownAnswers,
    protocol: Protocol,
    progress: Progress = no_progress,
    candidates: Candidates | None = None,
    ranges: ValueRanges | None = None,
    workers: Workers = ALONE,
) -> Ranks:
    """Rank the answer of every query that the protocol makes of the facts of ``table``.

    ``candidates`` [E] says which entities subjects and objects are ranked against, by default all. With ``ranges``,
    also guess the values of literals. Of several ``workers`` each ranks a share, and all have all ranks.
    """
    blocks, left_out = mask_table(table, evaluated_roles(model, protocol), candidates)
    blocks = give(blocks, protocol.given)
    scorer = QueryScorer(model, protocol.memory, workers=workers)
    parts, guesser = [], None if ranges is None else Guesser(ranges)
    with _evaluating(model):
        for masked, part, counts in count_blocks(scorer, blocks, known, progress, candidates):
            parts.append(_columns(masked, part.places, counts))
            on_curve = protocol.given == "curve" and masked.shortened is not None
            if guesser is not None and masked.kind == "entity" and not on_curve:
                guesser.add(masked.ids[part.places], masked.column, part.scores.numpy(), part.rows)
    columns = np.concatenate([np.empty((_NUM_COLUMNS, 0), np.int64), *parts], axis=1)
    columns = workers.concatenate_columns(columns)
    order = np.lexsort((columns[-1], columns[3], columns[0]))  # by row, then column
    ranks = Ranks(protocol.ties, left_out, *columns[:, order])
    return ranks if guesser is None else replace(ranks, guesses=guesser.guesses(workers))


@contextmanager
def _evaluating(model: Model) -> Iterator[None]:
    """Put the model into evaluation mode, and back afterwards if it was in training mode."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)


class Counts(NamedTuple):
    """For each query [q] how many candidates score higher than its answer and how many the same.

    ``filtered`` is the number of other known answers, which are not counted.
    """

    higher: Rows
    ties: Rows
    filtered: Rows


def _columns(masked: MaskedBlock, places: Rows, counts: Counts) -> npt.NDArray[np.int64]:
    """The columns of :class:`Ranks` [10, q] for the queries at ``places``."""
    ids = masked.ids[places]
    given, arity, column = masked.shortened or (ALL_GIVEN, masked.block.arity, masked.column)
    columns = (
        masked.block.rows[places],
        arity,
        ids[:, RELATION],
        column,
        ROLES.index(masked.role),
        ids[:, masked.column],
        1 + counts.higher,
        1 + counts.higher + counts.ties,
        counts.filtered,
        given,
    )
    return np.stack(np.broadcast_arrays(*columns)).astype(np.int64)


def count_blocks(
    scorer: QueryScorer,
    blocks: Sequence[MaskedBlock],
    known: KnownAnswers,
    progress: Progress = no_progress,
    candidates: Candidates | None = None,
) -> Iterator[tuple[MaskedBlock, QueryScores, Counts]]:
    """Score the queries of all blocks and count for each answer, a chunk at a time."""
    total, done = sum(map(len, blocks)) // scorer.workers.size, 0
    for masked in blocks:
        answers, allowed = masked.answers, masked.restrict(candidates)
        for part in scorer.score_block(masked):
            others = known.of(masked.ids[part.distinct], masked.column, contained=masked.shortened is not None)
            yield masked, part, count(part.scores.numpy(), part.rows, answers[part.places], others, allowed)
            done += len(part.places)
            progress(min(done, total), total)


def count(scores: _Scores, rows: Rows, answers: Rows, known: Answers, candidates: Candidates | None = None) -> Counts:
    """Count for queries with ``answers`` [q], whose scores are the ``rows`` [q] of ``scores`` [k, C].

    ``known`` holds the known answers for each row of ``scores``. Every answer must be a candidate; it is itself neither
    counted nor filtered.
    """
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
        for compare, counts in ((np.greater, higher), (np.equal, equal)):
            compare(scores[row], answer, out=mark)
            if candidates is not None:
                np.logical_and(mark, candidates, out=mark)
            counts[i] = np.count_nonzero(mark)
    return higher, equal


def _count_known(row_of: Rows, known: _Scores, rows: Rows, gold: _Scores) -> tuple[Rows, Rows]:
    """How many known answers, with scores ``known`` in rows ``row_of`` (ascending), are above ``gold`` [q] or equal.

    Many queries may share a row, and a row may have very many known answers. So these are sorted by row and score
    once, and each query looks up its place among them.
    """
    levels = np.sort(known)
    span = len(levels) + 1
    places = np.sort(row_of * span + np.searchsorted(levels, known))
    equal = np.searchsorted(places, rows * span + np.searchsorted(levels, gold, side="left"))
    higher = np.searchsorted(places, rows * span + np.searchsorted(levels, gold, side="right"))
    end = np.searchsorted(row_of, rows, side="right")
    return end - higher, higher - equal
