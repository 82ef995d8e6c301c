"""Filling several gaps at once: what stored facts have in them, and the best completions of the model.

Completions are found by beam search. Each partial completion first fills the gap whose best answer is the most
probable and then scores the rest again, because what is filled in helps with the other gaps. Stored completions are
followed to the end, however improbable the model finds them.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch

from nary.errors import SettingError
from nary.evaluation.queries import EncodedQuery
from nary.facts import Fact, Query
from nary.facts.containment import Pair, Pattern
from nary.facts.layout import OBJECT, RELATION, SUBJECT
from nary.facts.table import decode_fact
from nary.inference.best import Wanted
from nary.inference.context import Context
from nary.inference.prediction import Known, check_count, check_known
from nary.inference.results import Completion, Completions, FilledElement
from nary.models.base import Model
from nary.wording import counted

_BEAM_WIDTH = 32
"""The smallest number of partial completions followed at a time."""
_Row = tuple[int, ...]


def complete(context: Context, query: Query, k: int, known: Known) -> Completions:
    """The ``k`` best ways to fill all gaps of a query that uses the names of the vocabulary."""
    check_count(k)
    check_known(known)
    check_multiple_masks(context.model)
    encoded = [context.encode(query, gap) for gap in query.gaps]
    columns, width = frozenset(one.column for one in encoded), max(k, _BEAM_WIDTH)
    pattern = Pattern.of_row(encoded[0].ids, columns)
    stored = [] if known == "hide" else list(islice(_stored_rows(context, pattern), width))
    partials: dict[Fact, list[_Partial]] = {}
    for partial in _beam_search(context, _Partial(encoded[0].ids, columns, tuple(stored)), width):
        fact = decode_fact(partial.ids, context.vocabulary)
        if len(set(fact.qualifiers)) == len(fact.qualifiers):  # no qualifier occurs twice
            partials.setdefault(fact, []).append(partial)
    answers = [_completion(context, query, fact, same_fact) for fact, same_fact in partials.items()]
    if known in ("hide", "only"):
        answers = [answer for answer in answers if answer.known == (known == "only")]
    answers.sort(key=lambda answer: (known == "first" and not answer.known, -answer.score))
    matches, notes = context.lookup.index.count(pattern), context.notes(query)
    if len(stored) == width < matches:
        facts = counted(matches, "stored fact matches", "stored facts match")
        notes.append(f"{facts}, and {width} were ranked; nary facts lists all")
    positions = [str(gap) for gap in query.gaps]
    return Completions(str(query), positions, answers[:k], matches, notes, context.calibrated)


def check_multiple_masks(model: Model) -> None:
    """Refuse a model that cannot answer when more than one element is missing."""
    if not model.supports_multiple_masks:
        raise SettingError(
            f"{model.name} cannot answer when several elements are missing", "Leave one gap, or use gran."
        )


def _stored_rows(context: Context, pattern: Pattern) -> Iterator[_Row]:
    """The ways in which stored facts fill all gaps, as rows like that of the query; those that add least come first."""
    seen = set()
    for block, rows in context.lookup.index.match(pattern):
        for place in rows.tolist():
            ids = block.ids[place].tolist()
            pairs = list(zip(block.attributes[place].tolist(), block.values[place].tolist(), strict=True))
            for chosen in _assignments(pattern.qualifiers, pairs):
                row = (ids[RELATION], ids[SUBJECT], ids[OBJECT], *(a for a, _ in chosen), *(v for _, v in chosen))
                if row not in seen:
                    seen.add(row)
                    yield row


def _assignments(pattern: Sequence[Pair], pairs: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """The ways to give each pair of the pattern a qualifier of its own."""
    if not pattern:
        yield []
        return
    (attribute, value), *others = pattern
    for place, (a, v) in enumerate(pairs):
        if attribute in (None, a) and value in (None, v):
            for rest in _assignments(others, pairs[:place] + pairs[place + 1 :]):
                yield [(a, v), *rest]


@dataclass(frozen=True)
class _Partial:
    """A partly filled query: its ids, the columns still open, and the log probability of what was filled in."""

    ids: _Row
    open: frozenset[int]
    stored: tuple[_Row, ...]
    """The stored completions that agree with what was filled in."""
    log_probability: float = 0.0

    def queries(self) -> list[EncodedQuery]:
        """A query for each open column; the other open columns are hidden."""
        return [EncodedQuery(self.ids, column, self.open - {column}, partial=True) for column in sorted(self.open)]

    def fill(self, query: EncodedQuery, answer: int, log_probability: float) -> "_Partial":
        """Put an answer into one of the open columns."""
        stored = tuple(row for row in self.stored if row[query.column] == answer)
        return _Partial(query.fill(answer), self.open - {query.column}, stored, self.log_probability + log_probability)


def _beam_search(context: Context, start: _Partial, width: int) -> list[_Partial]:
    """The ``width`` most probable ways to fill all gaps, and the stored ones."""
    beam = [start]
    while beam[0].open:
        extended = [partial for group in _extensions(context, beam, width) for partial in group]
        extended.sort(key=lambda partial: -partial.log_probability)
        beam = extended[:width] + [partial for partial in extended[width:] if partial.stored]
    return beam


def _extensions(context: Context, beam: Sequence[_Partial], width: int) -> Iterator[list[_Partial]]:
    """For each partial completion those with its surest gap filled: by the best answers, and by the stored ones."""
    pairs = [(i, query) for i, partial in enumerate(beam) for query in partial.queries()]
    stored = [np.unique([row[query.column] for row in beam[i].stored]).astype(np.int64) for i, query in pairs]
    best = context.best([query for _, query in pairs], [Wanted(width, scored=ids) for ids in stored])
    surest: dict[int, tuple[float, list[_Partial]]] = {}
    for (i, query), ids, one in zip(pairs, stored, best, strict=True):
        highest = float(one.scores[0]) / one.temperature - one.log_total
        if i not in surest or highest > surest[i][0]:
            scores = torch.cat([one.scores, one.scores_of(ids)])
            filled = dict(zip([*one.ids.tolist(), *ids.tolist()], one.log_probabilities(scores).tolist(), strict=True))
            surest[i] = highest, [beam[i].fill(query, answer, value) for answer, value in filled.items()]
    return (extensions for _, extensions in surest.values())


def _completion(context: Context, query: Query, fact: Fact, partials: list[_Partial]) -> Completion:
    """Paths to the same fact differ in which of two equal gaps got which answer, so their probabilities add up."""
    score = float(torch.tensor([partial.log_probability for partial in partials]).logsumexp(0))
    elements = []
    for gap in query.gaps:
        encoded = context.encode(query, gap)
        name = context.candidates(encoded.kind)[partials[0].ids[encoded.column]]
        elements.append(FilledElement(str(gap), name, context.vocabulary.label(name)))
    stored, matches = context.lookup.containing(fact)
    return Completion(str(fact), elements, math.exp(score), score, stored is not None, stored, matches)
