"""What ``catalog.toml`` holds, as objects."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from nary.errors import DatasetError, did_you_mean


@dataclass(frozen=True, kw_only=True)
class File:
    """A file by its path relative to the dataset's folder, how to tell that it is the right one, where to get it.

    ``git_blob``, the name git gives the content, stands in where nobody has published a SHA-256.
    """

    path: str
    sha256: str | None = None
    git_blob: str | None = None
    address: str | None = None

    @property
    def verifiable(self) -> bool:
        """Whether the right content is known."""
        return bool(self.sha256 or self.git_blob)


@dataclass(frozen=True, kw_only=True)
class FactFile(File):
    """A file of facts. ``known_defects`` is the number of its lines that are no facts and are to be left out."""

    split: str
    format: str
    first_lines: int | None = None
    known_defects: int = 0


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One way to put a dataset together; ``reason`` says why it is not complete.

    ``restore_from`` names the dataset that has the attributes the files leave out.
    """

    files: tuple[FactFile, ...]
    complete: bool = True
    reason: str = ""
    restore_from: str | None = None


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How large a dataset is, as far as ``source`` says; ``why`` explains, count by count, where ours differ."""

    facts: Mapping[str, int] = field(default_factory=dict)
    entities: int | None = None
    relations: int | None = None
    higher_arity: int | None = None
    arities: tuple[int, ...] = ()
    source: str = ""
    why: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A dataset of the catalog. One without variants comes with Nary."""

    name: str
    description: str
    sources: tuple[str, ...]
    license: str
    citation: str
    notes: tuple[str, ...] = ()
    variants: tuple[Variant, ...] = ()
    labels: File | None = None
    published: Counts | None = None
    counted: Counts | None = None


def names() -> tuple[str, ...]:
    """The names of all datasets, in the order of the catalog."""
    return tuple(_tables())


@cache
def entry(name: str) -> Entry:
    """The dataset called ``name``; an error that lists the nearest names if there is none."""
    if name not in _tables():
        raise DatasetError(f"no dataset is called {name!r}", did_you_mean(name.lower(), names()))
    return from_table(name, _tables()[name])


def from_table(name: str, table: Mapping[str, Any]) -> Entry:
    """An entry as the catalog writes it; an unknown or missing key is a TypeError."""
    rest = dict(table)
    labels, published, counted = (rest.pop(key, None) for key in ("labels", "published", "counted"))
    return Entry(
        name=name,
        variants=tuple(_variant(variant) for variant in rest.pop("variants", ())),
        labels=File(**labels) if labels else None,
        published=_counts(published) if published else None,
        counted=_counts(counted) if counted else None,
        sources=tuple(rest.pop("sources", ())),
        notes=tuple(rest.pop("notes", ())),
        **rest,
    )


def _variant(table: Mapping[str, Any]) -> Variant:
    return Variant(**{**table, "files": tuple(FactFile(**file) for file in table["files"])})


def _counts(table: Mapping[str, Any]) -> Counts:
    return Counts(**{**table, "arities": tuple(table.get("arities", ()))})


@cache
def _tables() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("catalog.toml").read_text(encoding="utf-8"))
