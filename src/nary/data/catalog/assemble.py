"""Loading a dataset from its description: with its loader, from the cache, or from its files.

The files of WikiPeople-3 and -4 contain the relation and the entities of each fact, but not its attributes. All these
facts are in WikiPeople, so the attributes are restored from there.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from nary.data.catalog import cache
from nary.data.catalog.entries import CatalogEntry
from nary.data.catalog.locate import Location, locate
from nary.data.catalog.registry import catalog_entry
from nary.data.dataset import Dataset
from nary.data.transforms.duplicates import number_facts
from nary.data.transforms.reindex import drop_unused_names, translate
from nary.errors import DatasetError
from nary.facts import Block, FactTable
from nary.facts.layout import RELATION
from nary.facts.table import Ids, Rows, number_rows
from nary.progress import Progress, no_progress


def load_dataset(entry: CatalogEntry, progress: Progress = no_progress) -> Dataset:
    """Load the dataset that ``entry`` describes."""
    if entry.loader is not None:
        return _call_loader(entry)
    location = locate(entry, progress)
    base = location.variant.restore_from
    locations = [location, locate(catalog_entry(base), progress)] if base else [location]
    sources = [part for each in locations for part in (repr(each.variant), *each.checksums())]
    folder = cache.cache_folder(entry.name, sources)
    dataset = cache.load(entry.name, folder)
    if dataset is None:
        dataset = _read(location, progress)
        cache.save(dataset, folder)
    notes = entry.notes if location.variant.complete else (location.variant.reason, *entry.notes)
    return replace(dataset, notes=notes)


def _call_loader(entry: CatalogEntry) -> Dataset:
    """Call the loader of a dataset; the result gets the registered name, by which recipes refer to it."""
    dataset = entry.loader() if entry.loader else None
    if not isinstance(dataset, Dataset):
        raise DatasetError(
            f"the loader of {entry.name} returned {type(dataset).__name__}, not a Dataset",
            "Return nary.read(...) or Dataset.from_facts(...).",
        )
    return replace(dataset, name=entry.name, notes=(*dataset.notes, *entry.notes))


def _read(location: Location, progress: Progress) -> Dataset:
    from nary.data.io.reader import InputFile, read_files, read_labels  # imports polars, which a cached dataset omits

    variant, paths = location.variant, location.files()
    inputs = [InputFile(paths[file], file.split, file.format, file.first_lines) for file in variant.files]
    on_error = "skip" if any(file.known_defects for file in variant.files) else "stop"
    dataset, reports = read_files(location.entry.name, inputs, on_error=on_error, progress=progress)
    for file, report in zip(variant.files, reports, strict=True):
        if (skipped := sum(report.skipped.values())) != file.known_defects:
            raise DatasetError(
                f"{skipped} lines that are not facts, expected {file.known_defects}",
                "Get the file again.",
                report.source,
            )
    if variant.restore_from:
        dataset = restore_attributes(dataset, load_dataset(catalog_entry(variant.restore_from), progress))
    if "context" in dataset.splits:
        dataset = replace(dataset, splits={**dataset.splits, "context": _context_without_train(dataset)})
    return _with_labels(dataset, read_labels(location.labels) if location.labels else {})


def _context_without_train(dataset: Dataset) -> FactTable:
    """Drop the facts of the context that are also in train."""
    train, context = number_facts([dataset.train, dataset["context"]])
    return dataset["context"].take(np.flatnonzero(~np.isin(context, train)))


def _with_labels(dataset: Dataset, labels: Mapping[str, str]) -> Dataset:
    """Add the labels of the names in use; a file of labels may serve several datasets."""
    names = (*dataset.vocabulary.entities, *dataset.vocabulary.relations)
    used = {name: labels[name] for name in names if name in labels}
    return replace(dataset, vocabulary=replace(dataset.vocabulary, labels=used))


def restore_attributes(dataset: Dataset, full: Dataset) -> Dataset:
    """Replace the facts of ``dataset`` by those of ``full`` with the same relation, subject, object and set of values.

    If several facts of ``full`` match, the last one is taken.
    """
    relations = translate(dataset.vocabulary.relations, full.vocabulary.relation_ids).astype(np.int32)
    entities = translate(dataset.vocabulary.entities, full.vocabulary.entity_ids).astype(np.int32)
    full_blocks = {block.arity: block for block in full.facts.blocks}
    splits = {}
    for split, table in dataset.splits.items():
        blocks = []
        for block in table.blocks:
            keys = _match_keys(relations[block.ids[:, RELATION]], entities[block.entities])
            rows = _find_rows(keys, full_blocks.get(block.arity))
            if (rows < 0).any():
                _report_missing(dataset, split, int(block.rows[np.argmin(rows)]), full.name)
            blocks.append(Block(full_blocks[block.arity].ids[rows], block.rows))
        splits[split] = FactTable(blocks)
    vocabulary, splits = drop_unused_names(full.vocabulary, splits)
    return Dataset(dataset.name, vocabulary, splits)


def _match_keys(relations: Ids, entities: Ids) -> Ids:
    """Return relation, subject, object and sorted values of each fact, [n, 1 + number of entities]."""
    return np.concatenate([relations[:, None], entities[:, :2], np.sort(entities[:, 2:], axis=1)], axis=1)


def _find_rows(keys: Ids, block: Block | None) -> Rows:
    """Return the row of ``block`` that has each key, -1 where there is none."""
    if block is None:
        return np.full(len(keys), -1)
    key_numbers, block_numbers = number_rows([keys, _match_keys(block.ids[:, RELATION], block.entities)])
    row_of = np.full(1 + max(key_numbers.max(), block_numbers.max()), -1)
    row_of[block_numbers] = np.arange(len(block_numbers))  # of equal keys the last one is kept
    return row_of[key_numbers]


def _report_missing(dataset: Dataset, split: str, row: int, full: str) -> None:
    missing = next(dataset[split].take(np.array([row])).facts(dataset.vocabulary))
    raise DatasetError(
        f"a {split} fact of {dataset.name} is not in {full}: {missing}",
        f"The attributes of {dataset.name} are restored from {full}; check the files of both.",
    )
