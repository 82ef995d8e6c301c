"""The content of ``nary datasets``: a list of all datasets, and the details of one."""

from collections.abc import Mapping
from typing import Any

from nary.data.catalog.assemble import load_dataset
from nary.data.catalog.entries import CatalogEntry, DatasetCounts
from nary.data.catalog.locate import Location, find
from nary.data.catalog.registry import catalog_entry, dataset_names
from nary.data.statistics import counts
from nary.progress import Progress, no_progress

COUNTED = ("facts", "entities", "relations", "higher_arity", "arities")


def overview() -> list[dict[str, Any]]:
    """Summarize every dataset, with the counts that are known without reading it."""
    return [_summary(catalog_entry(name)) for name in dataset_names()]


def describe(name: str, progress: Progress = no_progress) -> dict[str, Any]:
    """Describe a dataset: its counts, the published counts, and why the two differ."""
    entry = catalog_entry(name)
    dataset = load_dataset(entry, progress)
    location = find(entry)
    ours = counts(dataset)
    return {
        **ours,
        "description": entry.description,
        "complete": location is None or location.variant.complete,
        "published": _as_dict(entry.published),
        "differences": _differences(ours, entry, location),
        "sources": list(entry.sources),
        "license": entry.license,
        "citation": entry.citation,
        "folder": str(location.folder) if location else None,
        "files": _files(location) if location else [],
        "notes": list(dataset.notes),
    }


def _summary(entry: CatalogEntry) -> dict[str, Any]:
    location = find(entry)
    known = _as_dict(entry.published) | _as_dict(entry.counted)
    return {
        "name": entry.name,
        **{key: known.get(key) for key in COUNTED},
        "here": location is not None or entry.loader is not None,
        "complete": location is None or location.variant.complete,
        "description": entry.description,
    }


def _as_dict(given: DatasetCounts | None) -> dict[str, Any]:
    """Return the counts that are given, and their source."""
    if given is None:
        return {}
    values = {key: value for key in COUNTED if (value := getattr(given, key))}
    values = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
    return values | ({"source": given.source} if given.source else {})


def _differences(ours: Mapping[str, Any], entry: CatalogEntry, location: Location | None) -> list[dict[str, Any]]:
    if entry.published is None:
        return []
    here = dict(ours) | {"arities": tuple(int(arity) for arity in ours["arities"])}
    differences = []
    for key in COUNTED:
        published = getattr(entry.published, key)
        if not published or published == here[key]:
            continue
        why = entry.published.why.get(key, "")
        if location is not None and not location.variant.complete:
            why = "the files here are incomplete"
        differences.append({"count": key, "published": published, "here": here[key], "why": why})
    return differences


def _files(location: Location) -> list[dict[str, Any]]:
    files = zip(location.files(), location.checksums(), strict=True)
    return [{"path": file.path, "sha256": digest, "verified": file.verifiable} for file, digest in files]
