"""The source table of the embedded dataset: a row for each laureate of each prize."""

from dataclasses import dataclass
from importlib.resources import files

COLUMNS = (
    *("year", "category", "share", "laureate", "kind", "born", "birthplace"),
    *("country", "citizenship", "affiliation", "field", "educated at", "family"),
)


@dataclass(frozen=True)
class Row:
    """One laureate of one prize; an empty string or tuple where the table says nothing.

    A laureate's later rows leave everything empty from ``kind`` on, except the affiliation. For an organization,
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
    """Pairs of what someone is to the laureate (spouse, child, parent) and who it is."""


def rows() -> list[Row]:
    """The table, by year, then by category."""
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
