"""Literals as numbers on a scale."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.facts import Vocabulary
from nary.facts.literal import Literal
from nary.facts.scales import Scales, on_scale


@pytest.mark.parametrize(
    ("name", "scale", "value"),
    [
        ("66000^^number", "number", 66000),
        ("-0.5^^number", "number", -0.5),
        ("1e400^^number", "number", 1e300),
        ("5^^quantity:kg", "quantity:kg", 5),
        ("1903^^date", "date", 1903),
        ("1903^^date:julian", "date", 1903),
        ("-0044^^date", "date", -44),
        ("08:30^^time", "time", 8.5),
        ("08:30:36Z^^time", "time", 8.51),
        ("+1903-00-00T00:00:00Z#0#0#0#9#http://www.wikidata.org/entity/Q1985727", "date", 1903),
    ],
)
def test_values(name: str, scale: str, value: float) -> None:
    assert on_scale(name) == (scale, pytest.approx(value))


@pytest.mark.parametrize("name", ["66000", "48.85,2.35^^point", "Paris^^text:fr", "+1", "a^^b", "1^^http://x/y", ""])
def test_without_a_scale(name: str) -> None:
    assert on_scale(name) is None


def test_days_are_parts_of_a_year() -> None:
    days = ["2010-12-31", "2011", "2011-01-02", "2011-07", "2011-07-02T12:00:00Z", "2011-12-31", "2012-01-01"]
    types = ["datetime" if "T" in day else "date" for day in days]
    places = [on_scale(Literal.of(day, type).name) for day, type in zip(days, types, strict=True)]
    values = [place[1] for place in places if place is not None]
    assert values == sorted(set(values))
    assert len(values) == len(days)
    assert {place[0] for place in places if place is not None} == {"date"}


@given(st.dates(), st.dates())
def test_dates_keep_their_order(one: object, other: object) -> None:
    values = [on_scale(Literal.of(str(day), "date").name) for day in (one, other)]
    assert values[0] is not None
    assert values[1] is not None
    assert (values[0][1] < values[1][1]) == (one < other)  # type: ignore[operator]


def test_literals_of_a_vocabulary() -> None:
    scales = Scales.of(["2^^number", "Ada", "1903^^date", "1^^number"])
    assert scales.names == ("number", "date")
    assert scales.ids.tolist() == [0, 3, 2]
    assert scales.scales.tolist() == [0, 0, 1]
    assert scales.values.tolist() == [2, 1, 1903]
    kinds, values = scales.by_entity(4)
    assert kinds.tolist() == [0, -1, 1, 0]
    assert values[[0, 2, 3]].tolist() == [2, 1903, 1]
    assert values[1] != values[1]  # NaN


def test_added_names_do_not_change_scales() -> None:
    before = Vocabulary.of(["9^^number", "1903^^date"], ["r"])
    after = before.with_names(Vocabulary.of(["1^^quantity:kg", "1^^number"], []))
    assert after.scales.names == (*before.scales.names, "quantity:kg")
