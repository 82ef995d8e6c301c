"""The known facts that make a rule apply to a query."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nary.facts import layout
from nary.facts.table import Ids
from nary.models.rules.arrays import Ints
from nary.models.rules.scoring import Engine, Matches

Element = tuple[int, int]
"""A slot and what stands in it."""
Row = tuple[int, ...]
"""The ids of a fact [2m+3]."""


def evidence(
    engine: Engine, matches: Matches, rule: int, query: Ints, masked: int, answer: int, limit: int
) -> list[Row]:
    """Up to ``limit`` facts for each step of a rule that names ``answer`` for ``query`` [1, 2m+3].

    Empty if one of the steps is known from the query and its answer alone: a fact does not support itself.
    """
    itself = query[0].copy()
    itself[masked] = answer
    facts: list[Row] = []
    for elements in _steps(engine, matches, rule, query, masked, answer):
        rows = [row for row in rows_with(engine, elements) if row != tuple(itself.tolist())]
        if not rows:
            return []
        facts += rows[:limit]
    return list(dict.fromkeys(facts))


def _steps(
    engine: Engine, matches: Matches, rule: int, query: Ints, masked: int, answer: int
) -> Sequence[tuple[Element, ...]]:
    """The elements that supporting facts have: one set for each fact that the rule needs."""
    columns, edges, features = matches.columns, engine.edges, engine.features
    key = int(engine.tables.rules[matches.kind].key[rule])
    anchors = [int(query[0, column]) for column in columns]
    if matches.kind == "same":
        known = [(int(engine.slots.anchor(query, column, masked)[0]), int(query[0, column])) for column in columns]
        return [((int(engine.slots.target(query, masked)[0]), answer), *known)]
    if matches.kind == "constant":
        feature = key % len(features)
        single = [part for part in features.parts[feature].tolist() if part >= 0] or [feature]
        if features.target[single[0]] < 0:
            return [((int(features.slots[features.type[feature]]), anchors[0]),)]
        edges_ = [_edge(engine, int(features.type[one]), anchors[0], int(features.target[one])) for one in single]
        return [tuple(dict.fromkeys(element for edge in edges_ for element in edge))]
    if matches.kind == "chain":
        first, second = divmod(key % edges.num_types**2, edges.num_types)
        starts = edges.target[(edges.source == anchors[0]) & (edges.type == first)]
        ends = edges.source[(edges.target == answer) & (edges.type == second)]
        middle = int(np.intersect1d(starts, ends)[0])
        return [_edge(engine, first, anchors[0], middle), _edge(engine, second, middle, answer)]
    other = answer if matches.kind == "link" else anchors[1]
    return [_edge(engine, key % edges.num_types, anchors[0], other)]


def _edge(engine: Engine, type_: int, source: int, target: int) -> tuple[Element, Element]:
    first, second = engine.edges.types[type_]
    return (int(first), source), (int(second), target)


def rows_with(engine: Engine, elements: Sequence[Element]) -> list[Row]:
    """The facts that have all ``elements`` in their slots, in the order of the table."""
    rows = []
    for block in engine.facts.blocks:
        ids = block.ids
        for code, element in elements:
            ids = ids[_fits(engine, ids, code, element)]
        rows += [tuple(row) for row in ids.tolist()]
    return rows


def _fits(engine: Engine, ids: Ids, code: int, element: int) -> npt.NDArray[np.bool_]:
    """Which rows of ``ids`` [n, 2m+3] have an element in a slot [n]."""
    m = layout.num_qualifiers(ids.shape[1])
    slot = engine.slots.decode(code)
    fits = np.zeros(len(ids), bool)
    for column, role in enumerate(layout.roles(m)):
        if role is slot.role:
            same = ids[:, column] == element
            if slot.attribute >= 0:
                same &= ids[:, column - m] == slot.attribute
            fits |= same
    return fits & (ids[:, layout.RELATION] == slot.relation) if slot.relation >= 0 else fits
