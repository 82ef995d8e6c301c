"""Simpler versions of a dataset: without qualifiers, or without literals."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nary.data.dataset import Dataset
from nary.data.transforms.duplicates import drop_duplicates, number_triples, triple_ids
from nary.data.transforms.reindex import drop_unused_names
from nary.facts import Block, FactTable
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, SUBJECT
from nary.facts.literal import is_literal
from nary.wording import counted

LITERAL_MARK = "http://"
"""Names that contain this are literals, too: WikiPeople writes dates as ``+1903-00-00T00:00:00Z#...#http://...``."""


def drop_qualifiers(dataset: Dataset) -> Dataset:
    """Reduce each fact to its primary triple; facts, splits and vocabulary stay the same otherwise.

    Facts that become the same triple are all kept, so that every split has as many facts to rank as before.
    """
    splits = {split: primary_triples(table) for split, table in dataset.splits.items()}
    sizes = [f"{len(drop_duplicates(table)):,} of {len(table):,} in {split}" for split, table in splits.items()]
    note = f"Qualifiers are left out. Distinct triples: {', '.join(sizes)}."
    if {"train", "test"} <= splits.keys():
        train, test = number_triples([splits["train"], splits["test"]])
        leaked = counted(int(np.isin(test, train).sum()), "fact of test is a triple", "facts of test are triples")
        note += f" {leaked} of train."
    return dataset.with_splits(splits, note)


def primary_triples(table: FactTable) -> FactTable:
    """Return the primary triple of each fact, in the order of the facts."""
    return FactTable([Block(triple_ids(table), np.arange(len(table)))])


def drop_literals(dataset: Dataset) -> Dataset:
    """Drop all literals, which turns WikiPeople into WikiPeople-.

    A fact whose subject or object is a literal is dropped; a qualifier whose value is one is removed from its fact,
    which is kept with a lower arity. Facts that become equal are all kept, as in the published WikiPeople-.
    """
    dropped = np.array([LITERAL_MARK in name or is_literal(name) for name in dataset.vocabulary.entities])
    splits = {split: _without_literals(table, dropped) for split, table in dataset.splits.items()}
    num_dropped = sum(map(len, dataset.splits.values())) - sum(map(len, splits.values()))
    note = f"literals dropped: {counted(int(dropped.sum()), 'name')}, and {counted(num_dropped, 'fact')} about them"
    vocabulary, splits = drop_unused_names(dataset.vocabulary, splits)
    return replace(dataset, vocabulary=vocabulary, splits=splits, notes=(*dataset.notes, note))


def _without_literals(table: FactTable, dropped: npt.NDArray[np.bool_]) -> FactTable:
    if not len(table):
        return table
    rows, heads, counts, pairs = [], [], [], []
    for block in table.blocks:
        kept = ~dropped[block.ids[:, [SUBJECT, OBJECT]]].any(axis=1)
        kept_pairs = ~dropped[block.values[kept]]  # [n, m]
        rows.append(block.rows[kept])
        heads.append(block.ids[kept, :FIRST_ATTRIBUTE])
        counts.append(kept_pairs.sum(axis=1))
        pairs.append(np.stack([block.attributes[kept][kept_pairs], block.values[kept][kept_pairs]], axis=1))
    return FactTable.from_columns(*(np.concatenate(parts) for parts in (heads, counts, pairs, rows)))
