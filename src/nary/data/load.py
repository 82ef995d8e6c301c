"""Loading a dataset by name, or from whatever a user gives as DATA."""

import os

from nary.data.catalog import catalog_entry, dataset_names, is_dataset
from nary.data.catalog.assemble import load_dataset
from nary.data.dataset import Dataset
from nary.data.transforms.splits import hold_out_valid
from nary.errors import DatasetError, did_you_mean
from nary.progress import Progress, no_progress


def load(name: str, *, valid_fraction: float | None = None, progress: Progress = no_progress) -> Dataset:
    """Load a dataset by name; ``nary datasets`` lists the names.

    ``valid_fraction`` holds out that fraction of train as valid, for datasets without a valid split; the literature
    uses 0.2 for jf17k.
    """
    dataset = load_dataset(catalog_entry(name), progress)
    return dataset if valid_fraction is None else hold_out_valid(dataset, valid_fraction)


def resolve(
    data: str, *, format: str | None = None, on_error: str = "stop", progress: Progress = no_progress
) -> Dataset:
    """Load ``data``: the name of a dataset, a file of facts, ``-`` for standard input, or a folder.

    A name takes precedence over a file of the same name: write ``./name`` for the file. ``format`` and ``on_error``
    apply to files.
    """
    is_path = data == "-" or any(character in data for character in "./\\")
    if not is_path and is_dataset(data):
        return load(data, progress=progress)
    if not is_path and not os.path.exists(data):  # noqa: PTH110 (Path.exists raises for names that are too long)
        raise DatasetError(
            f"no dataset is called {data!r}, and no such file or folder exists",
            did_you_mean(data.lower(), dataset_names()),
        )
    from nary.data.io.reader import read  # imports polars, which a cached dataset does not need

    return read(data, format=format, on_error=on_error, progress=progress)
