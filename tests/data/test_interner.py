"""Interner: numbers for strings, as a dictionary would give them."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from nary.data.interner import Interner

columns = st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=20), max_size=6)


def check(interner: Interner, columns: list[list[str]]) -> None:
    """Equal strings have equal numbers, different strings different ones, and the names are theirs."""
    numbers = [interner.numbers(pl.Series(column, dtype=pl.String)) for column in columns]
    names = interner.names.to_list()
    for column, own in zip(columns, numbers, strict=True):
        assert [names[number] for number in own.tolist()] == column
    assert len(names) == len(set(names)) == len(interner) == len({name for column in columns for name in column})


def test_a_few_names() -> None:
    interner = Interner()
    first = interner.numbers(pl.Series(["b", "a", "b"]))
    assert sorted(set(first.tolist())) == [0, 1]
    second = interner.numbers(pl.Series(["c", "a"]))
    assert second.tolist() == [2, first[1]]
    assert interner.names.to_list() == ["b", "a", "c"] if first[0] == 0 else ["a", "b", "c"]


def test_no_names() -> None:
    interner = Interner()
    assert interner.names.to_list() == []
    assert interner.numbers(pl.Series([], dtype=pl.String)).tolist() == []
    assert len(interner) == 0


@given(columns)
def test_like_a_dictionary(columns: list[list[str]]) -> None:
    check(Interner(), columns)


def test_the_table_grows() -> None:
    generator = np.random.default_rng(0)
    columns = [[f"name {i}" for i in generator.integers(0, 3000 * k, 4000)] for k in range(1, 12)]
    check(Interner(), columns)


def test_one_column_larger_than_the_first_table() -> None:
    check(Interner(), [[str(i) for i in range(20_000)], [str(i) for i in range(19_000, 21_000)]])


def test_crowded_slots() -> None:
    class Crowded(Interner):
        """Wants the same few slots for everything, the last ones of the table included."""

        def _slots(self, places: np.ndarray) -> np.ndarray:
            return (1 << self._bits) - 1 - super()._slots(places) % 3

    check(Crowded(), [[f"a{i}" for i in range(k, k + 40)] for k in range(0, 400, 25)])
