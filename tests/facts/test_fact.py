"""Facts and queries: qualifiers are a multiset, gaps come last, and what is no label is refused."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.errors import FactError
from nary.facts import GAP, Fact, Position, Query, Role

labels = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)
few = st.sampled_from(["a", "b", "c"])  # so that attributes and values repeat
pairs = st.lists(st.tuples(few | labels, few | labels), max_size=5)
facts = st.builds(Fact, labels, labels, labels, pairs)

CURIE = Fact("Curie", "award", "Physics", [("year", "1903"), ("with", "Pierre"), ("with", "Becquerel")])


def test_the_elements_of_a_fact() -> None:
    assert CURIE.primary == ("Curie", "award", "Physics")
    assert CURIE.qualifiers == (("with", "Becquerel"), ("with", "Pierre"), ("year", "1903"))
    assert CURIE.arity == 5
    assert [str(position) for position in CURIE.elements()] == [
        *("relation", "subject", "object"),
        *("attribute 1", "attribute 2", "attribute 3"),
        *("value 1", "value 2", "value 3"),
    ]
    assert CURIE.elements()[Position(Role.VALUE, 2)] == "Pierre"
    assert repr(CURIE) == "Fact(Curie | award | Physics | with: Becquerel | with: Pierre | year: 1903)"


def test_qualifiers_are_sorted_by_code_point() -> None:
    fact = Fact("s", "r", "o", [("é", "1"), ("z", "1"), ("Z", "1"), ("𝄞", "1"), ("\uffee", "1")])
    assert [attribute for attribute, _ in fact.qualifiers] == ["Z", "z", "é", "\uffee", "𝄞"]


def test_a_repeated_qualifier_counts() -> None:
    once, twice = Fact("s", "r", "o", [("a", "v")]), Fact("s", "r", "o", [("a", "v"), ("a", "v")])
    assert once != twice
    assert (once.arity, twice.arity) == (3, 4)


def test_a_fact_is_not_the_query_or_the_tuple_of_its_elements() -> None:
    others: list[object] = [("s", "r", "o", ()), Query("s", "r", GAP), Fact("s", "r", "?")]
    assert Fact("s", "r", "o") not in others
    assert others[1] != others[2]


def test_facts_cannot_be_changed_but_copied() -> None:
    with pytest.raises(AttributeError):
        CURIE.subject = "Pierre"
    assert copy.deepcopy(CURIE) == CURIE == pickle.loads(pickle.dumps(CURIE))


def test_gaps_stand_after_names() -> None:
    query = Query("s", "r", "o", [(GAP, "v"), ("a", GAP), ("a", "z")])
    assert query.qualifiers == (("a", "z"), ("a", GAP), (GAP, "v"))
    assert [str(position) for position in query.gaps] == ["attribute 3", "value 2"]


def test_filling_gaps_one_after_the_other() -> None:
    query = Query(GAP, "r", GAP, [("a", GAP)])
    half = query.fill("s")
    assert half == Query("s", "r", GAP, [("a", GAP)])
    assert isinstance(half, Query)
    almost = half.fill("o")
    assert isinstance(almost, Query)
    assert almost.fill("v") == Fact("s", "r", "o", [("a", "v")])


@given(facts)
def test_canonical_form_is_idempotent(fact: Fact) -> None:
    again = Fact(*fact.primary, fact.qualifiers)
    assert again == fact
    assert again.qualifiers == fact.qualifiers
    assert Fact.from_elements(fact.elements()) == fact


@given(facts, st.randoms())
def test_the_order_of_qualifiers_means_nothing(fact: Fact, random: object) -> None:
    mixed = list(fact.qualifiers)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    other = Fact(*fact.primary, mixed)
    assert other == fact
    assert hash(other) == hash(fact)
    assert str(other) == str(fact)


@given(facts)
def test_asking_for_an_element_and_answering_gives_the_fact(fact: Fact) -> None:
    for position, element in fact.elements().items():
        query = fact.query(position)
        assert [gap.role for gap in query.gaps] == [position.role]
        assert query.fill(str(element)) == fact


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("", "empty"),
        ("a\0b", "NUL"),
        (7, "not int 7"),
        (None, "not NoneType"),
        (b"a", "not bytes"),
        ("\ud800", "half a surrogate pair"),
        ("ok\udfff", "half a surrogate pair"),
    ],
)
def test_what_is_no_label(label: object, words: str) -> None:
    for elements in ((label, "r", "o"), ("s", label, "o"), ("s", "r", label)):
        with pytest.raises(FactError, match=words):
            Fact(*elements)
    for pair in ((label, "v"), ("a", label)):
        with pytest.raises(FactError, match=words):
            Fact("s", "r", "o", [pair])  # type: ignore[list-item]


@pytest.mark.parametrize("pair", ["ab", ("a",), ("a", "b", "c"), 7, None])
def test_what_is_no_qualifier(pair: object) -> None:
    with pytest.raises(FactError, match="pair"):
        Fact("s", "r", "o", [pair])  # type: ignore[list-item]


def test_gaps_belong_in_queries_only() -> None:
    with pytest.raises(FactError, match="no gaps"):
        Fact("s", "r", "o", [("a", GAP)])  # type: ignore[list-item]
    with pytest.raises(FactError, match=r"no gap in s \| r \| o"):
        Query("s", "r", "o")
    with pytest.raises(FactError, match="arity 5 has no value 4"):
        CURIE.query(Position(Role.VALUE, 4))


@pytest.mark.parametrize("text", ["relation", "subject", "object", "attribute 1", "value 1", "value 27"])
def test_positions_are_read_as_they_are_written(text: str) -> None:
    assert str(Position.parse(text)) == text


def test_roles_say_what_is_an_entity() -> None:
    assert [role.value for role in Role if role.is_entity] == ["subject", "object", "value"]


@pytest.mark.parametrize(
    "text",
    [
        *("", "head", "Subject", "subject 1", "subject x", "subject ", "value", "value 0", "value -1", "value 01"),
        *("value x", "value  1", "value 1 ", "value " + "9" * 5000),
    ],
)
def test_what_is_no_position(text: str) -> None:
    with pytest.raises(FactError, match="is not a position"):
        Position.parse(text)
