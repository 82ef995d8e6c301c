"""Corrupted facts: one element is replaced, so that a true fact becomes one that is not stored."""

import numpy as np

from nary.facts import Block, FactTable
from nary.facts.containment import Pattern
from nary.facts.layout import FIRST_ATTRIBUTE, first_value, is_entity_column, num_qualifiers
from nary.inference.context import Context

_ATTEMPTS = 100
_Row = list[int]


def table_of_rows(rows: list[_Row]) -> FactTable:
    """The table of id rows of any arity, in their order."""
    blocks = []
    for width in sorted({len(row) for row in rows}):
        places = [place for place, row in enumerate(rows) if len(row) == width]
        blocks.append(Block(np.array([rows[place] for place in places], np.int32), np.array(places)))
    return FactTable(blocks)


def rows_of_table(table: FactTable) -> list[_Row]:
    """The id rows of a table, in the order of its facts."""
    rows: list[_Row] = [[] for _ in range(len(table))]
    for block in table.blocks:
        for place, ids in zip(block.rows.tolist(), block.ids.tolist(), strict=True):
            rows[place] = ids
    return rows


def shorten(row: _Row, random: np.random.Generator) -> _Row:
    """The fact with some of its qualifiers: a probability to keep each is drawn first, so that any number is likely."""
    primary, pairs = _split(row)
    keep = random.random()
    return _join(primary, [pair for pair in pairs if random.random() < keep])


class Corruption:
    """Replaces elements of facts by others."""

    def __init__(self, context: Context) -> None:
        self._slots = context.slots
        self._stored = context.lookup.index
        self._num_entities, self._num_relations = len(context.vocabulary.entities), len(context.vocabulary.relations)

    def corrupt(self, row: _Row, same_slot: bool, random: np.random.Generator) -> _Row | None:
        """The fact with another element at one position, or None if every attempt makes a stored fact.

        With ``same_slot`` the other element stands in the same slot in some training fact, such as another prize for a
        prize; otherwise it is any entity or relation.
        """
        m = num_qualifiers(len(row))
        slots = self._slots.of(np.array([row]))[0].tolist()
        for _ in range(_ATTEMPTS):
            column = int(random.integers(len(row)))
            seen, _ = self._slots.members(slots[column])
            size = self._num_entities if is_entity_column(column, m) else self._num_relations
            other = int(random.choice(seen) if same_slot and len(seen) else random.integers(size))
            changed = [*row[:column], other, *row[column + 1 :]]
            primary, pairs = _split(changed)
            changed = _join(primary, sorted(pairs))
            if not self._stored.count(Pattern.of_row(changed)):
                return changed
        return None


def _split(row: _Row) -> tuple[_Row, list[tuple[int, int]]]:
    """The primary triple and the qualifiers."""
    values = first_value(num_qualifiers(len(row)))
    return row[:FIRST_ATTRIBUTE], list(zip(row[FIRST_ATTRIBUTE:values], row[values:], strict=True))


def _join(primary: _Row, pairs: list[tuple[int, int]]) -> _Row:
    return [*primary, *(attribute for attribute, _ in pairs), *(value for _, value in pairs)]
