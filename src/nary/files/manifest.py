"""The manifest of a folder: size and SHA-256 of every file in it, so that damage and edits are noticed.

``manifest.json`` covers all files below its folder except those of folders with a manifest of their own. Files are
changed with :func:`updating`. It notes in the manifest what a file is about to become before the file becomes it, so
that a kill at any moment leaves a folder that is as it was, or as it was to be, and known to be so.
"""

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Literal

import orjson
from pydantic import TypeAdapter, ValidationError

from nary.errors import NaryError, OutputError
from nary.files.locks import is_lock
from nary.files.reading import open_regular, read_bytes
from nary.files.writing import atomic_path, is_temporary, remove, sync, temporary_path

MANIFEST = "manifest.json"
_FORMAT = 1
_CHUNK = 1 << 20
State = Literal["ok", "changed", "missing", "not listed"]


class IntegrityError(NaryError):
    """A folder does not hold what its manifest says."""

    kind = "integrity"


@dataclass(frozen=True)
class Entry:
    """What is known about a file. One that ``grows`` has at least ``size`` bytes, and only the first are known."""

    size: int
    sha256: str
    grows: bool = False
    before: str | None = None
    """While it is being replaced: what it was. Empty if it was not there."""


@dataclass(frozen=True)
class _Content:
    format: int
    files: dict[str, Entry]


_CONTENT = TypeAdapter(_Content)


@dataclass(frozen=True)
class FileCheck:
    """A file, by its name relative to the folder, and how it compares with the manifest."""

    name: str
    state: State


def write_manifest(folder: Path) -> None:
    """List every file of a folder as it is now."""
    _write(folder, {name: digest(folder / name) for name in _names(folder)})


def record(folder: Path, names: Iterable[str], grows: bool = False) -> None:
    """List some files as they are now, if the folder has a manifest; ``grows`` if they are only added to."""
    entries = read_manifest(folder)
    if entries is not None:
        present = [name for name in names if (folder / name).is_file()]
        for name in present:
            sync(folder / name)
        _write(folder, {**entries, **{name: replace(digest(folder / name), grows=grows) for name in present}})


