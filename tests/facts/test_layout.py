"""The layout of an id row: by hand for two qualifiers, and laws for any number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.facts import Fact, Position, Role, layout

SIZES = st.integers(0, 60)
COLUMNS = SIZES.flatmap(lambda m: st.tuples(st.integers(0, layout.num_columns(m) - 1), st.just(m)))


def test_two_qualifiers_by_hand() -> None:
    assert layout.num_columns(2) == 7
    assert layout.num_qualifiers(7) == 2
    assert layout.first_value(2) == 5
    assert list(layout.attribute_columns(2)) == [3, 4]
    assert list(layout.value_columns(2)) == [5, 6]
    assert layout.relation_columns(2) == [0, 3, 4]
    assert layout.entity_columns(2) == [1, 2, 5, 6]
    assert [layout.partner_column(column, 2) for column in range(7)] == [None, None, None, 5, 6, 3, 4]
    assert [str(layout.position_at(column, 2)) for column in range(7)] == [
        *("relation", "subject", "object", "attribute 1", "attribute 2", "value 1", "value 2")
    ]
    assert [role.value for role in layout.roles(2)] == [
        *("relation", "subject", "object", "attribute", "attribute", "value", "value")
    ]


def test_a_triple_by_hand() -> None:
    assert (layout.num_columns(0), layout.num_qualifiers(3)) == (3, 0)
    assert (layout.relation_columns(0), layout.entity_columns(0)) == ([0], [1, 2])
    assert not layout.attribute_columns(0)
    assert not layout.value_columns(0)


@pytest.mark.parametrize(("length", "right"), [(0, False), (1, False), (2, False), (3, True), (4, False), (5, True)])
def test_the_length_of_a_row(length: int, right: bool) -> None:
    assert layout.is_row_length(length) == right


@given(SIZES)
def test_lengths_go_there_and_back_and_columns_are_divided_by_kind(m: int) -> None:
    assert layout.num_qualifiers(layout.num_columns(m)) == m
    assert layout.is_row_length(layout.num_columns(m))
    every = list(range(layout.num_columns(m)))
    assert sorted(layout.relation_columns(m) + layout.entity_columns(m)) == every
    assert [column for column in every if layout.is_entity_column(column, m)] == layout.entity_columns(m)
    assert len(layout.roles(m)) == len(every)


@given(COLUMNS)
def test_positions_and_columns_go_there_and_back(place: tuple[int, int]) -> None:
    column, m = place
    position = layout.position_at(column, m)
    assert layout.column_of(position, m) == column
    assert layout.roles(m)[column] is position.role
    assert layout.is_entity_column(column, m) == position.role.is_entity


@given(COLUMNS)
def test_partners_are_mutual_and_of_one_qualifier(place: tuple[int, int]) -> None:
    column, m = place
    partner = layout.partner_column(column, m)
    if partner is None:
        assert column < layout.FIRST_ATTRIBUTE
        return
    assert partner != column
    assert layout.partner_column(partner, m) == column
    assert layout.position_at(column, m).number == layout.position_at(partner, m).number
    assert {layout.position_at(one, m).role for one in (column, partner)} == {Role.ATTRIBUTE, Role.VALUE}


def test_the_elements_of_a_fact_are_in_the_order_of_the_columns() -> None:
    fact = Fact("s", "r", "o", [("a", "v"), ("b", "w")])
    assert [layout.position_at(column, 2) for column in range(7)] == list(fact.elements())
    assert layout.column_of(Position(Role.VALUE, 2), 2) == 6
