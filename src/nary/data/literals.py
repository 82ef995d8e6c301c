"""Leaving out literals, which is how WikiPeople- is made from WikiPeople."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nary.data.dataset import Dataset
from nary.facts import FactTable, Vocabulary
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, SUBJECT

MARK = "http://"
"""A name that holds this is a literal: WikiPeople writes dates as ``+1903-00-00T00:00:00Z#...#http://...``."""


def drop_literals(dataset: Dataset) -> Dataset:
    """``dataset`` without literals.

    A fact whose subject or object is a literal is left out; a qualifier whose value is one is left out of its fact,
    which stays at lower arity. Facts that become equal stay, as in the published WikiPeople-.
    """
    is_literal = np.array([MARK in name for name in dataset.vocabulary.entities])
    splits = {split: _without(table, is_literal) for split, table in dataset.splits.items()}
    left_out = sum(map(len, dataset.splits.values())) - sum(map(len, splits.values()))
    note = f"literals left out: {is_literal.sum():,} names, and {left_out:,} facts about them"
    return replace(_renumbered(dataset, splits), notes=(*dataset.notes, note))


def _without(table: FactTable, is_literal: npt.NDArray[np.bool_]) -> FactTable:
    if not len(table):
        return table
    rows, heads, counts, pairs = [], [], [], []
    for block in table.blocks:
        kept = ~is_literal[block.ids[:, [SUBJECT, OBJECT]]].any(axis=1)
        wanted = ~is_literal[block.values[kept]]  # [n, m]
        rows.append(block.rows[kept])
        heads.append(block.ids[kept, :FIRST_ATTRIBUTE])
        counts.append(wanted.sum(axis=1))
        pairs.append(np.stack([block.attributes[kept][wanted], block.values[kept][wanted]], axis=1))
    return FactTable.from_columns(*(np.concatenate(parts) for parts in (heads, counts, pairs, rows)))


def _renumbered(dataset: Dataset, splits: dict[str, FactTable]) -> Dataset:
    """Shrink the vocabulary to the names that are left."""
    old = dataset.vocabulary
    entities, relations = np.zeros(len(old.entities), bool), np.zeros(len(old.relations), bool)
    for table in splits.values():
        for block in table.blocks:
            entities[block.entities] = True
            relations[block.relations] = True
    kept_entities, kept_relations = np.flatnonzero(entities).tolist(), np.flatnonzero(relations).tolist()
    new = Vocabulary(
        tuple(old.entities[i] for i in kept_entities), tuple(old.relations[i] for i in kept_relations), old.labels
    )
    entity_ids, relation_ids = np.cumsum(entities) - 1, np.cumsum(relations) - 1
    tables = {split: table.renumbered(entity_ids, relation_ids) for split, table in splits.items()}
    return replace(dataset, vocabulary=new, splits=tables)
