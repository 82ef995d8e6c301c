"""Parsed datasets kept on disk, so that a file is parsed once.

A dataset is kept under a key made of everything its facts depend on, so it never goes stale. What is kept is checked
when it is opened; whatever is wrong with it, or with the folder, the answer is to parse again.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from nary.data.catalog.checksums import sha256
from nary.data.catalog.locate import cache_home
from nary.data.dataset import Dataset
from nary.data.files import atomic_path
from nary.errors import DataError, OutputError
from nary.facts.storage import load_vocabulary, open_table, save_table, save_vocabulary
from nary.version import __version__

FORMAT = 1
"""To be raised when the same files give other facts, or the files below change."""

_CONTENTS, _VOCABULARY = "contents.json", "vocabulary.json"


def folder_of(name: str, sources: Iterable[str]) -> Path:
    """Where the dataset made from ``sources`` (checksums, and what else its facts depend on) is kept."""
    key = hashlib.sha256("\n".join([str(FORMAT), __version__, *sources]).encode()).hexdigest()
    return cache_home() / "tables" / f"{name}-{key[:32]}"


def load(name: str, folder: Path) -> Dataset | None:
    """The dataset kept in ``folder``, its tables mapped into memory, or None if there is no sound one."""
    try:
        contents = json.loads((folder / _CONTENTS).read_bytes())
        if any(sha256(folder / path) != digest for path, digest in contents["files"].items()):
            return None
        splits = {split: open_table(folder / split) for split in contents["splits"]}
        return Dataset(name, load_vocabulary(folder / _VOCABULARY), splits)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, DataError):
        return None


def save(dataset: Dataset, folder: Path) -> None:
    """Keep ``dataset`` in ``folder``, if that can be written."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OutputError), atomic_path(folder) as temporary:
        for split, table in dataset.splits.items():
            save_table(table, temporary / split)
        save_vocabulary(dataset.vocabulary, temporary / _VOCABULARY)
        files = [path for path in sorted(temporary.rglob("*")) if path.is_file()]
        digests = {path.relative_to(temporary).as_posix(): sha256(path) for path in files}
        contents = {"splits": list(dataset.splits), "files": digests}
        (temporary / _CONTENTS).write_text(json.dumps(contents, indent=1))