def read_manifest(folder: Path) -> dict[str, Entry] | None:
    """The entries of the manifest by name; None if there is no manifest."""
    path = folder / MANIFEST
    try:
        content = _CONTENT.validate_json(read_bytes(path), strict=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        reason = "not a manifest" if isinstance(error, ValidationError) else str(error)
        raise IntegrityError(f"damaged: {reason}", "Get the folder again.", str(path)) from None
    if content.format != _FORMAT:
        raise IntegrityError(f"of format {content.format}, not {_FORMAT}", "Update Nary.", str(path))
    if outside := [name for name in content.files if PurePath(name).is_absolute() or ".." in PurePath(name).parts]:
        raise IntegrityError(f"names a file outside of its folder: {outside[0]!r}", "Get the folder again.", str(path))
    return content.files


def check_manifest(folder: Path, ignore: Collection[str] = (), read: bool = True) -> bool:
    """Compare all files with the manifest; an :class:`IntegrityError` names the first that differs.

    Returns False if there is no manifest. Kinds and sizes of all files are compared before any file is read; without
    ``read`` nothing else is.
    """
    entries = read_manifest(folder)
    if entries is None:
        return False
    listed = {name: entry for name, entry in entries.items() if name not in ignore}
    for content in (False, True) if read else (False,):
        for name, entry in listed.items():
            check_file(folder / name, entry, content)
    return True


def check_file(path: Path, entry: Entry | None, read: bool = True) -> None:
    """Raise an :class:`IntegrityError` unless a file is as its entry says; ``read`` compares the content, too."""
    state = "not listed" if entry is None else _state(path, entry, read)
    if state != "ok":
        reason = {"missing": "missing", "changed": "changed since it was written"}.get(state, f"not in {MANIFEST}")
        hint = "Get the folder again. nary verify FOLDER lists all files, and with --update accepts them as they are."
        raise IntegrityError(reason, hint, str(path))


def verify(folder: Path) -> list[FileCheck]:
    """Compare every file of a folder, and of the folders in it, with its manifest."""
    entries = read_manifest(folder) or {}
    checks = [FileCheck(name, _state(folder / name, entry)) for name, entry in entries.items()]
    checks += [FileCheck(name, "not listed") for name in _names(folder) if name not in entries]
    for inner in _inner_units(folder):
        checks += [replace(check, name=f"{inner}/{check.name}") for check in verify(folder / inner)]
    return sorted(checks, key=lambda check: check.name)


class FolderUpdate:
    """Files of a folder that are to be replaced or removed together."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.new: dict[str, Path] = {}
        self.added: dict[str, Entry] = {}
        self.removed: list[str] = []

    def add(self, name: str, entry: Entry) -> None:
        """List a file that another process has written to the folder."""
        self.added[name] = entry

    def path(self, name: str) -> Path:
        """Where to write the new content of the file called ``name``."""
        return self.new.setdefault(name, temporary_path(self.folder / name))

    def remove(self, name: str) -> None:
        """Remove the file called ``name``."""
        self.removed.append(name)

    def apply(self) -> None:
        """Make the changes, unless something fails before the first."""
        for temporary in self.new.values():
            sync(temporary)
        before = read_manifest(self.folder)
        if before is not None:
            after = {name: entry for name, entry in before.items() if name not in self.removed} | self.added
            for name, temporary in self.new.items():
                after[name] = replace(digest(temporary), grows=name in before and before[name].grows)
            pending = {
                name: replace(after[name], before=_checksum(self.folder / name, before.get(name))) for name in self.new
            }
            _write(self.folder, {**before, **self.added, **pending})
        for name, temporary in self.new.items():
            os.replace(temporary, self.folder / name)  # noqa: PTH105
        sync(self.folder, deep=False)
        if before is not None:
            _write(self.folder, after)
        for name in self.removed:
            remove(self.folder / name)


@contextmanager
def updating(folder: Path) -> Iterator[FolderUpdate]:
    """Change files of a folder together, and its manifest, if it has one, with them."""
    update = FolderUpdate(folder)
    try:
        yield update
        update.apply()
    except OSError as error:
        raise OutputError(
            f"cannot write {folder}: {error.strerror or error}", "What was there before is kept."
        ) from error
    finally:
        for temporary in update.new.values():
            remove(temporary)


def digest(path: Path, size: int | None = None) -> Entry:
    """Size and SHA-256 of a regular file, or of its first ``size`` bytes."""
    checksum, read = hashlib.sha256(), 0
    with open_regular(path) as file:
        while piece := file.read(_CHUNK if size is None else min(_CHUNK, size - read)):
            checksum.update(piece)
            read += len(piece)
    return Entry(read, checksum.hexdigest())


def _state(path: Path, entry: Entry, read: bool = True) -> State:
    if not path.exists():
        return "ok" if entry.before == "" else "missing"
    size = path.stat().st_size if path.is_file() else -1
    as_expected = size >= entry.size if entry.grows else size == entry.size
    if not (as_expected or (entry.before and size >= 0)):
        return "changed"
    if not read:
        return "ok"
    now = digest(path, entry.size if entry.grows else None).sha256
    return "ok" if now in (entry.sha256, entry.before) else "changed"


def _names(folder: Path) -> list[str]:
    """The files that a manifest of ``folder`` covers."""
    names = []
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            if not (path / MANIFEST).exists():
                names += [f"{path.name}/{name}" for name in _names(path)]
        elif path.name != MANIFEST and not is_temporary(path.name) and not is_lock(path.name):
            names.append(path.name)
    return names


def _inner_units(folder: Path) -> list[str]:
    """The folders below ``folder`` that have a manifest of their own, but not those in them."""
    inner: list[str] = []
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            has_manifest = (path / MANIFEST).exists()
            inner += [path.name] if has_manifest else [f"{path.name}/{name}" for name in _inner_units(path)]
    return inner


def _checksum(path: Path, entry: Entry | None) -> str:
    """The SHA-256 of a file as it is now, empty if there is none."""
    if entry is None or entry.before is not None:  # a change was killed: nothing, the old, or the new file is there
        return digest(path).sha256 if path.exists() else ""
    return entry.sha256


def _write(folder: Path, entries: Mapping[str, Entry]) -> None:
    files = {
        name: {key: value for key, value in vars(entry).items() if value is not None and value is not False}
        for name, entry in sorted(entries.items())
    }
    content = orjson.dumps({"format": _FORMAT, "files": files}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    with atomic_path(folder / MANIFEST) as temporary:
        temporary.write_bytes(content)
