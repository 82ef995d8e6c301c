"""Which facts are equal: one number per fact, over one table or several."""

from collections.abc import Sequence

import numpy as np

from nary.facts import FactTable
from nary.facts.layout import FIRST_ATTRIBUTE
from nary.facts.table import Rows, number_rows


def number_facts(tables: Sequence[FactTable]) -> list[Rows]:
    """For each table an array [n] over its facts in order: equal facts, in whichever table, have equal numbers."""
    numbers = [np.empty(len(table), np.int64) for table in tables]
    used = 0
    for arity in sorted({block.arity for table in tables for block in table.blocks}):
        own = [(i, block) for i, table in enumerate(tables) for block in table.blocks if block.arity == arity]
        found = number_rows([block.ids for _, block in own])
        for (i, block), equal in zip(own, found, strict=True):
            numbers[i][block.rows] = equal + used
        used += 1 + max(int(equal.max()) for equal in found)
    return numbers


def number_primaries(tables: Sequence[FactTable]) -> list[Rows]:
    """Like :func:`number_facts`, but facts with the same subject, relation and object count as equal."""
    heads = []
    for table in tables:
        own = np.empty((len(table), FIRST_ATTRIBUTE), np.int32)
        for block in table.blocks:
            own[block.rows] = block.ids[:, :FIRST_ATTRIBUTE]
        heads.append(own)
    return list(number_rows(heads)) if heads else []
