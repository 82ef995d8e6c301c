"""Telling whether a file is the one the catalog means."""

import hashlib
from pathlib import Path

from nary.data.catalog.entries import File
from nary.errors import DatasetError


def sha256(path: Path) -> str:
    """The SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def git_blob(path: Path) -> str:
    """The name git gives a file's content: the SHA-1 of a header with its size, and the content."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: digest).hexdigest()


def checked(file: File, path: Path, place: str, hint: str) -> str:
    """The SHA-256 of what is at ``path``, if that is ``file``; errors call it ``place``."""
    try:
        found = sha256(path)
        wrong = [("SHA-256", file.sha256, found)] if file.sha256 not in (None, found) else []
        if file.git_blob is not None and (blob := git_blob(path)) != file.git_blob:
            wrong.append(("git blob id", file.git_blob, blob))
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror}", hint, place) from None
    for kind, expected, other in wrong:
        raise DatasetError(f"is damaged or another file: its {kind} is {other}, expected {expected}", hint, place)
    return found
