"""FactTable: what the arrays hold, and that facts go in and come out unchanged and in order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.errors import DataError
from nary.facts import Fact, FactTable, Vocabulary
from nary.facts.table import decode_fact, number_rows

VOCABULARY = Vocabulary.of(["a", "b", "c", "d"], ["r", "s", "t"])  # ids 0..3 and 0..2
FACTS = [
    Fact("b", "r", "a", [("t", "d"), ("s", "c")]),
    Fact("a", "s", "b"),
    Fact("c", "t", "d", [("s", "a")]),
    Fact("d", "r", "d"),
    Fact("b", "r", "a", [("s", "c"), ("t", "d")]),
]

entities, relations = st.sampled_from(VOCABULARY.entities), st.sampled_from(VOCABULARY.relations)
fact_lists = st.lists(
    st.builds(Fact, entities, relations, entities, st.lists(st.tuples(relations, entities), max_size=3)), max_size=12
)


def table_of(facts: list[Fact]) -> FactTable:
    return FactTable.from_facts(facts, VOCABULARY)


def test_the_arrays_hold_ids_grouped_by_arity() -> None:
    table = table_of(FACTS)
    assert len(table) == 5
    assert table.arities == {2: 2, 3: 1, 4: 2}
    assert repr(table) == "FactTable(5 facts, arities [2, 3, 4])"
    triples, one, two = table.blocks
    assert triples.ids.tolist() == [[1, 0, 1], [0, 3, 3]]  # relation, subject, object
    assert triples.rows.tolist() == [1, 3]
    assert one.ids.tolist() == [[2, 2, 3, 1, 0]]  # ..., attribute, value
    assert two.ids.tolist() == [[0, 1, 0, 1, 2, 2, 3]] * 2  # ..., attributes, values
    assert two.rows.tolist() == [0, 4]


def test_the_columns_of_a_block() -> None:
    block = table_of(FACTS).blocks[2]
    assert (block.qualifiers, block.arity, len(block)) == (2, 4, 2)
    assert block.attributes.tolist() == [[1, 2]] * 2
    assert block.values.tolist() == [[2, 3]] * 2
    assert block.relations.tolist() == [[0, 1, 2]] * 2
    assert block.entities.tolist() == [[1, 0, 2, 3]] * 2
    assert block.relation_columns == [0, 3, 4]
    assert block.entity_columns == [1, 2, 5, 6]


def test_qualifiers_are_sorted_by_attribute_and_then_value() -> None:
    table = table_of([Fact("a", "r", "b", [("s", "d"), ("r", "d"), ("s", "a"), ("r", "d")])])
    assert table.blocks[0].attributes.tolist() == [[0, 0, 1, 1]]
    assert table.blocks[0].values.tolist() == [[3, 3, 0, 3]]


def test_columns_may_come_with_an_order() -> None:
    heads = np.array([[0, 0, 1], [1, 1, 2], [2, 2, 3]], np.int32)
    counts, pairs = np.array([0, 1, 0]), np.array([[0, 3]], np.int32)
    table = FactTable.from_columns(heads, counts, pairs, np.array([7, 2, 4]))
    b, c, a = Fact("b", "s", "c", [("r", "d")]), Fact("c", "t", "d"), Fact("a", "r", "b")
    assert list(table.facts(VOCABULARY)) == [b, c, a]
    assert [block.rows.tolist() for block in table.blocks] == [[1, 2], [0]]


def test_large_ids_do_not_mix() -> None:
    large = 2**31 - 1
    heads, counts = np.array([[large, large, 0]], np.int32), np.array([2])
    pairs = np.array([[large, 5], [5, large]], np.int32)
    block = FactTable.from_columns(heads, counts, pairs).blocks[0]
    assert block.ids.tolist() == [[large, large, 0, 5, large, large, 5]]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(DataError, match="unknown entity 'e'"):
        table_of([Fact("e", "r", "a")])
    with pytest.raises(DataError, match="unknown relation 'q'"):
        table_of([Fact("a", "r", "a", [("q", "a")])])


def test_no_facts() -> None:
    empty = table_of([])
    assert len(empty) == 0
    assert empty.blocks == ()
    assert list(empty.facts(VOCABULARY)) == []
    assert empty == FactTable.concatenate([]) == FactTable.concatenate([empty, empty])
    assert empty.take(np.array([], np.int64)) == empty


def test_many_facts_come_out_in_order() -> None:
    count = 70_000  # more than are decoded at a time
    heads = np.stack([np.arange(count) % 3, np.arange(count) % 4, np.arange(count) // 3 % 4], axis=1).astype(np.int32)
    counts = np.arange(count) % 2
    pairs = np.stack([np.arange(count // 2) % 3, np.arange(count // 2) % 4], axis=1).astype(np.int32)
    table = FactTable.from_columns(heads, counts, pairs)
    for row, (subject, relation, object, qualifiers) in enumerate(table.decode("abcd", "rst")):
        assert (subject, relation, object) == ("abcd"[row % 4], "rst"[row % 3], "abcd"[row // 3 % 4])
        assert qualifiers == ([("rst"[row // 2 % 3], "abcd"[row // 2 % 4])] if row % 2 else [])


@given(fact_lists)
def test_facts_come_back_in_order(facts: list[Fact]) -> None:
    table = table_of(facts)
    assert list(table.facts(VOCABULARY)) == facts
    assert all(np.array_equal(block.rows, np.sort(block.rows)) for block in table.blocks)


@given(fact_lists, fact_lists, fact_lists)
def test_concatenating_is_like_lists(a: list[Fact], b: list[Fact], c: list[Fact]) -> None:
    assert FactTable.concatenate([table_of(a), table_of(b), table_of(c)]) == table_of(a + b + c)


@given(fact_lists, st.data())
def test_taking_keeps_the_order(facts: list[Fact], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.sampled_from(range(len(facts))), unique=True) if facts else st.just([]))
    taken = table_of(facts).take(np.array(rows, np.int64))
    assert taken == table_of([facts[row] for row in sorted(rows)])


@given(fact_lists)
def test_renumbering_for_a_larger_vocabulary(facts: list[Fact]) -> None:
    larger = Vocabulary.of([*VOCABULARY.entities, "0", "bb", "e"], [*VOCABULARY.relations, "q", "ss"])
    entity_ids = np.array([larger.entity(name) for name in VOCABULARY.entities])
    relation_ids = np.array([larger.relation(name) for name in VOCABULARY.relations])
    assert table_of(facts).renumbered(entity_ids, relation_ids) == FactTable.from_facts(facts, larger)


@given(fact_lists, fact_lists)
def test_tables_are_equal_as_their_facts_are(a: list[Fact], b: list[Fact]) -> None:
    one, other = table_of(a), table_of(b)
    assert (one == other) == (a == b)
    assert (one.fingerprint == other.fingerprint) == (a == b)


def test_the_order_of_facts_counts() -> None:
    assert table_of(FACTS) != table_of(FACTS[::-1])
    assert table_of(FACTS) != FACTS


@given(st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=6), min_size=1, max_size=3))
def test_equal_rows_get_equal_numbers(arrays: list[list[tuple[int, int]]]) -> None:
    numbered = number_rows([np.array(rows, np.int32).reshape(-1, 2) for rows in arrays])
    assert [len(numbers) for numbers in numbered] == [len(rows) for rows in arrays]
    rows = [row for rows in arrays for row in rows]
    numbers = [int(number) for own in numbered for number in own]
    assert len(set(zip(rows, numbers, strict=True))) == len(set(rows)) == len(set(numbers))


@given(fact_lists)
def test_a_row_decodes_to_its_fact(facts: list[Fact]) -> None:
    for block in table_of(facts).blocks:
        for ids, row in zip(block.ids.tolist(), block.rows.tolist(), strict=True):
            assert decode_fact(ids, VOCABULARY) == facts[row]


def test_a_row_with_its_qualifiers_in_any_order() -> None:
    assert decode_fact([0, 1, 0, 2, 1, 3, 2], VOCABULARY) == FACTS[0]
