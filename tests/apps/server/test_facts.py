"""Facts from JSON and text, and the index of facts by entity."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs.small import dataset_of

from nary.apps.server.facts import FactIndex, read_fact, read_query, read_statement
from nary.apps.server.schemas import FactJson, FactJsonRequest
from nary.errors import FactError
from nary.facts import GAP, Element, Fact, Query

NAMES = st.sampled_from("abcdef")
FACTS = st.lists(
    st.builds(Fact, NAMES, NAMES, NAMES, st.lists(st.tuples(NAMES, NAMES), max_size=3)), min_size=1, max_size=12
)


@given(FACTS, FACTS)
@settings(max_examples=50)
def test_every_entity_has_the_facts_that_mention_it_once(train: list[Fact], test: list[Fact]) -> None:
    dataset = dataset_of(train=train, test=test)
    index = FactIndex(dataset)
    everything = [(fact, "train") for fact in train] + [(fact, "test") for fact in test]
    for number, name in enumerate(dataset.vocabulary.entities):
        expected = [
            (fact, split)
            for fact, split in everything
            if name in (fact.subject, fact.object, *(value for _, value in fact.qualifiers))
        ]
        assert [index.fact(int(place)) for place in index.mentions(number)] == expected


def request(object: Any, *qualifiers: tuple[str, str]) -> FactJsonRequest:
    return FactJsonRequest(subject="s", relation="r", object=object, qualifiers=list(qualifiers))


ELEMENTS = st.one_of(
    st.just(GAP), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
)


@given(ELEMENTS, st.lists(st.tuples(ELEMENTS, ELEMENTS), max_size=3))
def test_json_and_text_give_the_same_fact_or_query(object: Element, qualifiers: list[tuple[Element, Element]]) -> None:
    elements = [object, *(element for pair in qualifiers for element in pair)]
    has_gap = GAP in elements
    statement = (Query if has_gap else Fact)("s", "r", object, qualifiers)  # type: ignore[arg-type]
    assert read_statement(str(statement)) == statement
    if "?" not in elements:  # which JSON cannot tell from a gap
        sent = FactJsonRequest(**FactJson.of(statement).model_dump())
        assert read_statement(sent) == (read_query if has_gap else read_fact)(sent) == statement


def test_a_query_needs_a_gap_and_a_fact_has_none() -> None:
    assert read_query(request("?")) == Query("s", "r", GAP)
    assert read_fact(request("o", ("a", "v"))) == Fact("s", "r", "o", [("a", "v")])
    with pytest.raises(FactError, match="has no gap"):
        read_query(request("o"))
    with pytest.raises(FactError, match="has a gap"):
        read_fact(request("o", ("a", "?")))


@pytest.mark.parametrize("read", [read_fact, read_statement])
def test_the_number_of_qualifiers_is_bounded(read: Any) -> None:
    read(request("o", *[("a", "v")] * 100))
    with pytest.raises(FactError, match="101 qualifiers"):
        read(request("o", *[("a", "v")] * 101))
