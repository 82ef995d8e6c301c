"""Files as bytes: opening, unpacking, cutting into whole lines; writing so that a file appears whole or not at all."""

import bz2
import gzip
import io
import os
import shutil
import signal
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path, PurePath
from typing import IO, Any, Protocol

import zstandard

from nary.errors import DataError, OutputError
from nary.progress import Progress, no_progress

CHUNK = 1 << 21
"""Bytes of text handled at a time: small enough for the caches, large enough for whole-column work."""

MAX_LINE = 1 << 20
"""Bytes of a line at the most: a longer one is no fact, and the file probably of another kind."""


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


_DECODERS: dict[bytes, tuple[str, Callable[[], _Decoder]]] = {
    b"\x1f\x8b": ("gzip", lambda: zlib.decompressobj(wbits=31)),
    b"BZh": ("bzip2", bz2.BZ2Decompressor),
    b"\x28\xb5\x2f\xfd": ("zstd", lambda: zstandard.ZstdDecompressor().decompressobj()),
}
_DAMAGE = (zlib.error, zstandard.ZstdError, OSError, EOFError, ValueError)


def shown(path: PurePath | str) -> str:
    """How a path is called in messages."""
    return "standard input" if str(path) == "-" else str(path)


class Source:
    """One input: a file, plain or packed (told by its first bytes), or ``-`` for standard input."""

    def __init__(self, path: Path | str, progress: Progress = no_progress) -> None:
        self.name = shown(path)
        self._progress = progress
        self._read = 0
        self._raw: IO[bytes]
        try:
            if str(path) == "-":
                self._raw, self._size = sys.stdin.buffer, None
                if hasattr(signal, "siginterrupt"):  # polars makes waiting reads go on after Ctrl-C
                    signal.siginterrupt(signal.SIGINT, True)
            else:
                if Path(path).is_dir():
                    raise DataError("is a folder, and a file is needed", file=self.name)
                self._raw = Path(path).open("rb")  # noqa: SIM115 (closed by __exit__)
                self._size = os.fstat(self._raw.fileno()).st_size
        except OSError as error:
            raise DataError(
                f"cannot be opened: {error.strerror}", "Check the path and its permissions.", self.name
            ) from None
        self._pieces = self._unpack()
        self.packing = ""

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, *_: object) -> None:
        if self._raw is not sys.stdin.buffer:
            self._raw.close()

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked; from now on ``packing`` names how the file is packed, if it is."""
        return next(self._pieces, b"")

    def pieces(self) -> Iterator[bytes]:
        """All bytes, unpacked, in pieces. May be called once."""
        yield self.head
        yield from self._pieces

    def chunks(self) -> Iterator[bytes]:
        """Whole lines, about :data:`CHUNK` bytes at a time, without the last line end of each.

        Of a line longer than :data:`MAX_LINE` only the beginning is kept, enough to tell that it is too long.
        """
        waiting = io.BytesIO()
        first, too_long = True, False
        for piece in self.pieces():
            if first:
                piece, first = piece.removeprefix(b"\xef\xbb\xbf"), False  # a byte order mark is no part of the text
            if too_long:
                _, line_end, piece = piece.partition(b"\n")
                too_long = not line_end
            end = piece.rfind(b"\n")
            if end < 0:
                waiting.write(piece)
            else:
                waiting.write(piece[:end])
                yield waiting.getvalue()
                waiting = io.BytesIO()
                waiting.write(piece[end + 1 :])
            if waiting.tell() > MAX_LINE:
                yield waiting.getvalue()
                waiting, too_long = io.BytesIO(), True
        if waiting.tell():
            yield waiting.getvalue()

    def _unpack(self) -> Iterator[bytes]:
        data = self._more()
        kind, make = next((found for magic, found in _DECODERS.items() if data.startswith(magic)), ("", None))
        self.packing = kind
        if make is None:
            while data:
                yield data
                data = self._more()
            return
        decoder = make()
        while data:
            if decoder.eof:  # packed files may be put one after the other
                decoder = make()
            try:
                piece = decoder.decompress(data)
            except _DAMAGE as error:
                raise DataError(f"damaged {kind} data: {error}", "Get the file again.", self.name) from None
            if piece:
                yield piece
            data = decoder.unused_data if decoder.eof and decoder.unused_data else self._more()
        if not decoder.eof:
            raise DataError(f"the {kind} data end too early", "The file is cut off; get it again.", self.name)

    def _more(self) -> bytes:
        try:
            data = self._raw.read(CHUNK)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", file=self.name) from None
        self._read += len(data)
        self._progress(self._read, self._size)
        return data


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path`` to write a file or a folder to; it takes the place of ``path`` on success.

    It has the extensions of ``path``, so that whatever goes by them does the same with both. On any failure nothing is
    left behind and what stood at ``path`` before is untouched. A folder is only put where there is none, or an empty
    one.
    """
    whole = path.absolute()  # which has a name even if the path is "."
    temporary = whole.with_name(f".tmp-{os.getpid()}-{whole.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove(temporary)
        yield temporary
        os.replace(temporary, path)  # noqa: PTH105 (Path.replace would hide that this is the atomic step)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}", "Nothing was changed there.") from error
    finally:
        _remove(temporary)


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def is_folder(path: Path) -> bool:
    """Whether there is a folder; what cannot even be asked for, such as a name that is too long, is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def open_to_write(path: Path) -> Any:
    """A file to write bytes to, packed as its extension says."""
    return _PACKERS.get(path.suffix, _plain)(path)


def _plain(path: Path) -> IO[bytes]:
    return path.open("wb")


_PACKERS: dict[str, Callable[[Path], Any]] = {
    ".gz": lambda path: gzip.GzipFile(path, "wb", mtime=0),  # no time inside: equal facts give equal files
    ".bz2": lambda path: bz2.BZ2File(path, "wb"),
    ".zst": lambda path: zstandard.open(path, "wb"),
}
PACKED = tuple(_PACKERS)
"""Extensions of packed files."""
