"""Decompressing with bounded memory: what a small file unpacks to is limited, piece by piece and in total."""

import bz2
import os
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

import zstandard

from nary.errors import DataError, SettingError

PACKED_PIECE = 1 << 16
"""Compressed bytes to read at a time: the limit grows with what was read."""
LIMIT_VARIABLE = "NARY_UNPACK_LIMIT"
_PIECE = 1 << 21  # decompressed bytes at a time
_ZSTD_INPUT = 1 << 10  # a block of 128 KiB can be packed into four bytes, so this gives 32 MiB at most
_ALWAYS_ALLOWED = 1 << 27  # bytes
_MAX_RATIO = 100  # files of facts are packed to a tenth, seldom to a fiftieth


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...


def _unzip(decoder: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    full = True
    while (data or full) and not decoder.eof:
        piece = decoder.decompress(data, _PIECE)
        data, full = decoder.unconsumed_tail, len(piece) == _PIECE
        yield piece


def _unzip2(decoder: bz2.BZ2Decompressor, data: bytes) -> Iterator[bytes]:
    yield decoder.decompress(data, _PIECE)
    while not (decoder.eof or decoder.needs_input):
        yield decoder.decompress(b"", _PIECE)


class _Zstd:
    """The library has no limit for the output, so the input is given to it in small parts."""

    def __init__(self) -> None:
        self._decoder = zstandard.ZstdDecompressor().decompressobj()
        self.unused_data = b""

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    def decompress(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _ZSTD_INPUT):
            yield self._decoder.decompress(data[start : start + _ZSTD_INPUT])
            if self.eof:
                self.unused_data = self._decoder.unused_data + data[start + _ZSTD_INPUT :]
                return


_KINDS: dict[bytes, tuple[str, Callable[[], _Decoder], Callable[..., Iterator[bytes]]]] = {
    b"\x1f\x8b": ("gzip", lambda: zlib.decompressobj(wbits=31), _unzip),
    b"BZh": ("bzip2", bz2.BZ2Decompressor, _unzip2),
    b"\x28\xb5\x2f\xfd": ("zstd", _Zstd, _Zstd.decompress),
}
_DAMAGE = (zlib.error, zstandard.ZstdError, OSError, EOFError, ValueError)


def compression_of(head: bytes) -> str | None:
    """The kind of compression of data that begin with ``head``, if any; see :func:`unpack`."""
    return next((kind for magic, (kind, _, _) in _KINDS.items() if head.startswith(magic)), None)


def unpack(kind: str, data: bytes, next_bytes: Callable[[], bytes], file: str) -> Iterator[bytes]:
    """Decompress ``data`` and all that ``next_bytes`` returns, in pieces of about two megabytes.

    Compressed files may be concatenated. Errors name the ``file``. Data that unpack to far more than facts do are
    refused, unless the environment variable NARY_UNPACK_LIMIT allows for so many bytes.
    """
    make, decompress = next((make, step) for name, make, step in _KINDS.values() if name == kind)
    limit = _Limit(file)
    decoder = make()
    pending, size = [], 0
    while data:
        if decoder.eof:
            decoder = make()
        limit.packed += len(data)
        try:
            for piece in decompress(decoder, data):
                limit.add(len(piece))
                pending.append(piece)
                size += len(piece)
                if size >= _PIECE:
                    yield b"".join(pending)
                    pending, size = [], 0
        except _DAMAGE as error:
            raise DataError(f"damaged {kind} data: {error}", "Get the file again.", file) from None
        unused = decoder.unused_data if decoder.eof else b""
        limit.packed -= len(unused)
        data = unused or next_bytes()
    if pending:
        yield b"".join(pending)
    if not decoder.eof:
        raise DataError(f"the {kind} data end too early", "The file is truncated; get it again.", file)


class _Limit:
    """How many bytes a file may unpack to, given the number of ``packed`` bytes read so far."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.packed = 0
        self.unpacked = 0
        self.allowed = _allowed_by_user()

    def add(self, size: int) -> None:
        """Count unpacked bytes, and refuse too many."""
        self.unpacked += size
        if self.unpacked > max(self.allowed, _ALWAYS_ALLOWED + _MAX_RATIO * self.packed):
            raise DataError(
                f"its first {self.packed:,} bytes unpack to more than {self.unpacked:,} bytes, which facts never do",
                f"Set {LIMIT_VARIABLE} to the number of bytes that it may unpack to if you trust it.",
                self.file,
            )


def _allowed_by_user() -> int:
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    if text and not (text.isascii() and text.isdecimal()):
        raise SettingError(f"{LIMIT_VARIABLE} is {text!r}", "Expected a number of bytes.")
    return int(text or 0)
