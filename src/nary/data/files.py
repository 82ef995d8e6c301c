"""Files of facts as bytes: decompressing input and splitting it into lines, compressing output."""

import bz2
import gzip
import io
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path, PurePath
from typing import IO, Any

import numpy as np
import zstandard

from nary.data.unpacking import PACKED_PIECE, compression_of, unpack
from nary.errors import DataError
from nary.progress import Progress, no_progress

CHUNK = 1 << 21
"""Bytes read at a time: small enough for the caches, large enough for column-wise parsing."""

MAX_LINE = 1 << 20
"""Maximum length of a line in bytes: a longer one is not a fact, and the file probably of another kind."""


MAX_LINES = 1 << 16
"""Maximum number of lines in a chunk: very short lines take far more memory than their bytes."""


def display_name(path: PurePath | str) -> str:
    """Name a path in messages."""
    return "standard input" if str(path) == "-" else str(path)


def extension(path: PurePath) -> str:
    """Return the extension that identifies the format: ``.jsonl`` for ``facts.jsonl.gz``."""
    return path.with_suffix("").suffix if path.suffix in COMPRESSED else path.suffix


class Source:
    """An input to read: a file, or ``-`` for standard input; compression is detected from the first bytes."""

    def __init__(self, path: Path | str, progress: Progress = no_progress) -> None:
        self.path = Path(path)
        self.name = display_name(path)
        self._progress = progress
        self._read = 0
        self._raw: IO[bytes]
        try:
            if str(path) == "-":
                self._raw, self._size = sys.stdin.buffer, None
                if hasattr(signal, "siginterrupt"):  # polars lets blocked reads continue after Ctrl-C
                    signal.siginterrupt(signal.SIGINT, True)
            else:
                if Path(path).is_dir():
                    raise DataError("is a folder, but a file is needed", file=self.name)
                self._raw = Path(path).open("rb")  # noqa: SIM115 (closed by __exit__)
                self._size = _size(self._raw, self.name)
        except OSError as error:
            raise DataError(
                f"cannot be opened: {error.strerror}", "Check the path and its permissions.", self.name
            ) from None
        self._pieces = self._decompress()
        self.compression = ""

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, *_: object) -> None:
        if self._raw is not sys.stdin.buffer:
            self._raw.close()

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed; reading them sets ``compression`` if the file is compressed."""
        return next(self._pieces, b"")

    def pieces(self) -> Iterator[bytes]:
        """Yield all bytes, decompressed, in pieces. May be called once."""
        yield self.head
        yield from self._pieces

    def chunks(self, max_line: int = MAX_LINE) -> Iterator[bytes]:
        """Yield whole lines, about :data:`CHUNK` bytes at a time, without the last line end of each chunk.

        A line longer than ``max_line`` is truncated, but stays longer than allowed.
        """
        for chunk in self._chunks(max_line):
            yield from _split(chunk) if chunk.count(b"\n") >= MAX_LINES else (chunk,)

    def _chunks(self, max_line: int) -> Iterator[bytes]:
        pending = io.BytesIO()
        first, too_long = True, False
        for piece in self.pieces():
            if first:
                piece, first = piece.removeprefix(b"\xef\xbb\xbf"), False  # the byte order mark is not part of the text
            if too_long:
                _, line_end, piece = piece.partition(b"\n")
                too_long = not line_end
            end = piece.rfind(b"\n")
            if end < 0:
                pending.write(piece)
            else:
                pending.write(piece[:end])
                yield pending.getvalue()
                pending = io.BytesIO()
                pending.write(piece[end + 1 :])
            if pending.tell() > max_line:
                yield pending.getvalue()
                pending, too_long = io.BytesIO(), True
        if pending.tell():
            yield pending.getvalue()

    def _decompress(self) -> Iterator[bytes]:
        data = self._next_bytes(min(CHUNK, PACKED_PIECE))
        self.compression = compression_of(data) or ""
        if self.compression:
            yield from unpack(self.compression, data, partial(self._next_bytes, PACKED_PIECE), self.name)
            return
        while data:
            yield data
            data = self._next_bytes()

    def _next_bytes(self, size: int | None = None) -> bytes:
        try:
            data = self._raw.read(size or CHUNK)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", file=self.name) from None
        self._read += len(data)
        self._progress(self._read, self._size)
        return data


def _split(chunk: bytes) -> Iterator[bytes]:
    """Divide a chunk into chunks of :data:`MAX_LINES` lines."""
    ends = np.flatnonzero(np.frombuffer(chunk, np.uint8) == ord("\n"))[MAX_LINES - 1 :: MAX_LINES].tolist()
    for start, end in zip([0, *(end + 1 for end in ends)], [*ends, len(chunk)], strict=True):
        yield chunk[start:end]


def _size(file: IO[bytes], name: str) -> int:
    """The size of an open file; a device, which may have no end, is refused, but a terminal is not."""
    status = os.fstat(file.fileno())
    if stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not file.isatty()):
        file.close()
        raise DataError("is a device, but a file is needed", file=name)
    return status.st_size


def is_folder(path: Path) -> bool:
    """Whether ``path`` is a folder; False for invalid paths, such as a name that is too long."""
    try:
        return path.is_dir()
    except OSError:
        return False


def open_to_write(path: Path) -> Any:
    """Open a file to write bytes to, compressed if its extension says so."""
    return _COMPRESSORS.get(path.suffix, _plain)(path)


def _plain(path: Path) -> IO[bytes]:
    return path.open("wb")


@contextmanager
def _gzip(path: Path) -> Iterator[gzip.GzipFile]:
    """Without time and file name, which gzip would store: equal facts give equal files."""
    with path.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        yield packed


_COMPRESSORS: dict[str, Callable[[Path], Any]] = {
    ".gz": _gzip,
    ".bz2": lambda path: bz2.BZ2File(path, "wb"),
    ".zst": lambda path: zstandard.open(path, "wb"),
}
COMPRESSED = tuple(_COMPRESSORS)
"""Extensions of compressed files."""
