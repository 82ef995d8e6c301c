"""Giving facts back the attribute names that their files leave out.

The files of WikiPeople-3 and -4 hold the relation and the entities of each fact, but not its attributes. As every such
fact stands in WikiPeople, they are taken from there.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from nary.data.dataset import Dataset
from nary.errors import DatasetError
from nary.facts import Block, FactTable, Vocabulary
from nary.facts.layout import RELATION
from nary.facts.table import Ids, Rows, number_rows


def restore(dataset: Dataset, full: Dataset) -> Dataset:
    """The facts of ``dataset`` as they stand in ``full``, found by relation, subject, object and sorted values.

    Where several facts of ``full`` fit, the last one counts.
    """
    relations = _translation(dataset.vocabulary.relations, full.vocabulary.relation_ids)
    entities = _translation(dataset.vocabulary.entities, full.vocabulary.entity_ids)
    known = {block.arity: block for block in full.facts.blocks}
    splits = {}
    for split, table in dataset.splits.items():
        blocks = []
        for block in table.blocks:
            wanted = _keys(relations[block.ids[:, RELATION]], entities[block.entities])
            places = _find(wanted, known.get(block.arity))
            if (places < 0).any():
                _report_missing(dataset, split, int(block.rows[np.argmin(places)]), full.name)
            blocks.append(Block(known[block.arity].ids[places], block.rows))
        splits[split] = FactTable(blocks)
    vocabulary, splits = _without_unused(full.vocabulary, splits)
    return Dataset(dataset.name, vocabulary, splits)


def _translation(names: Sequence[str], ids: Mapping[str, int]) -> Ids:
    """The other vocabulary's id of each name; -1, which no fact has, where it has none."""
    return np.array([ids.get(name, -1) for name in names], np.int32)


def _keys(relations: Ids, entities: Ids) -> Ids:
    """What a fact is found by: relation, subject, object and sorted values, [n, 1+n_entities]."""
    return np.concatenate([relations[:, None], entities[:, :2], np.sort(entities[:, 2:], axis=1)], axis=1)


def _find(wanted: Ids, block: Block | None) -> Rows:
    """The row of ``block`` that has each key, -1 where none has."""
    if block is None:
        return np.full(len(wanted), -1)
    numbers, own = number_rows([wanted, _keys(block.ids[:, RELATION], block.entities)])
    row_of = np.full(1 + max(numbers.max(), own.max()), -1)
    row_of[own] = np.arange(len(own))  # of equal keys the last one stays
    return row_of[numbers]


def _report_missing(dataset: Dataset, split: str, row: int, full: str) -> None:
    lost = next(dataset[split].take(np.array([row])).facts(dataset.vocabulary))
    raise DatasetError(
        f"a {split} fact of {dataset.name} is not in {full}: {lost}",
        f"The attributes of {dataset.name} are taken from {full}; check the files of both.",
    )


def _without_unused(vocabulary: Vocabulary, splits: Mapping[str, FactTable]) -> tuple[Vocabulary, dict[str, FactTable]]:
    blocks = [block for table in splits.values() for block in table.blocks]
    entities = np.unique(np.concatenate([block.entities.ravel() for block in blocks]))
    relations = np.unique(np.concatenate([block.relations.ravel() for block in blocks]))
    smaller = Vocabulary(
        tuple(vocabulary.entities[i] for i in entities), tuple(vocabulary.relations[i] for i in relations)
    )
    return smaller, {
        split: FactTable([_renumbered(block, entities, relations) for block in table.blocks])
        for split, table in splits.items()
    }


def _renumbered(block: Block, entities: Ids, relations: Ids) -> Block:
    """Ids as places among those in use, which keeps their order and so the order of qualifiers."""
    ids = np.searchsorted(relations, block.ids).astype(np.int32)
    ids[:, block.entity_columns] = np.searchsorted(entities, block.entities)
    return Block(ids, block.rows)
