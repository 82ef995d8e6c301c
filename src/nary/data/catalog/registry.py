"""The registry of datasets: those of ``catalog.toml``, and those of other packages (entry points ``nary.datasets``).

An entry point refers to a function without arguments that returns a :class:`~nary.data.dataset.Dataset`. The first line
of its docstring is the description of the dataset; :func:`register_dataset` as its decorator adds license and citation.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from nary.data.catalog.entries import CatalogEntry, Loader, from_table
from nary.errors import DatasetError, SettingError, did_you_mean
from nary.registry import Registry

DATASETS: Registry[CatalogEntry | Loader] = Registry("dataset", {})
"""The datasets that are not in ``catalog.toml``."""


def register_dataset(
    name: str, *, description: str = "", license: str = "not stated", citation: str = "not stated"
) -> Callable[[Loader], Loader]:
    """Decorator that registers a function which returns a :class:`~nary.data.dataset.Dataset`.

    ``description`` defaults to the first line of the docstring of the function.
    """
    if any(character in name for character in "./\\"):
        raise SettingError(f"{name!r} cannot be the name of a dataset", "Dots and slashes are reserved for paths.")
    if name in _catalog():
        raise SettingError(f"a dataset named {name!r} exists already", "Choose another name.")

    def add(loader: Loader) -> Loader:
        entry = _entry_of(name, loader)
        DATASETS.register(name)(
            replace(entry, description=description or entry.description, license=license, citation=citation)
        )
        return loader

    return add


def dataset_names() -> tuple[str, ...]:
    """List the names of all datasets: those of the catalog, then all others."""
    return (*_catalog(), *(name for name in DATASETS if name not in _catalog()))


def is_dataset(name: str) -> bool:
    """Whether there is a dataset of that name."""
    return name in _catalog() or name in DATASETS


def catalog_entry(name: str) -> CatalogEntry:
    """Return the description of a dataset; an unknown name is an error that suggests the nearest ones."""
    if name in _catalog():
        return from_table(name, _catalog()[name])
    if name not in DATASETS:
        raise DatasetError(f"no dataset is called {name!r}", did_you_mean(name.lower(), dataset_names()))
    component = DATASETS.get(name)
    return component if isinstance(component, CatalogEntry) else _entry_of(name, component)


def _entry_of(name: str, loader: Loader) -> CatalogEntry:
    first_line = (loader.__doc__ or "").strip().partition("\n")[0]
    return CatalogEntry(name=name, description=first_line, loader=loader)


@cache
def _catalog() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("catalog.toml").read_text(encoding="utf-8"))
