"""Many lines at once, facts to score and questions to answer: a result for each, or what is wrong with it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from nary.errors import NaryError
from nary.facts import Fact, Query
from nary.inference.prediction import Known
from nary.inference.predictor import Predictor
from nary.inference.results import Completions, Plausibility, Prediction

_Statement = TypeVar("_Statement", Fact, Query)
_MAX_ELEMENTS = 256  # elements scored at a time
LineResult = Plausibility | Prediction | Completions | NaryError
"""The result of a line: a fact is scored, a question answered; or the error."""
Part = Callable[[], Sequence[tuple[int, LineResult]]]
"""A part of the work. It returns the place of some lines and their results."""


@dataclass(frozen=True)
class LineOptions:
    """How many answers a question gets, and where known ones go."""

    k: int = 10
    known: Known = "first"


def answer_in_parts(
    predictor: Predictor, statements: Sequence[Fact | Query | NaryError], options: LineOptions
) -> Iterator[Part]:
    """Score facts and answer queries, all in the names of the vocabulary, in parts of bounded size."""
    facts = [(place, one) for place, one in enumerate(statements) if isinstance(one, Fact)]
    queries = [(place, one) for place, one in enumerate(statements) if isinstance(one, Query)]
    for places, part in _numbered_parts(facts):
        yield partial(_score, predictor, places, part)
    for places, asked in _numbered_parts([(place, one) for place, one in queries if len(one.gaps) == 1]):
        yield partial(_predict, predictor, places, asked, options)
    for place, query in queries:
        if len(query.gaps) > 1:
            yield partial(_complete, predictor, place, query, options)


def in_parts(statements: Sequence[_Statement]) -> Iterator[Sequence[_Statement]]:
    """Divide facts or queries into parts of a bounded number of elements, at least one of them each."""
    part: list[_Statement] = []
    size = 0
    for statement in statements:
        elements = len(statement.elements())
        if part and size + elements > _MAX_ELEMENTS:
            yield part
            part, size = [], 0
        part.append(statement)
        size += elements
    if part:
        yield part


def _numbered_parts(
    numbered: Sequence[tuple[int, _Statement]],
) -> Iterator[tuple[Sequence[int], Sequence[_Statement]]]:
    """The parts of :func:`in_parts`, each with the places of its lines."""
    first = 0
    for part in in_parts([statement for _, statement in numbered]):
        yield [place for place, _ in numbered[first : first + len(part)]], part
        first += len(part)


def _score(predictor: Predictor, places: Sequence[int], facts: Sequence[Fact]) -> list[tuple[int, LineResult]]:
    try:
        return list(zip(places, predictor.score(facts), strict=True))
    except NaryError as error:  # one of the facts is at fault, such as one with qualifiers for a model of triples
        if len(facts) == 1:
            return [(places[0], error)]
        alone = (_score(predictor, [place], [fact]) for place, fact in zip(places, facts, strict=True))
        return [result for results in alone for result in results]


def _predict(
    predictor: Predictor, places: Sequence[int], queries: Sequence[Query], options: LineOptions
) -> list[tuple[int, LineResult]]:
    return list(zip(places, predictor.predict_many(queries, options.k, options.known), strict=True))


def _complete(predictor: Predictor, place: int, query: Query, options: LineOptions) -> list[tuple[int, LineResult]]:
    return [(place, predictor.complete(query, options.k, options.known))]
