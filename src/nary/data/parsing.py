"""From one input to columns of names, a part at a time."""

import os
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from nary.data.encoding import Columns
from nary.data.files import MAX_LINE, Source
from nary.data.formats import extension, parquet
from nary.data.formats.lines import LineError, LineFormat, Record, columns_of
from nary.data.report import Problem

_WORKERS = min(2, os.cpu_count() or 1)


@dataclass
class Part:
    """Consecutive lines (or rows) of an input: how many, their facts, those that are none, the number of blank ones."""

    lines: int
    columns: list[Columns] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    blank: int = 0


def parquet_parts(path: Path) -> Generator[Part, None, None]:
    """The parts of a Parquet file."""
    start = 0
    for columns, height, bad in parquet.read_parquet(path):
        problems = [Problem(start + row + 1, reason, message) for row, reason, message in bad]
        yield Part(height, [replace(columns, rows=columns.rows + start)], problems)
        start += height


def line_parts(source: Source, format: LineFormat, first_lines: int | None) -> Generator[Part, None, None]:
    """The parts of a file with a fact a line, parsed in the background while the caller works on those before."""
    waiting: deque[Future[Part]] = deque()
    with ThreadPoolExecutor(_WORKERS) as pool:
        try:
            for start, chunk in _numbered(source, format, first_lines):
                waiting.append(pool.submit(_parse_chunk, chunk, start, format))
                if len(waiting) > _WORKERS:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _numbered(source: Source, format: LineFormat, first_lines: int | None) -> Iterator[tuple[int, bytes]]:
    """Chunks with the number of lines before each; the format has seen the first line that is not blank."""
    started, before = False, 0
    for chunk in source.chunks():
        count = chunk.count(b"\n") + 1
        if first_lines is not None and before + count > first_lines:
            count = first_lines - before
            chunk = b"\n".join(chunk.split(b"\n", count)[:count])
        if not count:
            return
        if not started and (line := chunk.lstrip().split(b"\n", 1)[0]):
            format.start(line.decode("utf-8", "replace"), extension(Path(source.name)))
            started = True
        yield before, chunk
        before += count


def _parse_chunk(chunk: bytes, start: int, format: LineFormat) -> Part:
    part = Part(chunk.count(b"\n") + 1)
    try:
        text = chunk.decode()
    except UnicodeDecodeError:
        left = dict(enumerate(chunk.split(b"\n")))
    else:
        if "\r" in text:
            text = text.replace("\r\n", "\n").removesuffix("\r")
        lines = pl.Series([text]).str.split("\n").explode()
        right, columns = np.zeros(len(lines), bool), None
        if len(chunk) <= MAX_LINE or not (lines.str.len_bytes() > MAX_LINE).any():
            right, columns = format.parse_many(lines)
        if columns is not None:
            part.columns.append(columns)
        rows = np.flatnonzero(~right)
        left = dict(zip(rows.tolist(), lines.gather(rows).to_list(), strict=True))
    records: dict[int, Record] = {}
    for row, line in left.items():
        try:
            if (record := _parse_line(line, format)) is None:
                part.blank += 1
            else:
                records[row] = record
        except LineError as error:
            part.problems.append(Problem(start + row + 1, error.reason, error.message, error.hint))
    if records:
        part.columns.append(columns_of(list(records.values()), list(records)))
    part.columns = [replace(columns, rows=columns.rows + start) for columns in part.columns]
    return part


def _parse_line(line: str | bytes, format: LineFormat) -> Record | None:
    """The fact on a line; None if it is blank."""
    if len(line) * 4 > MAX_LINE and len(line.encode() if isinstance(line, str) else line) > MAX_LINE:
        raise LineError(
            "huge line",
            f"a line of more than {MAX_LINE:,} bytes",
            "Facts stand one a line; is this a file of another kind?",
        )
    if isinstance(line, bytes):
        try:
            line = line.decode().removesuffix("\r")
        except UnicodeDecodeError as error:
            place = f"byte 0x{line[error.start]:02x} at place {error.start + 1}"
            raise LineError("not UTF-8", f"not UTF-8: {place}", "Convert the file to UTF-8.") from None
    if "\0" in line:
        raise LineError("NUL character", "the line holds a NUL character", "Is this a text file?")
    if "\r" in line:
        raise LineError(
            "carriage return",
            "a carriage return within the line",
            "If the lines of this file end in carriage returns, let them end in line feeds instead.",
        )
    return format.parse(line) if line.strip() else None
