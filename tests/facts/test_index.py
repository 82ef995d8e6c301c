"""Facts that match a pattern, compared with looking at every fact."""

import time
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.facts import GAP, Fact, FactTable, Query, Vocabulary
from nary.facts.containment import Pattern
from nary.facts.index import FactIndex
from nary.facts.layout import OBJECT, column_of
from nary.facts.table import decode_fact

NAMES, RELATIONS = ("a", "b", "c"), ("p", "q")
facts = st.builds(
    Fact,
    st.sampled_from(NAMES),
    st.sampled_from(RELATIONS),
    st.sampled_from(NAMES),
    st.lists(st.tuples(st.sampled_from(RELATIONS), st.sampled_from(NAMES)), max_size=3),
)
queries = st.builds(
    Query,
    st.sampled_from([*NAMES, GAP]),
    st.sampled_from([*RELATIONS, GAP]),
    st.just(GAP),
    st.lists(st.tuples(st.sampled_from([*RELATIONS, GAP]), st.sampled_from([*NAMES, GAP])), max_size=2),
)
VOCABULARY = Vocabulary.of(NAMES, RELATIONS)


def matches(fact: Fact, query: Fact | Query) -> bool:
    """By trying every assignment of qualifiers."""
    pairs = [(fact.subject, query.subject), (fact.relation, query.relation), (fact.object, query.object)]
    if not all(wanted in (GAP, element) for element, wanted in pairs):
        return False
    return any(
        all(a in (GAP, x) and v in (GAP, y) for (a, v), (x, y) in zip(query.qualifiers, chosen, strict=True))
        for chosen in permutations(fact.qualifiers, len(query.qualifiers))
    )


def found(stored: list[Fact], query: Query) -> list[Fact]:
    table = FactTable.from_facts(stored, VOCABULARY)
    everything = list(table.facts(VOCABULARY))
    index = FactIndex(table)
    places = sorted(
        place for block, rows in index.match(Pattern.encode(query, VOCABULARY)) for place in block.rows[rows].tolist()
    )
    return [everything[place] for place in places]


@given(st.lists(facts, min_size=1, max_size=12), queries)
def test_what_matches_is_what_contains_the_pattern(stored: list[Fact], query: Query) -> None:
    assert found(stored, query) == [fact for fact in stored if matches(fact, query)]


@given(st.lists(facts, min_size=1, max_size=12), queries)
def test_the_less_is_given_the_more_matches(stored: list[Fact], query: Query) -> None:
    fewer = Query(query.subject, query.relation, query.object, query.qualifiers[1:])
    wider = Query(GAP, query.relation, query.object, query.qualifiers)
    more = found(stored, query)
    assert all(fact in found(stored, fewer) for fact in more)
    assert all(fact in found(stored, wider) for fact in more)


def test_a_fact_with_further_qualifiers_matches() -> None:
    prize = Fact("a", "p", "b", [("q", "c"), ("p", "a")])
    assert found([prize], Query("a", "p", GAP, [("q", "c")])) == [prize]
    assert found([prize], Query("a", "p", GAP, [("q", "a")])) == []
    assert found([prize], Query("a", "p", GAP, [("q", GAP), ("q", "c")])) == []  # one qualifier cannot be two


@given(st.lists(facts, min_size=1, max_size=12))
def test_every_entity_has_the_facts_that_mention_it_once(stored: list[Fact]) -> None:
    index = FactIndex(FactTable.from_facts(stored, VOCABULARY))
    for number, name in enumerate(VOCABULARY.entities):
        mentioning = [
            i
            for i, fact in enumerate(stored)
            if name in (fact.subject, fact.object, *(value for _, value in fact.qualifiers))
        ]
        assert index.mentions(number).tolist() == mentioning


one_gap = st.tuples(facts, st.randoms()).map(lambda given: given[0].query(given[1].choice(list(given[0].elements()))))


@given(st.lists(facts, min_size=1, max_size=12), one_gap)
def test_what_fills_a_gap_is_what_makes_the_query_part_of_a_fact(stored: list[Fact], query: Query) -> None:
    (gap,) = query.gaps
    table = FactTable.from_facts(stored, VOCABULARY)
    pattern, column = Pattern.encode(query, VOCABULARY), column_of(gap, len(query.qualifiers))
    fillings = FactIndex(table).fillings(pattern, column)
    names = VOCABULARY.entities if gap.role.is_entity else VOCABULARY.relations
    filled = [Fact.from_elements({**query.elements(), gap: name}) for name in names]
    expected = {
        (i, place, fact.arity - query.arity)
        for i, whole in enumerate(filled)
        for place, fact in enumerate(stored)
        if matches(fact, whole)
    }
    assert set(zip(*(part.tolist() for part in fillings), strict=True)) == expected


def test_the_row_at_a_place() -> None:
    stored = [Fact("a", "p", "b", [("q", "c")]), Fact("b", "q", "c"), Fact("c", "q", "a", [("p", "a")])]
    index = FactIndex(FactTable.from_facts(stored, VOCABULARY))
    assert [decode_fact(index.row(place), VOCABULARY) for place in range(3)] == stored
    with pytest.raises(IndexError):
        index.row(3)


def test_a_million_facts_answer_in_milliseconds() -> None:
    random = np.random.default_rng(0)
    size, entities, relations = 1_000_000, 100_000, 500
    heads = np.stack([random.integers(n, size=size) for n in (relations, entities, entities)], axis=1, dtype=np.int32)
    counts = random.integers(4, size=size)
    pairs = np.stack([random.integers(n, size=counts.sum()) for n in (relations, entities)], axis=1, dtype=np.int32)
    table = FactTable.from_columns(heads, counts, pairs)
    index = FactIndex(table)
    block = table.blocks[2]
    rows = [Pattern.of_row(block.ids[row].tolist(), {OBJECT}) for row in range(200)]
    index.count(rows[0])  # sorts
    start = time.perf_counter()
    matched = [index.fillings(pattern, OBJECT) for pattern in rows]
    seconds = (time.perf_counter() - start) / len(rows)
    assert all(block.ids[row, OBJECT] in fillings.answers for row, fillings in enumerate(matched))
    assert seconds < 0.01  # a tenth of a millisecond on an idle machine
