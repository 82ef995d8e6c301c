"""What ``nary datasets`` tells: what there is, and one dataset beside what was published about it."""

from collections.abc import Mapping
from typing import Any

from nary.data.catalog.entries import Counts, Entry, entry, names
from nary.data.catalog.locate import Location, find
from nary.data.load import load_entry
from nary.data.statistics import counts
from nary.progress import Progress, no_progress

COUNTED = ("facts", "entities", "relations", "higher_arity", "arities")


def overview() -> list[dict[str, Any]]:
    """Every dataset of the catalog in a few words; counts as known without reading it."""
    return [_brief(entry(name)) for name in names()]


def describe(name: str, progress: Progress = no_progress) -> dict[str, Any]:
    """A dataset: what its files hold, what was published, how and why the two differ."""
    described = entry(name)
    dataset = load_entry(described, progress)
    location = find(described)
    ours = counts(dataset)
    return {
        **ours,
        "description": described.description,
        "complete": location is None or location.variant.complete,
        "published": _as_dict(described.published),
        "differences": _differences(ours, described, location),
        "sources": list(described.sources),
        "license": described.license,
        "citation": described.citation,
        "folder": str(location.folder) if location else None,
        "files": _files(location) if location else [],
        "notes": list(dataset.notes),
    }


def _brief(described: Entry) -> dict[str, Any]:
    location = find(described)
    known = _as_dict(described.published) | _as_dict(described.counted)
    if not described.variants:
        ours = counts(load_entry(described))
        known = {key: ours[key] for key in COUNTED} | {"arities": [int(arity) for arity in ours["arities"]]}
    return {
        "name": described.name,
        **{key: known.get(key) for key in COUNTED},
        "here": location is not None or not described.variants,
        "complete": location is None or location.variant.complete,
        "description": described.description,
    }


def _as_dict(known: Counts | None) -> dict[str, Any]:
    """What is known of ``known``, and its source."""
    if known is None:
        return {}
    found = {key: value for key in COUNTED if (value := getattr(known, key))}
    found = {key: list(value) if isinstance(value, tuple) else value for key, value in found.items()}
    return found | ({"source": known.source} if known.source else {})


def _differences(ours: Mapping[str, Any], described: Entry, location: Location | None) -> list[dict[str, Any]]:
    if described.published is None:
        return []
    here = dict(ours) | {"arities": tuple(int(arity) for arity in ours["arities"])}
    found = []
    for key in COUNTED:
        published = getattr(described.published, key)
        if not published or published == here[key]:
            continue
        why = described.published.why.get(key, "")
        if location is not None and not location.variant.complete:
            why = "the files here are incomplete"
        found.append({"count": key, "published": published, "here": here[key], "why": why})
    return found


def _files(location: Location) -> list[dict[str, Any]]:
    files = zip(location.files(), location.checksums(), strict=True)
    return [{"path": file.path, "sha256": digest, "verified": file.verifiable} for file, digest in files]
