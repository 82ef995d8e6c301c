"""The layout of an id row: which column of a fact with ``m`` qualifiers holds what.

A row has ``2m + 3`` columns: relation, subject, object, attributes 1..m, values 1..m. Relation and attributes are
relation ids, the others entity ids. Everything that needs to know this asks here.
"""

from nary.facts.fact import Position, Role

RELATION, SUBJECT, OBJECT, FIRST_ATTRIBUTE = 0, 1, 2, 3
"""Columns that are the same for every number of qualifiers."""


def num_columns(num_qualifiers: int) -> int:
    """The length of an id row."""
    return FIRST_ATTRIBUTE + 2 * num_qualifiers


def num_qualifiers(num_columns: int) -> int:
    """The number of qualifiers ``m`` of an id row of that length."""
    return (num_columns - FIRST_ATTRIBUTE) // 2


def first_value(num_qualifiers: int) -> int:
    """The column of the first value."""
    return FIRST_ATTRIBUTE + num_qualifiers


def attribute_columns(num_qualifiers: int) -> range:
    """The columns of the attributes."""
    return range(FIRST_ATTRIBUTE, first_value(num_qualifiers))


def value_columns(num_qualifiers: int) -> range:
    """The columns of the values."""
    return range(first_value(num_qualifiers), num_columns(num_qualifiers))


def relation_columns(num_qualifiers: int) -> list[int]:
    """The columns that hold relation ids: the relation and the attributes."""
    return [RELATION, *attribute_columns(num_qualifiers)]


def entity_columns(num_qualifiers: int) -> list[int]:
    """The columns that hold entity ids: subject, object and the values."""
    return [SUBJECT, OBJECT, *value_columns(num_qualifiers)]


def roles(num_qualifiers: int) -> list[Role]:
    """The role of the element in each column."""
    primary = [Role.RELATION, Role.SUBJECT, Role.OBJECT]
    return primary + [Role.ATTRIBUTE] * num_qualifiers + [Role.VALUE] * num_qualifiers


def position_at(column: int, num_qualifiers: int) -> Position:
    """The position of the element in a column."""
    if column < FIRST_ATTRIBUTE:
        return Position((Role.RELATION, Role.SUBJECT, Role.OBJECT)[column])
    if column < first_value(num_qualifiers):
        return Position(Role.ATTRIBUTE, column - FIRST_ATTRIBUTE + 1)
    return Position(Role.VALUE, column - first_value(num_qualifiers) + 1)


def partner_column(column: int, num_qualifiers: int) -> int | None:
    """The column of the value of an attribute, or of the attribute of a value; None in the primary triple."""
    if column < FIRST_ATTRIBUTE:
        return None
    return column + num_qualifiers if column < first_value(num_qualifiers) else column - num_qualifiers
