"""The interface of a file format, and the columns of names that reading produces."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from nary.data.files import Source
from nary.facts import FactTable, Vocabulary
from nary.progress import Progress, no_progress


@dataclass(frozen=True)
class FactColumns:
    """Facts by name, stored column-wise.

    ``rows`` [n] holds the row of each fact in the file, ``counts`` [n] its number of qualifiers, and ``splits`` [n] the
    split it names, if any does. ``names`` [3n + 2q] holds relation, subject and object of every fact, followed by
    attribute and value of every qualifier.
    """

    rows: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    names: pl.Series
    splits: pl.Series | None = None


@dataclass(frozen=True)
class Problem:
    """A line (or row) that is not a fact; ``reason`` is the category under which it is counted."""

    line: int
    reason: str
    message: str
    hint: str | None = None


@dataclass
class ParsedChunk:
    """The result of parsing consecutive lines (or rows) of a file."""

    lines: int
    columns: list[FactColumns] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    blank: int = 0


class Format:
    """Base class of all file formats; formats with one fact per line derive from :class:`LineFormat` instead.

    Register a subclass with :func:`nary.register_format`, or with an entry point in the group ``nary.formats``. One
    object reads or writes one file.
    """

    extensions: ClassVar[tuple[str, ...]] = ()
    """Extensions that identify files of this format, such as ``(".jsonl", ".ndjson")``."""
    output_extension: ClassVar[str | None] = None
    """The extension of the files written to a folder; None if the format is read-only."""
    stores_splits: ClassVar[bool] = False
    """Whether a file can name the split of each fact, and so hold several splits."""

    def read(self, source: Source, first_lines: int | None = None) -> Generator[ParsedChunk, None, None]:
        """Parse the file chunk by chunk, or only its ``first_lines``."""
        raise NotImplementedError

    def write(
        self,
        path: Path,
        splits: Mapping[str | None, FactTable],
        vocabulary: Vocabulary,
        progress: Progress = no_progress,
    ) -> None:
        """Write the facts in the order of their rows, each with the name of its split unless that is None."""
        raise NotImplementedError
