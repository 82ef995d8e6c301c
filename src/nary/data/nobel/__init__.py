"""The embedded dataset ``nobel``: the Nobel prizes 1901 to 2024; README.md beside this file describes it.

The source is a table with one row for each laureate of each prize. Co-laureates are derived from it, so that years,
shares and co-laureates cannot contradict each other.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from nary.data.dataset import Dataset
from nary.data.transforms.splits import split_facts
from nary.facts import Fact

_SEED = 3  # every arity occurs in every split

COLUMNS = (
    *("year", "category", "share", "laureate", "kind", "born", "birthplace"),
    *("country", "citizenship", "affiliation", "field", "educated at", "family"),
)
PRIZES = {
    "Physics": "Nobel Prize in Physics",
    "Chemistry": "Nobel Prize in Chemistry",
    "Physiology or Medicine": "Nobel Prize in Physiology or Medicine",
    "Literature": "Nobel Prize in Literature",
    "Peace": "Nobel Peace Prize",
    "Economic Sciences": "Nobel Memorial Prize in Economic Sciences",
}
"""The name of the prize of each category."""


@dataclass(frozen=True)
class Row:
    """One laureate of one prize; missing values are empty strings or tuples.

    In further rows of a laureate, everything from ``kind`` on is empty, except the affiliation. For an organization,
    ``born`` is the year of its foundation and ``birthplace`` the city of its headquarters.
    """

    year: str
    category: str
    share: str
    laureate: str
    kind: str
    born: str
    birthplace: str
    country: str
    citizenship: tuple[str, ...]
    affiliation: tuple[str, ...]
    field: tuple[str, ...]
    educated_at: tuple[str, ...]
    family: tuple[tuple[str, str], ...]
    """Pairs of kinship (spouse, child, parent) and name."""


def dataset() -> Dataset:
    """Return the dataset; a tenth of the facts each is valid and test."""
    whole = Dataset.from_facts("nobel", {"train": facts()})
    # Facts about two prizes of one kind for one laureate differ only in their qualifiers: keep them in one split.
    splits = split_facts(whole.train, 0.1, 0.1, _SEED, keep_primary_together=True)
    return Dataset("nobel", whole.vocabulary, splits)


def facts() -> list[Fact]:
    """Derive the distinct facts, in the order of the table."""
    table = rows()
    laureates: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in table:
        laureates[row.year, row.category].append(row.laureate)
    order = {name: i for i, name in enumerate(dict.fromkeys(row.laureate for row in table))}
    distinct: dict[Fact, None] = {}
    for row in table:
        distinct[_award(row, laureates[row.year, row.category])] = None
        if row.kind:
            details = _organization(row) if row.kind == "org" else _person(row, order)
            distinct.update(dict.fromkeys(details))
    return list(distinct)


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
    """State a family relation in one direction only, so that train never contains the inverse of a test fact."""
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


def rows() -> list[Row]:
    """Read the table, which is sorted by year and category."""
    text = files("nary.data.nobel").joinpath("laureates.tsv").read_text("utf-8")
    return [_row(line) for line in text.splitlines()[1:]]


def _row(line: str) -> Row:
    year, category, share, laureate, kind, born, birthplace, country, *lists = line.split("\t")
    citizenship, affiliation, field, educated_at, family = (tuple(cell.split("; ")) if cell else () for cell in lists)
    return Row(
        *(year, category, share, laureate, kind, born, birthplace, country),
        *(citizenship, affiliation, field, educated_at),
        family=tuple((kind, name) for kind, _, name in (relative.partition(": ") for relative in family)),
    )
