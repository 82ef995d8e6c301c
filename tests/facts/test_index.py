"""Facts that match a pattern, compared with looking at every fact."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from nary.facts import GAP, Fact, FactTable, Query, Vocabulary
from nary.facts.index import FactIndex, Pattern

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


def matches(fact: Fact, query: Query) -> bool:
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
