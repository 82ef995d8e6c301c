"""Datasets by name, and whatever else a user may mean by DATA."""

import os
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from nary.data import catalog
from nary.data.catalog import Entry, cache
from nary.data.catalog.locate import Location, locate
from nary.data.catalog.restore import restore
from nary.data.dataset import Dataset
from nary.data.numbering import number_facts
from nary.data.splits import hold_out
from nary.errors import DatasetError, did_you_mean
from nary.facts import FactTable
from nary.progress import Progress, no_progress


def load(name: str, *, valid_fraction: float | None = None, progress: Progress = no_progress) -> Dataset:
    """A dataset of the catalog (see ``nary datasets``).

    ``valid_fraction`` holds that share of train out as valid, for a dataset that has none; for jf17k the literature
    takes 0.2.
    """
    dataset = load_entry(catalog.entry(name), progress)
    return dataset if valid_fraction is None else with_valid(dataset, valid_fraction)


def with_valid(dataset: Dataset, share: float) -> Dataset:
    """``dataset`` with a share of train, always the same, held out as valid."""
    if "valid" in dataset.splits:
        raise DatasetError(f"{dataset.name} has a valid split of its own", "Leave valid_fraction out.")
    train, valid = hold_out(dataset.train, share)
    if not len(valid):
        raise DatasetError(
            f"no fact of {dataset.name} can be held out as valid",
            "Each has an element that no other fact of train has. Give a valid split, or leave valid_fraction out.",
        )
    splits = {"train": train, "valid": valid, **{s: table for s, table in dataset.splits.items() if s != "train"}}
    note = f"{len(valid):,} facts (share {share}, seed 0) of train are held out as valid."
    return dataset.with_splits(splits, note)


def resolve(
    data: str, *, format: str | None = None, on_error: str = "stop", progress: Progress = no_progress
) -> Dataset:
    """What a user means by ``data``: a dataset's name, a file of facts, ``-`` for standard input, or a folder.

    A name wins over a file of the same name: write ``./name`` for the file. ``format`` and ``on_error`` are for files.
    """
    if data in catalog.names():
        return load(data, progress=progress)
    # not Path.exists, which raises for a name that is too long to be one
    if not (data == "-" or any(mark in data for mark in "./\\") or os.path.exists(data)):  # noqa: PTH110
        raise DatasetError(
            f"no dataset is called {data!r}, and no such file or folder exists",
            did_you_mean(data.lower(), catalog.names()),
        )
    from nary.data.reading import read  # brings polars, which a cached dataset does not need

    return read(data, format=format, on_error=on_error, progress=progress)


def load_entry(entry: Entry, progress: Progress = no_progress) -> Dataset:
    """The dataset an entry of the catalog describes, from the cache if it has been read before."""
    if not entry.variants:
        from nary.data import nobel

        return nobel.dataset()
    location = locate(entry, progress)
    base = location.variant.restore_from
    read = [location, locate(catalog.entry(base), progress)] if base else [location]
    folder = cache.folder_of(entry.name, [part for one in read for part in (repr(one.variant), *one.checksums())])
    dataset = cache.load(entry.name, folder)
    if dataset is None:
        dataset = _read(location, progress)
        cache.save(dataset, folder)
    notes = entry.notes if location.variant.complete else (location.variant.reason, *entry.notes)
    return replace(dataset, notes=notes)


def _read(location: Location, progress: Progress) -> Dataset:
    from nary.data.reading import Input, read_files, read_labels

    name, variant = location.entry.name, location.variant
    paths = location.files()
    inputs = [Input(paths[file], file.split, file.format, file.first_lines) for file in variant.files]
    on_error = "skip" if any(file.known_defects for file in variant.files) else "stop"
    dataset, reports = read_files(name, inputs, on_error=on_error, progress=progress)
    for file, report in zip(variant.files, reports, strict=True):
        if (skipped := sum(report.skipped.values())) != file.known_defects:
            raise DatasetError(
                f"{skipped} lines that are no facts, expected {file.known_defects}",
                "Get the file again.",
                report.source,
            )
    if variant.restore_from:
        dataset = restore(dataset, load(variant.restore_from, progress=progress))
    if "context" in dataset.splits:
        dataset = replace(dataset, splits={**dataset.splits, "context": _only_context(dataset)})
    labels = read_labels(location.labels) if location.labels else {}
    return _with_labels(dataset, labels)


def _only_context(dataset: Dataset) -> FactTable:
    """The facts of the context that are not in train anyway."""
    train, context = number_facts([dataset.train, dataset["context"]])
    return dataset["context"].take(np.flatnonzero(~np.isin(context, train)))


def _with_labels(dataset: Dataset, labels: Mapping[str, str]) -> Dataset:
    """With the labels of its own names; a file of labels may serve several datasets."""
    names = (*dataset.vocabulary.entities, *dataset.vocabulary.relations)
    own = {name: labels[name] for name in names if name in labels}
    return replace(dataset, vocabulary=replace(dataset.vocabulary, labels=own))
