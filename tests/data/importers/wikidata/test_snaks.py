"""Every kind of snak, worked by hand."""

from typing import Any

import pytest
from data.importers.wikidata.small import item, missing, point, quantity, string, text, time, value

from nary.data.importers.wikidata.snaks import SnakReader
from nary.errors import FactError
from nary.facts.literal import Literal

OLD_ITEM = value("wikibase-entityid", {"entity-type": "item", "numeric-id": 7}, "wikibase-item")
FORM = value("wikibase-entityid", {"entity-type": "form", "id": "L5-F2"}, "wikibase-form")


@pytest.mark.parametrize(
    ("snak", "name"),
    [
        (item("Q42"), "Q42"),
        (item("P31"), "P31"),
        (OLD_ITEM, "Q7"),
        (FORM, "L5-F2"),
        (string("H2O"), "H2O^^text"),
        (string("a^^b"), "a^^b^^text"),
        (text("Haus am See", "de"), "Haus am See^^text:de"),
        (quantity("+66000"), "66000^^number"),
        (quantity("-0.50"), "-0.5^^number"),
        (quantity("+12.5", "Q11573"), "12.5^^quantity:Q11573"),
        (time("+1879-03-14T00:00:00Z", 11), "1879-03-14^^date"),
        (time("+1582-03-14T00:00:00Z", 11, "Q1985786"), "1582-03-14^^date:julian"),
        (time("+1879-03-00T00:00:00Z", 10), "1879-03^^date"),
        (time("+1879-00-00T00:00:00Z", 9, "Q1985786"), "1879^^date"),
        (time("+1879-00-00T00:00:00Z", 11), "1879^^date"),  # of no more than it says
        (time("+1879-03-00T00:00:00Z", 11), "1879-03^^date"),
        (time("+1870-00-00T00:00:00Z", 8), "1870^^date:decade"),
        (time("+1900-00-00T00:00:00Z", 7), "1900^^date:century"),
        (time("+2000-00-00T00:00:00Z", 6), "2000^^date:millennium"),
        (time("-13798000000-00-00T00:00:00Z", 3), "-13798000000^^date:1000000 years"),
        (time("-0044-03-15T00:00:00Z", 11, "Q1985786"), "-0044-03-15^^date:julian"),
        (time("+00000001999-01-02T00:00:00Z", 11), "1999-01-02^^date"),  # as old dumps have it
        (time("+2001-02-03T04:05:06Z", 14), "2001-02-03T04:05:06Z^^datetime"),
        (point(48.85, 2.35), "48.85,2.35^^point"),
        (point(-0.5, 1e-05, "Q405"), "-0.5,0.00001^^point:Q405"),
    ],
)
def test_values(snak: Any, name: str) -> None:
    reader = SnakReader()
    assert reader.name(snak, "statements") == name
    assert not reader.left_out
    assert "^^" not in name or Literal.from_name(name).name == name


@pytest.mark.parametrize(
    ("snak", "reason"),
    [
        (missing("somevalue"), "statements with an unknown value"),
        (missing("novalue"), "statements with no value"),
        (string("12-34", "external-id"), "statements of datatype external-id"),
        (string("http://example.org", "url"), "statements of datatype url"),
        (string("Photo.jpg", "commonsMedia"), "statements of datatype commonsMedia"),
        (string("x^2", "math"), "statements of datatype math"),
        (string("  "), "statements with an empty text"),
        (value("color", "red", "string"), "statements with a value of the unknown type color"),
    ],
)
def test_what_is_left_out_is_counted(snak: Any, reason: str) -> None:
    reader = SnakReader()
    assert reader.name(snak, "statements") is None
    assert reader.left_out == {reason: 1}


def test_what_is_asked_for_is_kept() -> None:
    reader = SnakReader(["external-id", "url"], keep_missing=True)
    snaks = (missing("somevalue"), missing("novalue"), string("12-34", "external-id"), string("http://a.b", "url"))
    names = [reader.name(snak, "qualifiers") for snak in snaks]
    assert names == ["somevalue", "novalue", "12-34^^text", "http://a.b^^text"]
    assert not reader.left_out


def test_bounds_are_counted() -> None:
    reader = SnakReader()
    snak = quantity("+5", "Q1", upperBound="+6", lowerBound="+4")
    assert reader.name(snak, "statements") == "5^^quantity:Q1"
    assert reader.left_out == {"bounds of quantities": 1}


@pytest.mark.parametrize(
    "snak", [quantity("many"), time("yesterday", 11), {"snaktype": "value"}, time("+1-01-01T00:00:00Z", -1)]
)
def test_nonsense_is_refused(snak: Any) -> None:
    with pytest.raises((FactError, ValueError, KeyError)):
        SnakReader().name(snak, "statements")
