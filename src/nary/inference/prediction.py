"""Filling gaps: the best answers to queries with one gap, and the best completions of queries with several.

Several gaps are filled by beam search. Each partial completion first fills the gap whose best answer is the most
probable and then scores the rest again, because what is filled in helps with the other gaps.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from nary.errors import FactError, SettingError
from nary.evaluation.queries import EncodedQuery
from nary.facts import Fact, Query
from nary.facts.table import decode_fact
from nary.inference.context import Context
from nary.inference.results import Answer, Completion, Completions, FilledElement, Prediction
from nary.models.base import Model

Known = Literal["mark", "hide", "only"]
"""What to do with answers that complete the query to a known fact: mark them, hide them, or show only them."""

_BEAM_WIDTH = 32
"""The smallest number of partial completions followed at a time."""


def predict(context: Context, queries: Sequence[Query], k: int, known: Known) -> list[Prediction]:
    """The ``k`` best answers to each query; all have one gap and use the names of the vocabulary."""
    check_count(k)
    check_known(known)
    encoded = [_encode(context, query) for query in queries]
    answers: dict[int, list[Answer]] = {}
    for part in context.score(encoded):
        for place, row in zip(part.places, part.rows, strict=True):
            known_ids = context.known_answers(encoded[place])
            names = context.candidates(encoded[place].kind)
            is_known = set(known_ids)
            answers[place] = [
                Answer(names[i], context.vocabulary.label(names[i]), probability, score, i in is_known)
                for i, probability, score in _best(part.scores[row], part.log_probabilities[row], known_ids, k, known)
            ]
    return [
        Prediction(str(query), str(one.position), answers[place], context.notes(query.arity), context.calibrated)
        for place, (query, one) in enumerate(zip(queries, encoded, strict=True))
    ]


def complete(context: Context, query: Query, k: int, known: Known) -> Completions:
    """The ``k`` best ways to fill all gaps of a query that uses the names of the vocabulary."""
    check_count(k)
    check_known(known)
    partials: dict[Fact, list[_Partial]] = {}
    for partial in _beam_search(context, query, max(k, _BEAM_WIDTH)):
        fact = decode_fact(partial.ids, context.vocabulary)
        if len(set(fact.qualifiers)) == len(fact.qualifiers):  # no qualifier occurs twice
            partials.setdefault(fact, []).append(partial)
    answers = [_completion(context, query, fact, same_fact) for fact, same_fact in partials.items()]
    answers = [answer for answer in answers if known == "mark" or answer.known == (known == "only")]
    answers.sort(key=lambda answer: -answer.score)
    positions = [str(gap) for gap in query.gaps]
    return Completions(str(query), positions, answers[:k], context.notes(query.arity), context.calibrated)


def check_count(k: int) -> None:
    """Refuse to give fewer than one answer."""
    if k < 1:
        raise SettingError(f"{k} answers were asked for", "Ask for one or more.")


def check_known(known: str) -> None:
    """Refuse anything but a value of :data:`Known`."""
    if known not in get_args(Known):
        raise SettingError(f"known answers cannot be treated by {known!r}", f"Expected {' or '.join(get_args(Known))}.")


def check_multiple_masks(model: Model) -> None:
    """Refuse a model that cannot answer when more than one element is missing."""
    if not model.supports_multiple_masks:
        raise SettingError(
            f"{model.name} cannot answer when several elements are missing", "Leave one gap, or use gran."
        )


def _encode(context: Context, query: Query) -> EncodedQuery:
    gap, *others = query.gaps
    if others:
        raise FactError(f"{query} has {1 + len(others)} gaps", "Leave one gap, or use complete to fill several.")
    return context.encode(query, gap)


def _best(
    scores: Tensor, log_probabilities: Tensor, known_ids: list[int], k: int, known: Known
) -> list[tuple[int, float, float]]:
    """The id, probability and score of the best candidates, best first."""
    if known == "only":
        allowed = torch.tensor(known_ids, dtype=torch.int64)
        chosen = allowed[scores[allowed].topk(min(k, len(known_ids))).indices]
    else:
        hidden = torch.tensor(known_ids if known == "hide" else [], dtype=torch.int64)
        remaining = scores.index_fill(0, hidden, -torch.inf)
        chosen = remaining.topk(min(k, len(scores) - len(hidden))).indices
    return list(zip(chosen.tolist(), log_probabilities[chosen].exp().tolist(), scores[chosen].tolist(), strict=True))


@dataclass(frozen=True)
class _Partial:
    """A partly filled query: its ids, the columns still open, and the log probability of what was filled in."""

    ids: tuple[int, ...]
    open: frozenset[int]
    log_probability: float = 0.0

    def queries(self) -> list[EncodedQuery]:
        """A query for each open column; the other open columns are hidden."""
        return [EncodedQuery(self.ids, column, self.open - {column}) for column in sorted(self.open)]

    def fill(self, query: EncodedQuery, answer: int, log_probability: float) -> "_Partial":
        """Put an answer into one of the open columns."""
        return _Partial(query.fill(answer), self.open - {query.column}, self.log_probability + log_probability)


def _beam_search(context: Context, query: Query, width: int) -> list[_Partial]:
    """The most probable ways to fill all gaps, best first, following ``width`` at a time."""
    check_multiple_masks(context.model)
    first = [context.encode(query, gap) for gap in query.gaps]
    beam = [_Partial(first[0].ids, frozenset(encoded.column for encoded in first))]
    while beam[0].open:
        pairs = [(partial, encoded) for partial in beam for encoded in partial.queries()]
        best = top_candidates(context, [encoded for _, encoded in pairs], width)
        surest: dict[_Partial, int] = {}
        for place, (partial, _) in enumerate(pairs):
            if partial not in surest or best[place][0][0] > best[surest[partial]][0][0]:
                surest[partial] = place
        extended = [
            partial.fill(pairs[place][1], answer, log_probability)
            for partial, place in surest.items()
            for log_probability, answer in zip(*best[place], strict=True)
        ]
        beam = sorted(extended, key=lambda partial: -partial.log_probability)[:width]
    return beam


def top_candidates(
    context: Context, queries: Sequence[EncodedQuery], k: int
) -> dict[int, tuple[list[float], list[int]]]:
    """The log probabilities and ids of the ``k`` best candidates for each query, by its index."""
    best = {}
    for part in context.score(queries):
        top = part.log_probabilities.topk(min(k, part.log_probabilities.shape[1]))
        values, ids = top.values.tolist(), top.indices.tolist()
        best.update({place: (values[row], ids[row]) for place, row in zip(part.places, part.rows, strict=True)})
    return best


def _completion(context: Context, query: Query, fact: Fact, partials: list[_Partial]) -> Completion:
    """Paths to the same fact differ in which of two equal gaps got which answer, so their probabilities add up."""
    score = float(torch.tensor([partial.log_probability for partial in partials]).logsumexp(0))
    elements = []
    for gap in query.gaps:
        encoded = context.encode(query, gap)
        name = context.candidates(encoded.kind)[partials[0].ids[encoded.column]]
        elements.append(FilledElement(str(gap), name, context.vocabulary.label(name)))
    return Completion(str(fact), elements, math.exp(score), score, context.is_known(fact))
