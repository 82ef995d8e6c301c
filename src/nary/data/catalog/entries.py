"""The description of a dataset: its files, source, license, citation and published counts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeAlias

from nary.data.dataset import Dataset

Loader: TypeAlias = Callable[[], Dataset]


@dataclass(frozen=True, kw_only=True)
class File:
    """A file: its path relative to the folder of the dataset, its checksum, and the address to download it from.

    ``git_blob``, the id of the content in git, replaces the SHA-256 where none has been published.
    """

    path: str
    sha256: str | None = None
    git_blob: str | None = None
    address: str | None = None

    @property
    def verifiable(self) -> bool:
        """Whether a checksum is known."""
        return bool(self.sha256 or self.git_blob)


@dataclass(frozen=True, kw_only=True)
class FactFile(File):
    """A file of facts. ``known_defects`` is the number of its lines that are not facts and must be skipped."""

    split: str
    format: str
    first_lines: int | None = None
    known_defects: int = 0


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One way to assemble a dataset from files; ``reason`` explains why it is incomplete.

    ``restore_from`` names the dataset from which missing attributes are restored.
    """

    files: tuple[FactFile, ...]
    complete: bool = True
    reason: str = ""
    restore_from: str | None = None


@dataclass(frozen=True, kw_only=True)
class DatasetCounts:
    """The counts of a dataset according to ``source``; ``why`` explains, count by count, where ours differ."""

    facts: Mapping[str, int] = field(default_factory=dict)
    entities: int | None = None
    relations: int | None = None
    higher_arity: int | None = None
    arities: tuple[int, ...] = ()
    source: str = ""
    why: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CatalogEntry:
    """A dataset by name, either assembled from the files of one of its ``variants`` or returned by ``loader``."""

    name: str
    description: str = ""
    sources: tuple[str, ...] = ()
    license: str = "not stated"
    citation: str = "not stated"
    notes: tuple[str, ...] = ()
    loader: Loader | None = None
    variants: tuple[Variant, ...] = ()
    labels: File | None = None
    published: DatasetCounts | None = None
    counted: DatasetCounts | None = None


def from_table(name: str, table: Mapping[str, Any]) -> CatalogEntry:
    """Parse a table of ``catalog.toml``; an unknown or missing key is a TypeError."""
    if missing := [key for key in ("description", "license", "citation") if key not in table]:
        raise TypeError(f"{name} has no {missing[0]}")
    rest = dict(table)
    loader = rest.pop("loader", None)
    labels, published, counted = (rest.pop(key, None) for key in ("labels", "published", "counted"))
    return CatalogEntry(
        name=name,
        loader=_lazy_loader(loader) if loader else None,
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


def _counts(table: Mapping[str, Any]) -> DatasetCounts:
    return DatasetCounts(**{**table, "arities": tuple(table.get("arities", ()))})


def _lazy_loader(target: str) -> Loader:
    """Return a loader that imports ``module:function`` when it is called."""

    def load() -> Dataset:
        module, _, function = target.partition(":")
        dataset: Dataset = getattr(import_module(module), function)()
        return dataset

    return load
