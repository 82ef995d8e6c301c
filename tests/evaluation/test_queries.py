"""Encoded queries: by hand."""

from dataclasses import replace

import pytest
import torch
from evaluation.toys import vocabulary_of

from nary.errors import DataError, FactError
from nary.evaluation.queries import EncodedQuery, encode_query, make_batch, mask_table
from nary.facts import GAP, Fact, FactTable, Position, Query, Role

FACT = Fact("Ada", "likes", "Ben", [("since", "1900"), ("with", "Cy")])
VOCABULARY = vocabulary_of([FACT])  # 1900 Ada Ben Cy; likes since with
OBJECT, VALUE_2 = Position(Role.OBJECT), Position(Role.VALUE, 2)


def test_a_fact_and_a_query() -> None:
    query = encode_query(FACT, OBJECT, VOCABULARY)
    assert query == EncodedQuery((0, 1, 2, 1, 2, 0, 3), 2)
    assert (query.answer, query.kind, query.position, query.num_qualifiers) == (2, "entity", OBJECT, 2)
    two_gaps = Query("Ada", GAP, "Ben", [("since", "1900"), ("with", GAP)])
    assert encode_query(two_gaps, VALUE_2, VOCABULARY) == EncodedQuery((0, 1, 2, 1, 2, 0, 0), 6, frozenset({0}))
    assert encode_query(two_gaps, Position(Role.RELATION), VOCABULARY).kind == "relation"


def test_without_an_element_or_a_qualifier() -> None:
    query = encode_query(FACT, VALUE_2, VOCABULARY)
    assert query.hide(1).hidden == {1}
    assert query.hide(1).drop_qualifier(3) == EncodedQuery((0, 1, 2, 2, 3), 4, frozenset({1}))
    assert query.hide(5).drop_qualifier(3) == EncodedQuery((0, 1, 2, 2, 3), 4)
    assert replace(query, partial=True).hide(5).drop_qualifier(3) == EncodedQuery((0, 1, 2, 2, 3), 4, partial=True)
    assert query.fill(1) == (0, 1, 2, 1, 2, 0, 1)


def test_what_cannot_be_encoded() -> None:
    with pytest.raises(FactError, match="has no value 3") as caught:
        encode_query(FACT, Position(Role.VALUE, 3), VOCABULARY)
    assert "value 2" in str(caught.value.hint)
    with pytest.raises(DataError, match="unknown entity 'Bem'"):
        encode_query(Fact("Ada", "likes", "Bem"), OBJECT, VOCABULARY)


def test_a_batch_has_a_group_for_each_arity() -> None:
    short = EncodedQuery((0, 1, 2), 1)
    long = encode_query(FACT, OBJECT, VOCABULARY)
    batch = make_batch([short, long, long.hide(0)])
    assert [group.ids.tolist() for group in batch.groups] == [[[0, 1, 2]], [list(long.ids)] * 2]
    assert [group.columns.tolist() for group in batch.groups] == [[1], [2, 2]]
    assert batch.groups[0].hidden is None
    assert batch.groups[0].partial is None
    (group,) = make_batch([short, replace(short, partial=True)]).to(torch.device("cpu")).groups
    assert group.partial is not None
    assert group.partial.tolist() == [False, True]
    assert torch.equal(batch.groups[1].hidden, torch.tensor([[False] * 7, [True] + [False] * 6]))


def test_a_table_with_every_element_masked_in_turn() -> None:
    table = FactTable.from_facts([FACT, Fact("Cy", "likes", "Ben"), Fact("Ada", "likes", "Ben")], VOCABULARY)
    blocks, left_out = mask_table(table, frozenset(Role))
    assert [(len(masked), masked.column) for masked in blocks] == [(2, c) for c in range(3)] + [
        (1, c) for c in range(7)
    ]
    assert left_out == 0
    assert blocks[1].answers.tolist() == [3, 1]
    assert blocks[1].number_queries().tolist() == [0, 0]  # ? likes Ben, twice
    assert sorted(blocks[2].number_queries().tolist()) == [0, 1]
    only_values, _ = mask_table(table, {Role.VALUE})
    assert [masked.column for masked in only_values] == [5, 6]
