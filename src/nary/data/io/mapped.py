"""Mapped datasets: folders of arrays that stay on the disk and are mapped into memory.

Facts are arrays of ids, as :func:`nary.facts.storage.save_table` writes them, and names are packed. Nothing is parsed,
and processes of one machine share the memory that the files take, so that data may be larger than it.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from nary.data.dataset import SPLITS, Dataset
from nary.data.files import is_folder
from nary.errors import DataError
from nary.facts import Vocabulary
from nary.facts.names import PackedMapping
from nary.facts.storage import check_table, open_names, open_table, save_names, save_table
from nary.files.manifest import MANIFEST, check_manifest, write_manifest
from nary.files.reading import read_bytes

MAPPED = "mapped"
"""The name of the format."""
_DESCRIPTION = "dataset.json"
_FORMAT = 1
_KINDS = ("entities", "relations", "labels-names", "labels", "types-names", "types")
_AGAIN = "Convert the data again: nary convert DATA OUT --to mapped"
_SEPARATOR = "\0"  # between the types of an entity


def is_mapped(path: Path) -> bool:
    """Whether there is a mapped dataset in a folder."""
    return is_folder(path) and (path / _DESCRIPTION).is_file()


def write_mapped(dataset: Dataset, folder: Path) -> None:
    """Write ``dataset`` to an empty folder."""
    vocabulary = dataset.vocabulary
    types = {name: _SEPARATOR.join(each) for name, each in vocabulary.types.items()}
    texts: dict[str, Iterable[str]] = {"entities": vocabulary.entities, "relations": vocabulary.relations}
    for kind, by_name in (("labels", vocabulary.labels), ("types", types)):
        names = sorted(by_name)
        texts |= {f"{kind}-names": names, kind: map(by_name.__getitem__, names)}
    splits = [split for split, table in dataset.splits.items() if len(table)]
    for split in splits:
        save_table(dataset[split], folder / split)
    content = {
        "format": _FORMAT,
        "splits": splits,
        "num_sorted": {kind: save_names(names, folder, kind) for kind, names in texts.items()},
        "prefixes": dict(dataset.prefixes),
    }
    (folder / _DESCRIPTION).write_text(json.dumps(content, indent=1))
    write_manifest(folder)


def open_mapped(path: Path, name: str) -> Dataset:
    """A dataset as :func:`write_mapped` wrote it.

    Kinds and sizes of all files are compared with the manifest, and every number that points into an array is checked.
    ``nary verify`` also compares the checksums.
    """
    try:
        content = json.loads(read_bytes(path / _DESCRIPTION))
        if content["format"] != _FORMAT:
            raise DataError(f"a mapped dataset of format {content['format']}, not {_FORMAT}", _AGAIN, str(path))
        if not check_manifest(path, read=False):
            raise ValueError(f"it has no {MANIFEST}")
        names = {kind: open_names(path, kind, content["num_sorted"][kind]) for kind in _KINDS}
        labels = PackedMapping(names["labels-names"], names["labels"], str)
        types = PackedMapping(names["types-names"], names["types"], _split_types)
        if not content["splits"] or not set(content["splits"]) <= set(SPLITS):
            raise ValueError("it has no splits, or unknown ones")
        splits = {split: open_table(path / split) for split in SPLITS if split in content["splits"]}
        for table in splits.values():
            check_table(table, len(names["entities"]), len(names["relations"]))
        prefixes = {str(prefix): str(iri) for prefix, iri in content["prefixes"].items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, RecursionError) as error:
        raise DataError(f"damaged: {error}", _AGAIN, str(path)) from None
    return Dataset(name, Vocabulary(names["entities"], names["relations"], labels, types), splits, prefixes=prefixes)


def _split_types(text: str) -> tuple[str, ...]:
    return tuple(text.split(_SEPARATOR))
