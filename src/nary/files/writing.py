"""Writing files and folders whole or not at all, even if the process is killed or the machine loses power.

Content goes to a temporary name in the same folder, is flushed to the disk, and is then renamed. Temporary files that
killed processes have left behind are removed by the next one that writes there.
"""

import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from platform import node
from typing import IO

from nary.errors import OutputError

_HOST = hashlib.sha256(node().encode()).hexdigest()[:8]
_TEMPORARY = re.compile(r"\.nary-([0-9a-f]{8})-(\d+)-\d+-")
_LONGEST_TAIL = 40  # characters of a name that a temporary one keeps, at its end
_FORGOTTEN = 86_400.0  # seconds after which temporary files of another machine count as left behind
_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
_numbers = count()


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write a file or a folder to, which replaces ``path`` on success.

    It has the extensions of ``path``, so that code which depends on them works alike. On failure nothing is left behind
    and ``path`` is unchanged. Links are followed, and an existing file keeps its mode. A folder can only replace an
    empty folder. Standard output and error can be written to; other devices and pipes are refused.
    """
    with reporting(path):
        stream = _stream_number(path)
        if stream is not None:
            with _to_stream(stream, path.name) as temporary:
                yield temporary
            return
        target = resolve_output(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = temporary_path(target)
        try:
            yield temporary
            with suppress(FileNotFoundError):
                if not target.is_dir():
                    temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            sync(temporary)
            os.replace(temporary, target)  # noqa: PTH105 (Path.replace would hide that this is the atomic step)
            sync(target.parent, deep=False)
        finally:
            remove(temporary)


def append(path: Path, content: bytes) -> None:
    """Add to the end of a regular file, which is created if there is none; a link is not followed."""
    with reporting(path, "What was saved before is kept."):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        with os.fdopen(descriptor, "ab") as file:
            check_regular(path, os.fstat(descriptor).st_mode)
            file.write(content)


def write_all(file: IO[bytes], content: bytes) -> None:
    """Write to a file without a buffer, which may take only a part at once, as it does when a disk becomes full."""
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]


def temporary_path(target: Path) -> Path:
    """A new temporary name beside ``target``; what killed processes have left there is removed."""
    clean(target.parent)
    return target.with_name(f".nary-{_HOST}-{os.getpid()}-{next(_numbers)}-{target.name[-_LONGEST_TAIL:]}")


def clean(folder: Path) -> None:
    """Remove the temporary files of killed processes from a folder."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith(".nary-") and _is_left_behind(Path(entry.path)):
                remove(Path(entry.path))


def is_temporary(name: str) -> bool:
    """Whether a file of this name is being written, or was left behind."""
    return _TEMPORARY.match(name) is not None


def sync(path: Path, deep: bool = True) -> None:
    """Wait until a file, or a folder with (if ``deep``) everything in it, is on the disk."""
    if path.is_dir():
        if os.name != "posix":  # folders cannot be flushed elsewhere
            return
        for inner in path.iterdir() if deep else ():
            sync(inner)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a file or folder, if that can be done."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def resolve_output(path: Path) -> Path:
    """Where to write: links are followed, and what is neither a file nor a folder is refused."""
    target = Path(os.path.realpath(path))
    if not target.name:
        raise OutputError(f"cannot write {path}: it is a folder", "Give the name of a file.")
    with suppress(FileNotFoundError, NotADirectoryError):
        check_regular(path, target.stat().st_mode)
    return target


def check_regular(path: Path, mode: int) -> None:
    """Refuse to write to what is neither a file nor a folder; ``mode`` as ``os.stat`` has it."""
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OutputError(f"cannot write {path}: it is a device or a pipe", "Give the name of a file.")


@contextmanager
def reporting(path: Path, hint: str = "Nothing was changed there.") -> Iterator[None]:
    """Turn errors of the system into an :class:`OutputError` about ``path``."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}", hint) from error


def _stream_number(path: Path) -> int | None:
    """The file descriptor that a path such as ``/dev/stdout`` stands for."""
    text = str(path)
    number = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d{1,6})", text)
    return int(number[1]) if number else _STREAMS.get(text)


@contextmanager
def _to_stream(number: int, name: str) -> Iterator[Path]:
    """Yield a path to write to, and then copy its content to an open file."""
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / name
        yield temporary
        with temporary.open("rb") as source, os.fdopen(os.dup(number), "wb") as stream:
            shutil.copyfileobj(source, stream)


def _is_left_behind(path: Path) -> bool:
    """Whether the process that was writing there has ended, as far as can be told."""
    name = _TEMPORARY.match(path.name)
    if name is None:
        return False
    if name[1] != _HOST:
        with suppress(OSError):
            return time.time() - path.stat().st_mtime > _FORGOTTEN
        return False
    try:
        os.kill(int(name[2]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:  # it runs, as another user
        return False
    return False
