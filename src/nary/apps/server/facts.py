"""Facts in requests and responses: read from JSON or text, and chosen as examples."""

import math
from collections.abc import Iterator
from typing import TypeVar

from nary.apps.server.schemas import MAX_QUALIFIERS, FactJsonRequest
from nary.data.dataset import Dataset
from nary.errors import FactError
from nary.facts import Fact, Position, Query, Role, parse, parse_fact, parse_query
from nary.facts.json import fact_from_json, query_from_json, statement_from_json
from nary.models.base import Model

_Statement = TypeVar("_Statement", Fact, Query, Fact | Query)
_MAX_GAPS, _MAX_COMPLETIONS = 8, 100  # the work for several gaps grows with both
_MAX_WORK = 20_000  # elements of all queries that one request makes of a fact: well under a second for a small model
_MAX_EXAMPLE_ARITY = 5  # facts of a higher arity are hard to read
_EXAMPLE_SPLITS = ("test", "valid", "train")  # first those the model was not trained on


def read_statement(fact: str | FactJsonRequest) -> Fact | Query:
    """Read a fact or query."""
    return bounded(parse(fact) if isinstance(fact, str) else statement_from_json(fact.model_dump()))


def read_query(fact: str | FactJsonRequest) -> Query:
    """Read a query, which has at least one gap."""
    return bounded(parse_query(fact) if isinstance(fact, str) else query_from_json(fact.model_dump()))


def read_fact(fact: str | FactJsonRequest) -> Fact:
    """Read a fact, which has no gap."""
    return bounded(parse_fact(fact) if isinstance(fact, str) else fact_from_json(fact.model_dump()))


def bounded(statement: _Statement) -> _Statement:
    """The same fact or query; an error if it has too many qualifiers."""
    if len(statement.qualifiers) > MAX_QUALIFIERS:
        raise FactError(
            f"a fact with {len(statement.qualifiers):,} qualifiers", f"This server accepts at most {MAX_QUALIFIERS}."
        )
    return statement


def check_completion_size(query: Query, k: int) -> None:
    """Refuse a search for completions that would keep other clients waiting."""
    if len(query.gaps) > _MAX_GAPS or k > _MAX_COMPLETIONS:
        raise FactError(
            f"{k} completions of a query with {len(query.gaps)} gaps",
            f"This server returns at most {_MAX_COMPLETIONS} and fills at most {_MAX_GAPS} gaps.",
        )
    if len(query.gaps) * k * _num_elements(query) > _MAX_WORK:
        raise FactError(
            f"{k} completions of a query with {len(query.gaps)} gaps and {len(query.qualifiers)} qualifiers",
            "This is too much for one request: ask for fewer completions, or give fewer qualifiers.",
        )


def check_explanation_size(fact: Fact) -> None:
    """Refuse an explanation that would keep other clients waiting: it scores the fact without each of its elements."""
    if 2 * _num_elements(fact) ** 2 > _MAX_WORK:
        raise FactError(
            f"an explanation of a fact with {len(fact.qualifiers)} qualifiers",
            f"This server explains facts with at most {(math.isqrt(_MAX_WORK // 2) - 3) // 2}.",
        )


def _num_elements(statement: Fact | Query) -> int:
    return 3 + 2 * len(statement.qualifiers)


def example_queries(dataset: Dataset, model: Model) -> list[Query]:
    """Queries for an object, a relation, a value and a subject, as far as the model predicts them.

    They come from facts of different arity, from a split that the model was not trained on if there is one.
    """
    facts = _one_of_each_arity(dataset)
    return [
        fact.query(position)
        for fact, position in _asked_positions(facts)
        if position.role in model.roles and position in fact.elements()
    ]


def _one_of_each_arity(dataset: Dataset) -> list[Fact]:
    """One fact of each readable arity, lowest first; if no arity is readable, one of each."""
    table = next(dataset.splits[split] for split in _EXAMPLE_SPLITS if len(dataset.splits.get(split, ())))
    by_arity: dict[int, Fact] = {}
    for fact in table.facts(dataset.vocabulary):
        by_arity.setdefault(fact.arity, fact)
    readable = {arity: fact for arity, fact in by_arity.items() if arity <= _MAX_EXAMPLE_ARITY} or by_arity
    return [readable[arity] for arity in sorted(readable)]


def _asked_positions(facts: list[Fact]) -> Iterator[tuple[Fact, Position]]:
    lowest, middle, highest = facts[0], facts[len(facts) // 2], facts[-1]
    yield lowest, Position(Role.OBJECT)
    yield middle, Position(Role.RELATION)
    yield highest, Position(Role.VALUE, 1)
    yield highest, Position(Role.SUBJECT)
