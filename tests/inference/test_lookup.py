"""Stored facts by pattern: which match, in which split, and how patterns are written."""

import pytest
from runs.small import dataset_of

from nary.errors import DataError, SettingError
from nary.facts import Fact, parse
from nary.inference.lookup import FactLookup

CHEMISTRY = Fact("Curie", "award", "Chemistry", [("time", "1911"), ("share", "1/1")])
PHYSICS = Fact("Curie", "award", "Physics", [("time", "1903")])
BORN = Fact("Curie", "born in", "Warsaw")
DATA = dataset_of(train=[BORN, PHYSICS], test=[CHEMISTRY])


def texts(pattern: str, limit: int = 20) -> list[tuple[str, str]]:
    return [(stored.fact, stored.split) for stored in FactLookup(DATA).find(parse(pattern), limit).facts]


def test_facts_contain_the_pattern() -> None:
    assert texts("curie | award | ?") == [(str(PHYSICS), "train"), (str(CHEMISTRY), "test")]
    assert texts("Curie | award | ? | time: 1911") == [(str(CHEMISTRY), "test")]
    assert texts("? | ? | ? | ?: 1/1") == [(str(CHEMISTRY), "test")]
    assert texts("Curie | born in | Warsaw") == [(str(BORN), "train")]
    assert texts("Warsaw | award | ?") == []


def test_all_are_counted_and_some_are_listed() -> None:
    stored = FactLookup(DATA).find(parse("Curie | ? | ?"), limit=2)
    assert (stored.total, len(stored.facts)) == (3, 2)
    with pytest.raises(SettingError, match="0 facts were asked for"):
        FactLookup(DATA).find(BORN, limit=0)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(DataError, match="unknown entity 'Curry'"):
        texts("Curry | award | ?")
