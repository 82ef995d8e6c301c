"""The layout of an id row: which column of a fact with ``m`` qualifiers holds what.

A row has ``2m + 3`` columns: relation, subject, object, attributes 1..m, values 1..m. Relation and attributes are
relation ids, the others entity ids. All code that needs to know this uses the functions below.
"""

from nary.facts.fact import Position, Role

RELATION, SUBJECT, OBJECT, FIRST_ATTRIBUTE = 0, 1, 2, 3
"""Columns that are the same for every number of qualifiers."""

_PRIMARY = (Role.RELATION, Role.SUBJECT, Role.OBJECT)


def num_columns(num_qualifiers: int) -> int:
    """The length of an id row."""
    return FIRST_ATTRIBUTE + 2 * num_qualifiers


def num_qualifiers(num_columns: int) -> int:
    """The number of qualifiers ``m`` of an id row of that length."""
    return (num_columns - FIRST_ATTRIBUTE) // 2


def is_row_length(num_columns: int) -> bool:
    """Whether an id row can have that length: 3, 5, 7, ..."""
    return num_columns >= FIRST_ATTRIBUTE and (num_columns - FIRST_ATTRIBUTE) % 2 == 0


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


def is_entity_column(column: int, num_qualifiers: int) -> bool:
    """Whether a column holds entity ids."""
    return SUBJECT <= column <= OBJECT or column >= first_value(num_qualifiers)


def roles(num_qualifiers: int) -> list[Role]:
    """The role of the element in each column."""
    return [*_PRIMARY, *[Role.ATTRIBUTE] * num_qualifiers, *[Role.VALUE] * num_qualifiers]


def position_at(column: int, num_qualifiers: int) -> Position:
    """The position of the element in a column."""
    if column < FIRST_ATTRIBUTE:
        return Position(_PRIMARY[column])
    if column < first_value(num_qualifiers):
        return Position(Role.ATTRIBUTE, column - FIRST_ATTRIBUTE + 1)
    return Position(Role.VALUE, column - first_value(num_qualifiers) + 1)


def column_of(position: Position, num_qualifiers: int) -> int:
    """The column of the element at a position, the inverse of :func:`position_at`."""
    if position.role in _PRIMARY:
        return _PRIMARY.index(position.role)
    first = FIRST_ATTRIBUTE if position.role is Role.ATTRIBUTE else first_value(num_qualifiers)
    return first + position.number - 1


def partner_column(column: int, num_qualifiers: int) -> int | None:
    """The column of the value of an attribute, or of the attribute of a value; None in the primary triple."""
    if column < FIRST_ATTRIBUTE:
        return None
    return column + num_qualifiers if column < first_value(num_qualifiers) else column - num_qualifiers
