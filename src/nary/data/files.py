"""Files as bytes: decompressing input and splitting it into lines; writing files atomically."""

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
"""Bytes read at a time: small enough for the caches, large enough for column-wise parsing."""

MAX_LINE = 1 << 20
"""Maximum length of a line in bytes: a longer one is not a fact, and the file probably of another kind."""


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
                self._size = os.fstat(self._raw.fileno()).st_size
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

    def chunks(self) -> Iterator[bytes]:
        """Yield whole lines, about :data:`CHUNK` bytes at a time, without the last line end of each chunk.

        A line longer than :data:`MAX_LINE` is truncated, but stays longer than allowed.
        """
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
            if pending.tell() > MAX_LINE:
                yield pending.getvalue()
                pending, too_long = io.BytesIO(), True
        if pending.tell():
            yield pending.getvalue()

    def _decompress(self) -> Iterator[bytes]:
        data = self._next_bytes()
        kind, make = next((decoder for magic, decoder in _DECODERS.items() if data.startswith(magic)), ("", None))
        self.compression = kind
        if make is None:
            while data:
                yield data
                data = self._next_bytes()
            return
        decoder = make()
        while data:
            if decoder.eof:  # compressed files may be concatenated
                decoder = make()
            try:
                piece = decoder.decompress(data)
            except _DAMAGE as error:
                raise DataError(f"damaged {kind} data: {error}", "Get the file again.", self.name) from None
            if piece:
                yield piece
            data = decoder.unused_data if decoder.eof and decoder.unused_data else self._next_bytes()
        if not decoder.eof:
            raise DataError(f"the {kind} data end too early", "The file is truncated; get it again.", self.name)

    def _next_bytes(self) -> bytes:
        try:
            data = self._raw.read(CHUNK)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", file=self.name) from None
        self._read += len(data)
        self._progress(self._read, self._size)
        return data


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write a file or a folder to, which replaces ``path`` on success.

    It has the extensions of ``path``, so that code which depends on them works alike. On failure nothing is left behind
    and ``path`` is unchanged. A folder can only replace an empty folder.
    """
    absolute = path.absolute()  # has a name even if the path is "."
    temporary = absolute.with_name(f".tmp-{os.getpid()}-{absolute.name}")
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


_COMPRESSORS: dict[str, Callable[[Path], Any]] = {
    ".gz": lambda path: gzip.GzipFile(path, "wb", mtime=0),  # no timestamp: equal facts give equal files
    ".bz2": lambda path: bz2.BZ2File(path, "wb"),
    ".zst": lambda path: zstandard.open(path, "wb"),
}
COMPRESSED = tuple(_COMPRESSORS)
"""Extensions of compressed files."""
