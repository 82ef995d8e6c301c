"""Facts from JSON and text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.apps.server.facts import read_fact, read_query, read_statement
from nary.apps.server.schemas import FactJson, FactJsonRequest
from nary.errors import FactError
from nary.facts import GAP, Element, Fact, Query


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


def test_literals_are_written_as_in_files() -> None:
    date = {"value": "2025-03-01", "type": "date"}
    sent = FactJsonRequest.model_validate_json(
        json.dumps({"subject": "s", "relation": "r", "object": 0.1, "qualifiers": [["a", 66000], ["on", date]]})
    )
    assert read_fact(sent) == Fact("s", "r", "0.1^^number", [("a", "66000^^number"), ("on", "2025-03-01^^date")])


@pytest.mark.parametrize("object", [True, None, [1], {"value": "x"}, {"value": [1]}, {"values": 5}, 1e999])
def test_values_that_are_none(object: Any) -> None:
    with pytest.raises(FactError):
        read_fact(request(object))


@pytest.mark.parametrize("read", [read_fact, read_statement])
def test_the_number_of_qualifiers_is_bounded(read: Any) -> None:
    read(request("o", *[("a", "v")] * 64))
    with pytest.raises(FactError, match="65 qualifiers"):
        read(request("o", *[("a", "v")] * 65))
