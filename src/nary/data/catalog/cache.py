"""A cache of parsed datasets on disk, so that files are parsed only once.

The key of a dataset is a hash of everything its facts depend on, so an entry never becomes stale. Entries are verified
when they are loaded; a damaged entry counts as a missing one, and errors of writing are ignored.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from nary.data.catalog.locate import cache_home, sha256
from nary.data.dataset import Dataset
from nary.errors import DataError, OutputError
from nary.facts.storage import load_vocabulary, open_table, save_table, save_vocabulary
from nary.files.writing import atomic_path
from nary.version import __version__

FORMAT = 1
"""Increase this when parsing the same files gives other facts, or when the layout of the folder changes."""

_CONTENTS, _VOCABULARY = "contents.json", "vocabulary.json"


def cache_folder(name: str, sources: Iterable[str]) -> Path:
    """Return the folder of a dataset made from ``sources``: checksums, and whatever else its facts depend on."""
    key = hashlib.sha256("\n".join([str(FORMAT), __version__, *sources]).encode()).hexdigest()
    return cache_home() / "tables" / f"{name}-{key[:32]}"


def load(name: str, folder: Path) -> Dataset | None:
    """Load a dataset from the cache, its tables memory-mapped; None if it is missing or damaged."""
    try:
        contents = json.loads((folder / _CONTENTS).read_bytes())
        if any(sha256(folder / path) != digest for path, digest in contents["files"].items()):
            return None
        splits = {split: open_table(folder / split) for split in contents["splits"]}
        return Dataset(name, load_vocabulary(folder / _VOCABULARY), splits)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, DataError):
        return None


def save(dataset: Dataset, folder: Path) -> None:
    """Save ``dataset`` in ``folder``, if that can be written."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OutputError), atomic_path(folder) as temporary:
        for split, table in dataset.splits.items():
            save_table(table, temporary / split)
        save_vocabulary(dataset.vocabulary, temporary / _VOCABULARY)
        files = [path for path in sorted(temporary.rglob("*")) if path.is_file()]
        digests = {path.relative_to(temporary).as_posix(): sha256(path) for path in files}
        contents = {"splits": list(dataset.splits), "files": digests}
        (temporary / _CONTENTS).write_text(json.dumps(contents, indent=1))
