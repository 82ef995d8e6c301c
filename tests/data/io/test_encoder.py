"""Numbering names, and encoding columns of names as sorted ids."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.data.io import encoder
from nary.data.io.base import FactColumns
from nary.data.io.encoder import Encoder, Interner
from nary.facts import Fact, FactTable, Vocabulary
from nary.facts.names import PackedNames


def columns_of(facts: list[Fact], rows: list[int], splits: list[str | None] | None = None) -> FactColumns:
    names = [name for fact in facts for name in (fact.relation, fact.subject, fact.object)]
    names += [name for fact in facts for pair in fact.qualifiers for name in pair]
    counts = np.array([len(fact.qualifiers) for fact in facts], np.int64)
    named = None if splits is None else pl.Series(splits, dtype=pl.String)
    return FactColumns(np.array(rows, np.int64), counts, pl.Series(names, dtype=pl.String), named)


A, B, C = Fact("x", "r", "z", [("q", "v"), ("q", "a")]), Fact("z", "q", "x"), Fact("é", "𝄞", "\uffee", [("r", "x")])


def test_names_are_sorted_by_code_point_in_two_id_spaces() -> None:
    encoder = Encoder()
    encoder.add(columns_of([A, B, C], [0, 1, 2]), "train")
    vocabulary, tables = encoder.finish()
    assert vocabulary == Vocabulary(("a", "v", "x", "z", "é", "\uffee"), ("q", "r", "𝄞"))
    assert tables == {"train": FactTable.from_facts([A, B, C], vocabulary)}


def test_facts_are_put_in_the_order_of_their_places() -> None:
    encoder = Encoder()
    encoder.add(columns_of([C, A], [7, 3]), "train")
    encoder.add(columns_of([B], [5]), "train")
    vocabulary, tables = encoder.finish()
    assert list(tables["train"].facts(vocabulary)) == [A, B, C]


def test_an_offset_puts_facts_behind_others() -> None:
    encoder = Encoder()
    encoder.add(columns_of([A, B], [0, 1]), "train")
    encoder.add(columns_of([C], [0]), "train", offset=2)
    vocabulary, tables = encoder.finish()
    assert list(tables["train"].facts(vocabulary)) == [A, B, C]


def test_facts_go_to_the_splits_they_name() -> None:
    encoder = Encoder()
    encoder.add(columns_of([A, B, C, B], [0, 1, 2, 3], ["test", None, "train", "test"]), "valid")
    vocabulary, tables = encoder.finish()
    found = {split: list(table.facts(vocabulary)) for split, table in tables.items()}
    assert found == {"test": [A, B], "valid": [B], "train": [C]}


def test_no_facts_make_no_split() -> None:
    encoder = Encoder()
    encoder.add(columns_of([], []), "train")
    assert encoder.finish() == (Vocabulary((), ()), {})


columns = st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=20), max_size=6)


def check(interner: Interner, columns: list[list[str]]) -> None:
    """Equal strings have equal numbers, different strings different ones, and the names are theirs."""
    numbers = [interner.numbers(pl.Series(column, dtype=pl.String)) for column in columns]
    names = interner.names.to_list()
    for column, column_numbers in zip(columns, numbers, strict=True):
        assert [names[number] for number in column_numbers.tolist()] == column
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


def test_very_many_names_are_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = FactColumns(np.arange(4), np.zeros(4, np.int64), pl.Series(["r", "é", "b"] * 2 + ["r", "a", "𝄞"] * 2))
    plain, packed = Encoder(), Encoder()
    plain.add(columns, "train")
    packed.add(columns, "train")
    vocabulary, tables = plain.finish()
    monkeypatch.setattr(encoder, "MANY_NAMES", 3)
    monkeypatch.setattr(encoder, "_NAMES", 2)
    packed_vocabulary, packed_tables = packed.finish()
    assert isinstance(packed_vocabulary.entities, PackedNames)
    assert isinstance(packed_vocabulary.relations, tuple)
    assert packed_vocabulary == vocabulary == Vocabulary(("a", "b", "é", "𝄞"), ("r",))
    assert packed_tables == tables
