"""Finding and dropping duplicate facts, within one table or across several."""

from collections.abc import Sequence

import numpy as np

from nary.facts import FactTable
from nary.facts.layout import FIRST_ATTRIBUTE
from nary.facts.table import Ids, Rows, number_rows


def drop_duplicates(table: FactTable) -> FactTable:
    """Keep the first of several equal facts."""
    (numbers,) = number_facts([table])
    return table.take(np.unique(numbers, return_index=True)[1])


def number_facts(tables: Sequence[FactTable]) -> list[Rows]:
    """Number the distinct facts of all tables: one array [n] per table, equal numbers for equal facts."""
    numbers = [np.empty(len(table), np.int64) for table in tables]
    used = 0
    for arity in sorted({block.arity for table in tables for block in table.blocks}):
        blocks = [(i, block) for i, table in enumerate(tables) for block in table.blocks if block.arity == arity]
        block_numbers = number_rows([block.ids for _, block in blocks])
        for (i, block), row_numbers in zip(blocks, block_numbers, strict=True):
            numbers[i][block.rows] = row_numbers + used
        used += 1 + max(int(row_numbers.max()) for row_numbers in block_numbers)
    return numbers


def number_triples(tables: Sequence[FactTable]) -> list[Rows]:
    """Number the distinct primary triples of all tables, like :func:`number_facts`."""
    return list(number_rows([triple_ids(table) for table in tables])) if tables else []


def triple_ids(table: FactTable) -> Ids:
    """Return relation, subject and object of each fact, [n, 3], in the order of the facts."""
    ids = np.empty((len(table), FIRST_ATTRIBUTE), np.int32)
    for block in table.blocks:
        ids[block.rows] = block.ids[:, :FIRST_ATTRIBUTE]
    return ids
