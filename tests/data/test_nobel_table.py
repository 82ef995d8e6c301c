from collections import Counter, defaultdict
from importlib.resources import files

import pytest

from nary.data.nobel import COLUMNS, PRIZES, Row, rows

PRIZE_COUNTS = {  # category: (prizes, rows)
    "Physics": (118, 227),
    "Chemistry": (116, 197),
    "Physiology or Medicine": (115, 229),
    "Literature": (117, 121),
    "Peace": (105, 142),
    "Economic Sciences": (56, 96),
}
NOT_AWARDED = {
    "Physics": {1916, 1931, 1934, 1940, 1941, 1942},
    "Chemistry": {1916, 1917, 1919, 1924, 1933, 1940, 1941, 1942},
    "Physiology or Medicine": {1915, 1916, 1917, 1918, 1921, 1925, 1940, 1941, 1942},
    "Literature": {1914, 1918, 1935, 1940, 1941, 1942, 1943},
    "Peace": {
        *(1914, 1915, 1916, 1918, 1923, 1924, 1928, 1932),
        *range(1939, 1944),
        1948,
        *(1955, 1956, 1966, 1967, 1972),
    },
    "Economic Sciences": set(range(1901, 1969)),
}


@pytest.fixture(scope="module")
def table() -> list[Row]:
    return rows()


def test_the_table_is_found_among_the_package_s_resources() -> None:
    assert files("nary.data.nobel").joinpath("laureates.tsv").is_file()


def test_the_table_is_well_formed() -> None:
    data = files("nary.data.nobel").joinpath("laureates.tsv").read_bytes()
    assert b"\r" not in data
    assert data.endswith(b"\n")
    head, *lines = data.decode("utf-8").removesuffix("\n").split("\n")
    assert tuple(head.split("\t")) == COLUMNS
    assert len(COLUMNS) == 13
    for line in lines:
        assert line.count("\t") == 12, line
        for cell in line.split("\t"):
            parts = cell.split("; ")
            assert all(part == " ".join(part.split()) for part in parts), line
            assert len(set(parts)) == len(parts), line
            assert ";" not in "".join(parts), line


def test_cells_hold_what_their_column_promises(table: list[Row]) -> None:
    for row in table:
        assert 1901 <= int(row.year) <= 2024
        assert row.category in PRIZES
        assert row.share in ("1", "1/2", "1/3", "1/4")
        assert row.kind in ("m", "f", "org", "")
        assert not row.born or 1800 < int(row.born) < int(row.year) - (0 if row.kind == "org" else 16), row
        assert bool(row.birthplace) == bool(row.country), row
        assert max(map(len, (row.citizenship, row.affiliation, row.field, row.educated_at))) <= 2, row
        assert {kind for kind, _ in row.family} <= {"spouse", "child", "parent"}, row
        assert all(name for _, name in row.family), row
        assert not row.affiliation or row.category not in ("Literature", "Peace"), row


def test_organizations_have_no_life_of_a_person(table: list[Row]) -> None:
    for row in table:
        if row.kind == "org":
            assert row.category == "Peace"
            assert row.born
            assert not any((row.citizenship, row.affiliation, row.educated_at, row.family)), row


def test_a_laureate_is_described_in_the_first_row_only(table: list[Row]) -> None:
    described: set[str] = set()
    for row in table:
        if row.laureate in described:
            cells = (row.kind, row.born, row.birthplace, row.citizenship, row.field, row.educated_at, row.family)
            assert not any(cells), row
        else:
            assert row.kind, row
            assert row.field, row
        described.add(row.laureate)


def test_the_table_is_in_order_and_has_no_row_twice(table: list[Row]) -> None:
    keys = [(int(row.year), list(PRIZES).index(row.category)) for row in table]
    assert keys == sorted(keys)
    assert len({(row.year, row.category, row.laureate) for row in table}) == len(table)


def test_prizes_rows_people_and_organizations_are_complete(table: list[Row]) -> None:
    prizes = Counter(category for _, category in {(row.year, row.category) for row in table})
    laureates = Counter(row.category for row in table)
    assert {category: (prizes[category], laureates[category]) for category in PRIZES} == PRIZE_COUNTS
    assert prizes.total() == 627
    assert laureates.total() == 1012
    assert len({row.laureate for row in table if row.kind in ("m", "f")}) == 976
    assert len({row.laureate for row in table if row.kind == "org"}) == 28


def test_every_year_has_a_prize_unless_none_was_awarded(table: list[Row]) -> None:
    for category, without in NOT_AWARDED.items():
        awarded = {int(row.year) for row in table if row.category == category}
        assert set(range(1901, 2025)) - awarded == without, category


def test_a_town_lies_in_one_country(table: list[Row]) -> None:
    countries = defaultdict(set)
    for row in table:
        countries[row.birthplace].add(row.country)
    assert [town for town, found in countries.items() if len(found) > 1] == []


def test_no_name_stands_for_things_of_two_kinds(table: list[Row]) -> None:
    kinds: dict[str, set[str]] = {
        "person or organization": {row.laureate for row in table} | {name for row in table for _, name in row.family},
        "year": {year for row in table for year in (row.year, row.born) if year},
        "share": {row.share for row in table},
        "town": {row.birthplace for row in table if row.birthplace},
        "country": {name for row in table for name in (row.country, *row.citizenship) if name},
        "institution": {name for row in table for name in (*row.affiliation, *row.educated_at)},
        "field": {name for row in table for name in row.field},
    }
    times = Counter(name for names in kinds.values() for name in names)
    assert [name for name, count in times.items() if count > 1] == []


def test_family_relations_between_laureates_are_stated_by_both(table: list[Row]) -> None:
    converse = {"spouse": "spouse", "child": "parent", "parent": "child"}
    laureates = {row.laureate for row in table}
    stated = {(row.laureate, kind, name) for row in table for kind, name in row.family}
    among_laureates = {relation for relation in stated if relation[2] in laureates}
    assert among_laureates == {(name, converse[kind], laureate) for laureate, kind, name in among_laureates}
    assert ("Irène Joliot-Curie", "parent", "Marie Curie") in among_laureates
