"""One process at a time: locks on a folder or on an output file.

The system releases the lock of a process that ends, however it ends: a lock file that is left behind blocks nobody.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from nary.errors import OutputError
from nary.files.writing import clean

_FOLDER_LOCK = ".lock"


class LockedError(OutputError):
    """Another process is writing there."""

    kind = "locked"


@contextmanager
def folder_lock(folder: Path, wait: float = 0.0) -> Iterator[Path]:
    """Hold the lock of a folder and yield its file; if another process holds it, give up after ``wait`` seconds.

    What killed processes have left in the folder is removed, also if nothing is written there afterwards.
    """
    with _lock(folder / _FOLDER_LOCK, folder, wait) as path:
        clean(folder)
        yield path


@contextmanager
def file_lock(path: Path, wait: float = 0.0) -> Iterator[Path]:
    """Hold the lock of an output file, which need not exist."""
    with _lock(path.with_name(f".{path.name}{_FOLDER_LOCK}"), path, wait) as lock:
        yield lock


def is_lock(name: str) -> bool:
    """Whether a file of this name is a lock."""
    return name.startswith(".") and name.endswith(_FOLDER_LOCK)


@contextmanager
def _lock(path: Path, what: Path, wait: float) -> Iterator[Path]:
    lock = FileLock(path, timeout=wait, mode=0o666)
    try:
        path.parent.stat()  # the library would make the folder
        lock.acquire()
    except Timeout:
        raise LockedError(f"{what} is in use by another process", "Wait until that has ended, or end it.") from None
    except OSError as error:
        raise OutputError(f"cannot write {what}: {error.strerror or error}", "Nothing was changed there.") from None
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)  # a process that has it open notices that it is gone, and tries again
        lock.release()
