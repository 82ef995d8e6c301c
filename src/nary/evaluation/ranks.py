"""Ranks: for every query, the place of the right answer among all candidates."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import torch

from nary.data.files import atomic_path, open_to_write
from nary.evaluation.counting import Counts, count
from nary.evaluation.known import KnownAnswers
from nary.evaluation.protocol import Protocol, Ties
from nary.evaluation.queries import Candidates, Queries, ask, asked_roles
from nary.evaluation.scoring import Scorer
from nary.facts import FactTable, Role, Vocabulary
from nary.facts.layout import RELATION, position_at
from nary.facts.table import Rows
from nary.models.base import Model
from nary.progress import Progress, no_progress

ROLES = tuple(Role)
"""Roles by the number that stands for each in :attr:`Ranks.role`."""


@dataclass(frozen=True, eq=False)
class Ranks:
    """One entry a query in each array [q], ordered by fact and column.

    ``ties`` is the protocol's rule for candidates with the same score; ``left_out`` queries were not asked, as their
    answer is no candidate.
    """

    ties: Ties
    left_out: int
    row: Rows
    """The place of the fact in its table."""
    arity: Rows
    relation: Rows
    """The id of the fact's own relation, whatever was asked."""
    column: Rows
    """The masked column."""
    role: Rows
    """The number of the masked element's role in :data:`ROLES`."""
    answer: Rows
    """The id that was masked."""
    optimistic: Rows
    """The rank of the answer if it comes first among candidates with the same score."""
    pessimistic: Rows
    """The rank of the answer if it comes last among them."""
    filtered: Rows
    """How many other known answers were passed over."""

    def __len__(self) -> int:
        return len(self.row)

    def rank(self, ties: Ties | None = None) -> npt.NDArray[np.float64]:
        """The ranks [q] by a rule for ties, the protocol's own if none is given."""
        low, high = self.optimistic.astype(np.float64), self.pessimistic.astype(np.float64)
        return {"optimistic": low, "pessimistic": high, "mean": (low + high) / 2}[ties or self.ties]

    def write_jsonl(self, path: Path, table: FactTable, vocabulary: Vocabulary) -> None:
        """Write a line of JSON a query; ``table`` holds the facts that were ranked."""
        with atomic_path(path) as temporary, open_to_write(temporary) as file:
            for line in self._lines(table, vocabulary):
                file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def _lines(self, table: FactTable, vocabulary: Vocabulary) -> Iterator[dict[str, Any]]:
        columns = (self.arity, self.column, self.answer, self.rank(), self.optimistic, self.pessimistic, self.filtered)
        queries = zip(*(column.tolist() for column in columns), strict=True)
        counts = np.bincount(self.row, minlength=len(table)).tolist()
        for fact, own in zip(table.facts(vocabulary), counts, strict=True):
            text = str(fact)
            for _ in range(own):
                arity, column, answer, rank, optimistic, pessimistic, filtered = next(queries)
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
                }


def rank(
    model: Model,
    table: FactTable,
    known: KnownAnswers,
    protocol: Protocol,
    progress: Progress = no_progress,
    candidates: Candidates | None = None,
) -> Ranks:
    """Rank the answer of every query that the protocol asks about the facts of ``table``.

    ``candidates`` [E] tells the entities to rank subjects and objects against; without it they are all.
    """
    asked, left_out = ask(table, asked_roles(model, protocol), candidates)
    scorer = Scorer(model, protocol.memory)
    total, done = sum(len(queries) for queries in asked), 0
    parts = []
    with torch.inference_mode(), _evaluating(model):
        for queries in asked:
            limit = queries.limit(candidates)
            answers = queries.ids[:, queries.column].astype(np.int64)
            for scored in scorer.score(queries):
                others = known.of(scored.questions, queries.column)
                counts = count(scored, answers[scored.queries], others, limit)
                parts.append(_columns(queries, scored.queries, counts))
                done += len(scored.queries)
                progress(done, total)
    return _joined(parts, protocol.ties, left_out)


@contextmanager
def _evaluating(model: Model) -> Iterator[None]:
    """Switch what is for training only off, and back on afterwards if it was on."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)


def _columns(queries: Queries, chosen: Rows, counts: Counts) -> npt.NDArray[np.int64]:
    """The columns of :class:`Ranks` [9, q] for some of the queries."""
    ids = queries.ids[chosen]
    columns = (
        queries.rows[chosen],
        (ids.shape[1] + 1) // 2,
        ids[:, RELATION],
        queries.column,
        ROLES.index(queries.role),
        ids[:, queries.column],
        1 + counts.higher,
        1 + counts.higher + counts.ties,
        counts.filtered,
    )
    return np.stack(np.broadcast_arrays(*columns)).astype(np.int64)


def _joined(parts: list[npt.NDArray[np.int64]], ties: Ties, left_out: int) -> Ranks:
    columns = np.concatenate([np.empty((9, 0), np.int64), *parts], axis=1)
    order = np.lexsort((columns[3], columns[0]))  # by row, then column
    return Ranks(ties, left_out, *columns[:, order])
