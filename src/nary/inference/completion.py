"""Filling several gaps: a beam search over what may stand in them, by joint probability."""

import math
from dataclasses import dataclass

import torch

from nary.errors import SettingError
from nary.facts import Fact, Query
from nary.inference.asking import Asker
from nary.inference.prediction import Known, check_count, check_known
from nary.inference.questions import Question
from nary.inference.results import Completion, Completions, FilledElement
from nary.models.base import Model

_WIDTH = 32
"""How many ways are followed at a time, at least."""


@dataclass(frozen=True)
class Way:
    """A query filled in part: its ids, the columns still open, and the logarithm of its probability so far."""

    ids: tuple[int, ...]
    open: frozenset[int]
    log_probability: float = 0.0

    def questions(self) -> list[Question]:
        """One for each open column; the others stay hidden."""
        return [Question(self.ids, column, self.open - {column}) for column in sorted(self.open)]

    def filled(self, column: int, answer: int, log_probability: float) -> "Way":
        """With an answer in one of the open columns."""
        ids = (*self.ids[:column], answer, *self.ids[column + 1 :])
        return Way(ids, self.open - {column}, self.log_probability + log_probability)


def complete(asker: Asker, query: Query, k: int, known: Known) -> Completions:
    """The ``k`` best ways to fill the gaps of a query that has the names of the vocabulary."""
    check_count(k)
    check_known(known)
    ways: dict[Fact, list[Way]] = {}
    for way in fill(asker, query, max(k, _WIDTH)):
        fact = asker.fact(way.ids)
        if len(set(fact.qualifiers)) == len(fact.qualifiers):  # nothing is said twice
            ways.setdefault(fact, []).append(way)
    answers = [_completion(asker, query, fact, own) for fact, own in ways.items()]
    answers = [answer for answer in answers if known == "mark" or answer.known == (known == "only")]
    answers.sort(key=lambda answer: -answer.score)
    positions = [str(gap) for gap in query.gaps]
    return Completions(str(query), positions, answers[:k], asker.notes(query.arity), asker.calibrated)


def fill(asker: Asker, query: Query, width: int) -> list[Way]:
    """The most probable ways to fill all gaps, best first, found by following ``width`` ways at a time.

    Each way fills the gap first whose best answer is the surest, and then asks again: what is filled in helps with
    the rest.
    """
    check_multiple_masks(asker.model)
    first = [asker.question(query, gap) for gap in query.gaps]
    ways = [Way(first[0].ids, frozenset(question.column for question in first))]
    while ways[0].open:
        questions = [(way, question) for way in ways for question in way.questions()]
        best: dict[int, tuple[list[float], list[int]]] = {}
        for places, _, log_probabilities in asker.ask([question for _, question in questions]):
            top = log_probabilities.topk(min(width, log_probabilities.shape[1]))
            best.update(zip(places, zip(top.values.tolist(), top.indices.tolist(), strict=True), strict=True))
        surest: dict[Way, int] = {}
        for place, (way, _) in enumerate(questions):
            if way not in surest or best[place][0][0] > best[surest[way]][0][0]:
                surest[way] = place
        longer = [
            way.filled(questions[place][1].column, answer, log_probability)
            for way, place in surest.items()
            for log_probability, answer in zip(*best[place], strict=True)
        ]
        ways = sorted(longer, key=lambda way: -way.log_probability)[:width]
    return ways


def check_multiple_masks(model: Model) -> None:
    """Refuse a model that cannot answer when more than one element is missing."""
    if not model.supports_multiple_masks:
        raise SettingError(
            f"{model.name} cannot answer when several elements are missing", "Leave one gap, or use gran."
        )


def _completion(asker: Asker, query: Query, fact: Fact, ways: list[Way]) -> Completion:
    """Ways to one fact differ in which of two equal gaps got which answer, so that their probabilities add up."""
    score = float(torch.tensor([way.log_probability for way in ways]).logsumexp(0))
    elements = []
    for gap in query.gaps:
        question = asker.question(query, gap)
        name = asker.candidates(question.kind)[ways[0].ids[question.column]]
        elements.append(FilledElement(str(gap), name, asker.vocabulary.label(name)))
    return Completion(str(fact), elements, math.exp(score), score, asker.is_known(fact))
