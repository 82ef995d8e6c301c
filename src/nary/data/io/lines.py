"""Formats with one fact per line.

A format parses lines in two ways. ``parse`` takes a single line and reports exactly what is wrong with it.
``parse_many`` takes a whole column of lines, parses those that are certainly valid at once, and leaves all others to
``parse``. Both produce the same facts.
"""

import os
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from nary.data.files import MAX_LINE, Source, extension, open_to_write
from nary.data.io.base import FactColumns, Format, ParsedChunk, Problem
from nary.errors import FactError
from nary.facts import FactTable, Vocabulary
from nary.facts.fact import check_label
from nary.progress import Progress, no_progress

_WORKERS = min(2, os.cpu_count() or 1)
_FACTS_PER_WRITE = 8192


class Record(NamedTuple):
    """The fact on one line, and the split it names, if any."""

    subject: str
    relation: str
    object: str
    qualifiers: Sequence[tuple[str, str]]
    split: str | None = None


class LineError(Exception):
    """A line that is not a fact; ``reason`` is the category under which such lines are counted."""

    def __init__(self, reason: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.hint = hint


class LineFormat(Format):
    """Base class of formats with one fact per line.

    A subclass must define :meth:`parse`. :meth:`parse_many` makes reading fast, :meth:`format_line` (together with
    ``output_extension``) makes the format writable.
    """

    def start(self, first_line: str, extension: str) -> None:
        """Prepare for a file, for example choose its separator; ``first_line`` is empty if the file is to be written.

        ``first_line`` is the first line that is not blank, ``extension`` the extension without that of compression.
        """

    def parse(self, line: str) -> Record:
        """Parse one line, or raise :class:`LineError`."""
        raise NotImplementedError

    def parse_many(self, lines: pl.Series) -> tuple[npt.NDArray[np.bool_], FactColumns | None]:
        """Tell which of ``lines`` [n] are certainly valid, and parse those; rows are numbered within ``lines``."""
        return np.zeros(len(lines), bool), None

    def format_line(self, record: Record) -> str:
        """Format one fact as a line, without the line end."""
        raise NotImplementedError

    def read(self, source: Source, first_lines: int | None = None) -> Generator[ParsedChunk, None, None]:
        """Parse the file in background threads while the caller processes the previous chunk."""
        pending: deque[Future[ParsedChunk]] = deque()
        with ThreadPoolExecutor(_WORKERS) as pool:
            try:
                for start, chunk in self._chunks(source, first_lines):
                    pending.append(pool.submit(self._parse_chunk, chunk, start))
                    if len(pending) > _WORKERS:
                        yield pending.popleft().result()
                while pending:
                    yield pending.popleft().result()
            finally:
                for future in pending:
                    future.cancel()

    def write(
        self,
        path: Path,
        splits: Mapping[str | None, FactTable],
        vocabulary: Vocabulary,
        progress: Progress = no_progress,
    ) -> None:
        """Write the facts line by line, compressed if the extension of ``path`` says so."""
        self.start("", extension(path))
        total, done = sum(len(table) for table in splits.values()), 0
        with open_to_write(path) as file:
            for split, table in splits.items():
                facts = table.decode(vocabulary.entities, vocabulary.relations)
                while lines := [self.format_line(Record(*fact, split)) for fact in islice(facts, _FACTS_PER_WRITE)]:
                    file.write(("\n".join(lines) + "\n").encode())
                    done += len(lines)
                    progress(done, total)

    def _chunks(self, source: Source, first_lines: int | None) -> Iterator[tuple[int, bytes]]:
        """Yield chunks of whole lines, each with the number of lines before it; call :meth:`start` on the way."""
        started, before = False, 0
        for chunk in source.chunks():
            count = chunk.count(b"\n") + 1
            if first_lines is not None and before + count > first_lines:
                count = first_lines - before
                chunk = b"\n".join(chunk.split(b"\n", count)[:count])
            if not count:
                return
            if not started and (line := chunk.lstrip().split(b"\n", 1)[0]):
                self.start(line.decode("utf-8", "replace"), extension(Path(source.name)))
                started = True
            yield before, chunk
            before += count

    def _parse_chunk(self, chunk: bytes, start: int) -> ParsedChunk:
        parsed = ParsedChunk(chunk.count(b"\n") + 1)
        try:
            text = chunk.decode()
        except UnicodeDecodeError:
            remaining = dict(enumerate(chunk.split(b"\n")))
        else:
            if "\r" in text:
                text = text.replace("\r\n", "\n").removesuffix("\r")
            lines = pl.Series([text]).str.split("\n").explode()
            valid, columns = np.zeros(len(lines), bool), None
            if len(chunk) <= MAX_LINE or not (lines.str.len_bytes() > MAX_LINE).any():
                valid, columns = self.parse_many(lines)
            if columns is not None:
                parsed.columns.append(columns)
            empty = (lines == "").to_numpy()
            parsed.blank += int(empty.sum())
            rows = np.flatnonzero(~valid & ~empty)
            remaining = dict(zip(rows.tolist(), lines.gather(rows).to_list(), strict=True))
        self._parse_one_by_one(remaining, parsed, start)
        parsed.columns = [replace(columns, rows=columns.rows + start) for columns in parsed.columns]
        return parsed

    def _parse_one_by_one(self, lines: Mapping[int, str | bytes], parsed: ParsedChunk, start: int) -> None:
        """Add ``lines``, by their row within the chunk, to ``parsed``."""
        records: dict[int, Record] = {}
        for row, line in lines.items():
            try:
                text = _check_line(line)
                if text.strip():
                    records[row] = self.parse(text)
                else:
                    parsed.blank += 1
            except LineError as error:
                parsed.problems.append(Problem(start + row + 1, error.reason, error.message, error.hint))
        if records:
            parsed.columns.append(to_columns(list(records.values()), list(records)))


def make_record(subject: object, relation: object, object: object, pairs: Sequence[tuple[object, object]]) -> Record:
    """Check all labels and return the record."""
    qualifiers = [
        (_check_label(attribute, f"attribute {i}"), _check_label(value, f"value {i}"))
        for i, (attribute, value) in enumerate(pairs, 1)
    ]
    return Record(
        _check_label(subject, "the subject"),
        _check_label(relation, "the relation"),
        _check_label(object, "the object"),
        qualifiers,
    )


def gather_names(fields: pl.Series, heads: Sequence[int], first_pair: int, step: int = 1) -> pl.Series:
    """Gather the ``names`` of :class:`FactColumns` from ``fields`` [n], the list of fields of each line.

    ``heads`` are the indices of relation, subject and object; from index ``first_pair`` on, every ``step``-th field
    belongs to a qualifier.
    """
    lengths = fields.list.len().to_numpy().astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    head_indices = (starts[:, None] + np.array(heads)).ravel()
    per_line = np.maximum(0, (lengths - first_pair + step - 1) // step)
    within = np.arange(per_line.sum()) - np.repeat(np.cumsum(per_line) - per_line, per_line)
    pair_indices = np.repeat(starts + first_pair, per_line) + step * within
    return fields.explode().gather(np.concatenate([head_indices, pair_indices], dtype=np.uint32, casting="unsafe"))


def to_columns(records: Sequence[Record], rows: Sequence[int]) -> FactColumns:
    """Store records column-wise; ``rows`` are their rows in the file."""
    names = [name for record in records for name in (record.relation, record.subject, record.object)]
    names += [name for record in records for pair in record.qualifiers for name in pair]
    has_splits = any(record.split for record in records)
    return FactColumns(
        np.array(rows, np.int64),
        np.array([len(record.qualifiers) for record in records], np.int64),
        pl.Series(names, dtype=pl.String),
        pl.Series([record.split for record in records], dtype=pl.String) if has_splits else None,
    )


def _check_label(label: object, what: str) -> str:
    """Return ``label`` if it is a valid one; ``what`` names the element in the error."""
    try:
        check_label(label)
    except FactError as error:
        reason = "empty label" if label == "" else "bad label"
        raise LineError(reason, f"{what}: {error.message}") from None
    if label == "?":
        raise LineError(
            "gap in data", f"{what} is ?, which marks a gap", "Data hold whole facts; use nary predict to fill gaps."
        )
    return str(label)


def _check_line(line: str | bytes) -> str:
    """Return the text of a line, unless it cannot be a line of a text file."""
    if len(line) * 4 > MAX_LINE and len(line.encode() if isinstance(line, str) else line) > MAX_LINE:
        raise LineError(
            "huge line",
            f"a line of more than {MAX_LINE:,} bytes",
            "Expected one fact per line; is this a file of another kind?",
        )
    if isinstance(line, bytes):
        try:
            line = line.decode().removesuffix("\r")
        except UnicodeDecodeError as error:
            place = f"byte 0x{line[error.start]:02x} at position {error.start + 1}"
            raise LineError("not UTF-8", f"not UTF-8: {place}", "Convert the file to UTF-8.") from None
    if "\0" in line:
        raise LineError("NUL character", "the line contains a NUL character", "Is this a text file?")
    if "\r" in line:
        raise LineError(
            "carriage return",
            "a carriage return within the line",
            "If the lines of this file end in carriage returns, convert them to line feeds.",
        )
    return line
