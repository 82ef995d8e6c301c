"""Facts without their qualifiers: what of them a model of triples can see."""

import numpy as np

from nary.data.dataset import Dataset
from nary.data.numbering import number_facts, number_primaries
from nary.facts import FactTable
from nary.facts.layout import FIRST_ATTRIBUTE
from nary.facts.table import Block


def triples_only(dataset: Dataset) -> Dataset:
    """``dataset`` with the primary triple of each fact alone; facts, splits and names stay the same otherwise.

    Two facts may become the same triple: both stay, so that a split has as many facts to rank as before.
    """
    splits = {split: primary_triples(table) for split, table in dataset.splits.items()}
    parts = [f"{len(distinct(table)):,} of {len(table):,} in {split}" for split, table in splits.items()]
    note = f"Qualifiers are left out. Distinct triples: {', '.join(parts)}."
    if {"train", "test"} <= splits.keys():
        train, test = number_primaries([splits["train"], splits["test"]])
        note += f" {np.isin(test, train).sum():,} facts of test are triples of train."
    return dataset.with_splits(splits, note)


def primary_triples(table: FactTable) -> FactTable:
    """The primary triple of each fact, in the order of the facts."""
    ids = np.empty((len(table), FIRST_ATTRIBUTE), np.int32)
    for block in table.blocks:
        ids[block.rows] = block.ids[:, :FIRST_ATTRIBUTE]
    return FactTable([Block(ids, np.arange(len(table)))])


def distinct(table: FactTable) -> FactTable:
    """Every fact once, where it stands first."""
    (numbers,) = number_facts([table])
    return table.take(np.unique(numbers, return_index=True)[1])
