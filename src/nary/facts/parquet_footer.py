"""What a Parquet file says about its size, read from its footer before anything is decoded.

A column of equal values takes a few bytes, however long it is, so a small file can ask for any amount of memory. The
footer is a structure in Thrift's compact protocol, of which only the counts are needed here.
"""

import os
from pathlib import Path
from typing import IO, Any, NamedTuple

from nary.files.reading import open_regular

_MAGIC = b"PAR1"
_MAX_FOOTER = 1 << 26
_MAX_DEPTH = 16
_ROW_GROUPS, _COLUMNS, _COLUMN_DATA, _NUM_VALUES, _UNPACKED_SIZE = 4, 1, 3, 5, 6  # numbers of fields
_BITS_PER_BYTE = 8
_ALWAYS_ALLOWED = 1 << 22  # values
_MAX_RATIO, _UNPACKED_ALLOWED = 100, 1 << 27  # as for compressed files


class ParquetSize(NamedTuple):
    """The number of values in all columns, the bytes they take before compression, and those of the file."""

    num_values: int
    unpacked: int
    file: int


def parquet_size(path: Path) -> ParquetSize:
    """The size of the file at ``path``. Raises OSError or ValueError."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        footer = _read_struct(_Reader(_footer(file, size)), 0)
    try:
        columns = [
            column.get(_COLUMN_DATA, {}) for group in footer.get(_ROW_GROUPS, []) for column in group.get(_COLUMNS, [])
        ]
        counts = [[int(data.get(key, 0)) for data in columns] for key in (_NUM_VALUES, _UNPACKED_SIZE)]
    except (TypeError, AttributeError):  # something else where a list, a structure or a number should be
        raise ValueError("the footer is damaged") from None
    if any(count < 0 for column in counts for count in column):
        raise ValueError("a size in the footer is negative")
    return ParquetSize(sum(counts[0]), sum(counts[1]), size)


def check_parquet_size(path: Path) -> None:
    """Refuse a file with more values than bits, or whose pages unpack to far more than it has bytes."""
    size = parquet_size(path)
    if size.num_values > _ALWAYS_ALLOWED + _BITS_PER_BYTE * size.file:
        raise ValueError(f"{size.file:,} bytes that stand for {size.num_values:,} values, which facts never do")
    if size.unpacked > _UNPACKED_ALLOWED + _MAX_RATIO * size.file:
        raise ValueError(f"{size.file:,} bytes that unpack to {size.unpacked:,} bytes, which facts never do")


def _footer(file: IO[bytes], size: int) -> bytes:
    if size < 12:
        raise ValueError("it is too short for Parquet")
    file.seek(size - 8)
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > min(size - 12, _MAX_FOOTER):
        raise ValueError("it does not end like Parquet")
    file.seek(size - 8 - length)
    return file.read(length)


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content = content
        self.place = 0

    def byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def varint(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a number in the footer is too long")

    def zigzag(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def skip(self, size: int) -> None:
        if size > len(self.content) - self.place:
            raise ValueError("the footer is truncated")
        self.place += size


def _read_struct(reader: _Reader, depth: int) -> dict[int, Any]:
    if depth > _MAX_DEPTH:
        raise ValueError("the footer is nested too deeply")
    fields: dict[int, Any] = {}
    number = 0
    try:
        while head := reader.byte():
            number = number + (head >> 4) if head >> 4 else reader.zigzag()
            fields[number] = _read_value(reader, head & 0x0F, depth)
    except IndexError:
        raise ValueError("the footer is truncated") from None
    return fields


def _read_value(reader: _Reader, kind: int, depth: int) -> Any:
    """A value of a type of Thrift's compact protocol; text and decimals are skipped."""
    if kind in (1, 2):  # true, false
        return kind == 1
    if kind in (3, 7):  # a byte, a double
        return reader.skip(1 if kind == 3 else 8)
    if kind in (4, 5, 6):  # integers
        return reader.zigzag()
    if kind == 8:  # bytes
        return reader.skip(reader.varint())
    if kind in (9, 10):  # lists and sets
        head = reader.byte()
        size = reader.varint() if head >> 4 == 15 else head >> 4
        if size > len(reader.content):
            raise ValueError("a list in the footer is too long")
        inner = 3 if head & 0x0F in (1, 2) else head & 0x0F  # in a list, true and false take a byte
        return [_read_value(reader, inner, depth + 1) for _ in range(size)]
    if kind == 12:
        return _read_struct(reader, depth + 1)
    raise ValueError("the footer is damaged")
