"""Adding facts to a dataset: known names keep their ids, new names get the next ones."""

from typing import NamedTuple

import numpy as np

from nary.data.dataset import Dataset
from nary.data.transforms.duplicates import drop_duplicates, number_facts
from nary.data.transforms.reindex import translate
from nary.facts import FactTable


class GrownDataset(NamedTuple):
    """A dataset with more facts."""

    dataset: Dataset
    added: FactTable
    """The facts that are new, with the ids of the dataset."""
    stored: int
    """How many of the given facts the dataset had already, or were given twice."""


def add_facts(dataset: Dataset, more: Dataset, split: str = "train") -> GrownDataset:
    """``dataset`` with the facts of all splits of ``more`` in ``split``; facts of any split are not added again."""
    vocabulary = dataset.vocabulary.with_names(more.vocabulary)
    entities = translate(more.vocabulary.entities, vocabulary.entity_ids)
    relations = translate(more.vocabulary.relations, vocabulary.relation_ids)
    given = drop_duplicates(more.facts.renumbered(entities, relations))
    stored, numbers = number_facts([dataset.facts, given])
    added = given.take(np.flatnonzero(~np.isin(numbers, stored)))
    splits = {**dataset.splits, split: FactTable.concatenate([dataset[split], added])}
    grown = Dataset(dataset.name, vocabulary, splits, dataset.notes)
    return GrownDataset(grown, added, len(more.facts) - len(added))
