"""Literals: exact values, and names that tell them from entities."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.errors import FactError
from nary.facts import Fact, Vocabulary
from nary.facts.json import entity_json, entity_name, fact_from_json, load_object, to_json
from nary.facts.literal import TYPES, Literal, is_literal, number_text

EXAMPLES = {
    "number": ["66000", "-0.5", "0", "123456789012345678901234567890.25", "1e400"],
    "quantity": ["5"],
    "date": ["2025", "2025-03", "2025-03-01", "-0044-03-15", "-13798000000"],
    "time": ["14:30", "14:30:05.25", "23:59:59Z", "08:00+02:00"],
    "datetime": ["2025-03-01T14:30:00Z"],
    "point": ["48.85,2.35", "-33,151.2"],
    "text": ["Paris", "?", "a^^b", "x: y"],
}


@pytest.mark.parametrize(("type", "value"), [(type, value) for type in TYPES for value in EXAMPLES[type]])
def test_names_there_and_back(type: str, value: str) -> None:
    for unit in ("", "kg", "http://x/y:z"):
        literal = Literal.of(value, type, unit)
        assert (literal.value, literal.type, literal.unit) == (value, type, unit)
        assert Literal.from_name(literal.name) == literal
        assert entity_name(entity_json(literal.name)) == literal.name


@pytest.mark.parametrize("same", [66000, 66000.0, "66000.0", "6.6e4", "+66000", "066000", Decimal("66.000e3")])
def test_equal_numbers_have_equal_names(same: object) -> None:
    assert Literal.of(same).name == "66000^^number"


@given(st.decimals(allow_nan=False, allow_infinity=False) | st.integers())
def test_numbers_are_exact(number: Decimal | int) -> None:
    assert Decimal(number_text(number)) == number
    assert number_text(number_text(number)) == number_text(number)
    assert is_literal(f"{number_text(number)}^^number")


@pytest.mark.parametrize(
    "name",
    [
        "66000",
        "^^number",
        "007^^number",
        "-0^^number",
        "5^^number:",
        "5^^numbers",
        "2025-13^^date",
        "^^",
        "a^^b",
        "٣^^number",
    ],
)
def test_other_names_are_entities(name: str) -> None:
    assert Literal.from_name(name) is None
    assert entity_json(name) == name


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"value": "x"}, "'x' is not a number"),
        ({"value": True}, "a number, not True"),
        ({"value": "2025-02-32", "type": "date"}, "'2025-02-32' is not a date"),
        ({"value": "24:00", "type": "time"}, "is not a time"),
        ({"value": 5, "type": "date"}, "the value of a date is a text, not 5"),
        ({"value": "", "type": "text"}, "is a text, not ''"),
        ({"value": 5, "type": "weight"}, "'weight' is not a type of literals"),
        ({"value": 5, "unit": "a^^b"}, "contains"),
        ({"value": 5, "unit": 7}, "are texts"),
        ({"value": 5, "units": "kg"}, "unknown key 'units' of a literal"),
    ],
)
def test_what_is_no_literal(content: dict[str, object], message: str) -> None:
    with pytest.raises(FactError, match=message):
        Literal.from_json(content)


def test_in_json_numbers_are_numbers() -> None:
    pairs = '[["a", 66000], ["b", {"value": 5, "unit": "kg"}]]'
    text = f'{{"subject": "s", "relation": "r", "object": 0.1, "qualifiers": {pairs}}}'
    fact = fact_from_json(load_object(text))
    assert fact == Fact("s", "r", "0.1^^number", [("a", "66000^^number"), ("b", "5^^quantity:kg")])
    assert to_json(fact)["object"] == 0.1
    assert to_json(fact)["qualifiers"] == [["a", 66000], ["b", {"value": "5", "type": "quantity", "unit": "kg"}]]
    with pytest.raises(FactError, match="a label is a string, not int 7"):
        fact_from_json({"subject": 7, "relation": "r", "object": "o"})
    with pytest.raises(FactError, match="a label is a string, not bool True"):
        fact_from_json({"subject": "s", "relation": "r", "object": True})


def test_labels_of_literals() -> None:
    vocabulary = Vocabulary(("5^^quantity:Q11570", "2025^^date", "Paris^^text:fr"), (), {"Q11570": "kilogram"})
    assert [vocabulary.label(name) for name in vocabulary.entities] == ["5 kilogram", "2025", "Paris"]
