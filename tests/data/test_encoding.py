"""From columns of names to sorted ids."""

import numpy as np
import polars as pl

from nary.data.encoding import Columns, Encoder
from nary.facts import Fact, FactTable, Vocabulary


def columns(facts: list[Fact], rows: list[int], splits: list[str | None] | None = None) -> Columns:
    names = [name for fact in facts for name in (fact.relation, fact.subject, fact.object)]
    names += [name for fact in facts for pair in fact.qualifiers for name in pair]
    counts = np.array([len(fact.qualifiers) for fact in facts], np.int64)
    named = None if splits is None else pl.Series(splits, dtype=pl.String)
    return Columns(np.array(rows, np.int64), counts, pl.Series(names, dtype=pl.String), named)


A, B, C = Fact("x", "r", "z", [("q", "v"), ("q", "a")]), Fact("z", "q", "x"), Fact("é", "𝄞", "\uffee", [("r", "x")])


def test_names_are_sorted_by_code_point_in_two_id_spaces() -> None:
    encoder = Encoder()
    encoder.add(columns([A, B, C], [0, 1, 2]), "train")
    vocabulary, tables = encoder.finish()
    assert vocabulary == Vocabulary(("a", "v", "x", "z", "é", "\uffee"), ("q", "r", "𝄞"))
    assert tables == {"train": FactTable.from_facts([A, B, C], vocabulary)}


def test_facts_are_put_in_the_order_of_their_places() -> None:
    encoder = Encoder()
    encoder.add(columns([C, A], [7, 3]), "train")
    encoder.add(columns([B], [5]), "train")
    vocabulary, tables = encoder.finish()
    assert list(tables["train"].facts(vocabulary)) == [A, B, C]


def test_an_offset_puts_facts_behind_others() -> None:
    encoder = Encoder()
    encoder.add(columns([A, B], [0, 1]), "train")
    encoder.add(columns([C], [0]), "train", offset=2)
    vocabulary, tables = encoder.finish()
    assert list(tables["train"].facts(vocabulary)) == [A, B, C]


def test_facts_go_to_the_splits_they_name() -> None:
    encoder = Encoder()
    encoder.add(columns([A, B, C, B], [0, 1, 2, 3], ["test", None, "train", "test"]), "valid")
    vocabulary, tables = encoder.finish()
    found = {split: list(table.facts(vocabulary)) for split, table in tables.items()}
    assert found == {"test": [A, B], "valid": [B], "train": [C]}


def test_no_facts_make_no_split() -> None:
    encoder = Encoder()
    encoder.add(columns([], []), "train")
    assert encoder.finish() == (Vocabulary((), ()), {})
