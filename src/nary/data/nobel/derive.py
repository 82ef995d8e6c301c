"""From the source table to facts.

Co-laureates are derived from the table rather than written into it, so years, shares and who shared a prize with whom
cannot contradict each other.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from nary.data.nobel.table import Row, rows
from nary.facts import Fact

PRIZES = {
    "Physics": "Nobel Prize in Physics",
    "Chemistry": "Nobel Prize in Chemistry",
    "Physiology or Medicine": "Nobel Prize in Physiology or Medicine",
    "Literature": "Nobel Prize in Literature",
    "Peace": "Nobel Peace Prize",
    "Economic Sciences": "Nobel Memorial Prize in Economic Sciences",
}
"""What the prize of each category is called."""


def facts() -> list[Fact]:
    """Every fact once, in the order of the table."""
    table = rows()
    laureates: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in table:
        laureates[row.year, row.category].append(row.laureate)
    order = {name: place for place, name in enumerate(dict.fromkeys(row.laureate for row in table))}
    found: dict[Fact, None] = {}
    for row in table:
        found[_award(row, laureates[row.year, row.category])] = None
        if row.kind:
            about = _organization(row) if row.kind == "org" else _person(row, order)
            found.update(dict.fromkeys(about))
    return list(found)


def _award(row: Row, laureates: Sequence[str]) -> Fact:
    qualifiers = [("point in time", row.year), ("prize share", row.share)]
    qualifiers += [("together with", other) for other in laureates if other != row.laureate]
    qualifiers += [("affiliation", institution) for institution in row.affiliation]
    return Fact(row.laureate, "award received", PRIZES[row.category], qualifiers)


def _person(row: Row, order: Mapping[str, int]) -> Iterator[Fact]:
    yield Fact(row.laureate, "sex or gender", {"m": "male", "f": "female"}[row.kind])
    if row.birthplace:
        yield Fact(row.laureate, "born in", row.birthplace, [("point in time", row.born)] if row.born else [])
        yield Fact(row.birthplace, "country", row.country)
    for country in row.citizenship:
        yield Fact(row.laureate, "country of citizenship", country)
    for field in row.field:
        yield Fact(row.laureate, "field of work", field)
    for institution in row.educated_at:
        yield Fact(row.laureate, "educated at", institution)
    for kind, relative in row.family:
        yield _relative(row.laureate, kind, relative, order)


def _relative(laureate: str, kind: str, relative: str, order: Mapping[str, int]) -> Fact:
    """A family relation in one direction only: nothing in train then states a fact of test the other way round."""
    if kind == "parent":
        return Fact(relative, "child", laureate)
    if kind == "spouse" and order.get(relative, len(order)) < order[laureate]:
        return Fact(relative, "spouse", laureate)
    return Fact(laureate, kind, relative)


def _organization(row: Row) -> Iterator[Fact]:
    yield Fact(row.laureate, "instance of", "organization")
    yield Fact(row.laureate, "inception", row.born)
    if row.birthplace:
        yield Fact(row.laureate, "headquarters location", row.birthplace)
        yield Fact(row.birthplace, "country", row.country)
    for field in row.field:
        yield Fact(row.laureate, "field of work", field)
