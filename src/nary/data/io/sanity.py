"""Checks that separated lines are facts: a table with a header, or with other columns, would be read as nonsense.

They apply to files whose format was detected. Who names the format, with ``--format``, means it.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath

import numpy as np

from nary.data.dataset import Dataset
from nary.data.files import display_name, extension
from nary.data.io.separated import choose_separator
from nary.errors import DataError
from nary.facts.layout import OBJECT, RELATION

START_WORDS = ("start", "source", "src", "from", "head", "subject", "subj", "node1")
END_WORDS = ("end", "target", "tgt", "dst", "destination", "to", "tail", "object", "obj", "node2")
"""What the columns of the two ends of an edge are called, also followed by ``id``."""

_ID = re.compile(r"[ _-]?(?:id|node|key)?(?:\(.*\))?$")
_DELIMITERS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "vertical bars"}
_NUMBER = r"[+-]?(?:\d+(?:[.,]\d+)*)(?:[eE][+-]?\d+)?"
_DATE = r"[+-]?\d{4}-\d\d(?:-\d\d(?:[T ].*)?)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
NUMBER_OR_DATE = rf"^(?:{_NUMBER}|{_DATE})$"
"""Pattern of a name that is a number, a date or a time."""

_LINES = 200  # looked at
_FEWEST = 5  # lines that tell what a column holds
_RELATIONS, _FACTS_PER_RELATION = 500, 20
_AS_TABLE = "Import it as a table: nary import {} --out DATA. If its lines are facts, say so: --format hyper-relational"


def check_lines(path: PurePath, head: bytes) -> None:
    """Refuse a file that is separated by neither tabs nor commas, or that starts with a header."""
    complete, _, rest = head.removeprefix(b"\xef\xbb\xbf").rpartition(b"\n")
    text = (complete or rest).decode("utf-8", "replace")
    numbered = [(number, line) for number, line in enumerate(text.split("\n")[:_LINES], 1) if line.strip()]
    lines = [line.rstrip("\r") for _, line in numbered]
    if not lines:
        return
    separator = choose_separator(lines[0], extension(path))
    if other := _other_delimiter(lines, separator):
        raise DataError(
            f"its fields are separated by {_DELIMITERS[other]}, not by {_DELIMITERS[separator]}",
            f"Separate them by tabs or commas, or import it as a table: nary import {path.name} --out DATA",
            display_name(path),
            numbered[0][0],
        )
    rows = [_fields(line, separator) for line in lines]
    if is_header(rows[0]) or _is_header_by_type(rows):
        names = ", ".join(rows[0][:6]) + (", ..." if len(rows[0]) > 6 else "")
        raise DataError(
            f"this line is a header, not a fact: {names}",
            _AS_TABLE.format(path.name),
            display_name(path),
            numbered[0][0],
        )


def check_relations(dataset: Dataset, source: str) -> None:
    """Refuse facts whose relations are numbers, or nearly as many as the facts: another column holds the relations."""
    heads = np.concatenate([block.ids[:, :3] for block in dataset.facts.blocks])
    counts = np.bincount(heads[:, RELATION], minlength=len(dataset.vocabulary.relations))
    relations = {dataset.vocabulary.relations[i]: int(counts[i]) for i in np.flatnonzero(counts).tolist()}
    examples = ", ".join(list(relations)[:3])
    numeric = sum(n for name, n in relations.items() if re.match(NUMBER_OR_DATE, name))
    if len(heads) >= _FEWEST and numeric > 0.9 * len(heads):
        _refuse(f"the relations, in column 2, are numbers or dates: {examples}, ...", heads, source)
    if len(relations) > max(_RELATIONS, len(heads) / _FACTS_PER_RELATION):
        _refuse(f"{len(heads):,} facts with {len(relations):,} different relations: {examples}, ...", heads, source)


def _refuse(message: str, heads: np.ndarray[tuple[int, ...], np.dtype[np.int32]], source: str) -> None:
    objects = len(np.unique(heads[:, OBJECT]))
    third = f" Column 3 has only {objects:,} different names: is it the relation?" if objects < _RELATIONS else ""
    raise DataError(
        message, f"Lines are subject, relation, object.{third} {_AS_TABLE.format(PurePath(source).name)}", source
    )


def is_header(fields: Sequence[str]) -> bool:
    """Whether ``fields`` name the two ends of an edge, such as ``start, end, type`` or ``:START_ID, :END_ID``."""
    names = {_ID.sub("", field.strip().lower().lstrip(":").partition(":")[0]) for field in fields}
    return not names.isdisjoint(START_WORDS) and not names.isdisjoint(END_WORDS)


def _is_header_by_type(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a column holds numbers or dates only, except in the first line, whose fields occur nowhere else."""
    first, others = rows[0], rows[1:]
    if len(others) < _FEWEST or any(re.match(NUMBER_OR_DATE, field) for field in first):
        return False
    columns = [[row[i] for row in others if i < len(row)] for i in range(len(first))]
    if any(field in column for field, column in zip(first, columns, strict=True)):
        return False
    return any(
        len(column) == len(others) and all(re.match(NUMBER_OR_DATE, field) for field in column) for column in columns
    )


def _other_delimiter(lines: Sequence[str], separator: str) -> str | None:
    """Return the delimiter that makes the same number of fields of every line, and more than ``separator`` makes."""
    usual = [line.count(separator) for line in lines]
    if min(usual) >= 2 and (len(lines) < _FEWEST or len(set(usual)) > 1):
        return None  # facts of several arities
    for other in _DELIMITERS:
        counts = {line.count(other) for line in lines}
        if len(counts) == 1 and min(counts) >= 2 and min(counts) > max(usual):
            return other
    return None


def _fields(line: str, separator: str) -> list[str]:
    return [field.strip().strip('"') for field in line.split(separator)]
