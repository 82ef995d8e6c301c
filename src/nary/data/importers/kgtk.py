"""Reading KGTK: tab-separated edges with a header (id, node1, label, node2).

An edge whose node1 is the id of another edge is a qualifier of that edge; every other edge is a fact. Edges called
``label`` give labels, and so do the columns ``node1;label``, ``label;label`` and ``node2;label``.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from nary.data.dataset import Dataset
from nary.data.files import Source
from nary.data.importers.wikidata.snaks import time_name
from nary.data.io.encoder import Encoder
from nary.data.io.lines import Record, to_columns
from nary.errors import DataError, FactError
from nary.facts.literal import Literal
from nary.progress import Progress, no_progress

COLUMNS = ("node1", "label", "node2")
_LABEL, _TYPE = "label", "P31"
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_LANGUAGE_TEXT = re.compile(r"'((?:[^'\\]|\\.)*)'@([A-Za-z]+(?:-[A-Za-z0-9]+)*)")
_QUANTITY = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?:\[[^]]*\])?([QL][0-9]+|[^\W\d]\S*)?")
_TIME = re.compile(r"\^([+-]?[0-9]+)(?:-([0-9]{2}))?(?:-([0-9]{2}))?(?:T([0-9]{2}:[0-9]{2}:[0-9]{2})Z?)?(?:/([0-9]+))?")
_POINT = re.compile(r"@([+-]?[0-9.]+)/([+-]?[0-9.]+)")
_DAY, _SECOND = 11, 14  # precisions of times


class _Edge(NamedTuple):
    file: str
    line: int
    id: str
    node1: str
    label: str
    node2: str


def is_kgtk(path: Path) -> bool:
    """Whether a file begins with a header of KGTK."""
    with Source(path) as source:
        header = source.head.split(b"\n", 1)[0].decode(errors="replace").removeprefix("\ufeff").rstrip("\r")
    return {*COLUMNS} <= {*header.split("\t")}


def read_kgtk(paths: Sequence[Path], languages: Collection[str] = ("en",), progress: Progress = no_progress) -> Dataset:
    """Read files of edges into one dataset with a single split, train; qualifiers may be in a file of their own."""
    reader = _Reader([*languages, ""])
    edges = [edge for path in paths for edge in reader.edges(path, progress)]
    lines: dict[str, _Edge] = {}
    for edge in edges:
        if edge.id and (first := lines.setdefault(edge.id, edge)) is not edge:
            where = f"{first.file}:{first.line}" if first.file != edge.file else f"line {first.line}"
            raise DataError(f"the id {edge.id!r} occurs twice, first on {where}", "An edge has one id.", *edge[:2])
    qualifiers: dict[str, list[tuple[str, str]]] = {}
    for edge in edges:
        if edge.node1 in lines and lines[edge.node1].node1 not in lines:
            qualifiers.setdefault(edge.node1, []).append((edge.label, reader.name(edge, edge.node2)))
        elif edge.node1 in lines:
            reader.left_out["qualifiers of qualifiers"] += 1
    records = [
        Record(reader.name(edge, edge.node1), edge.label, reader.name(edge, edge.node2), qualifiers.get(edge.id, []))
        for edge in edges
        if edge.node1 not in lines and not reader.is_label(edge)
    ]
    if not records:
        raise DataError("contains no edges that are facts", "Expected at least one.", edges[0].file if edges else None)
    encoder = Encoder()
    encoder.add(to_columns(records, range(len(records))), "train")
    vocabulary, splits = encoder.finish()
    used = {*vocabulary.entities, *vocabulary.relations}
    types: dict[str, tuple[str, ...]] = {}
    for record in records:
        if record.relation == _TYPE:
            types[record.subject] = (*types.get(record.subject, ()), record.object)
    labels = {name: text for name, (_, text) in reader.labels.items() if name in used}
    notes = tuple(f"left out: {count:,} {reason}" for reason, count in sorted(reader.left_out.items()))
    name = paths[0].resolve().name.partition(".")[0]
    return Dataset(name, replace(vocabulary, labels=labels, types=types), splits, notes)


class _Reader:
    """Reads edges, turns values into names, and keeps labels, each in the best language there is one in."""

    def __init__(self, languages: Sequence[str]) -> None:
        self._languages = languages
        self.labels: dict[str, tuple[int, str]] = {}
        self.left_out: Counter[str] = Counter()

    def edges(self, path: Path, progress: Progress) -> Iterator[_Edge]:
        """Yield the edges of a file; comments and blank lines are no edges."""
        columns: list[str] = []
        for number, line in _lines(path, progress):
            cells = line.split("\t")
            if not columns:
                columns = cells
                if missing := [column for column in COLUMNS if column not in columns]:
                    raise DataError(
                        f"its header has no column {missing[0]!r}",
                        "KGTK has the columns id, node1, label and node2, separated by tabs.",
                        str(path),
                        number,
                    )
                continue
            if not line.strip() or line.startswith("#"):
                continue
            if len(cells) != len(columns):
                raise DataError(
                    f"{len(cells)} fields, but the header has {len(columns)}",
                    "Separate them by tabs.",
                    str(path),
                    number,
                )
            row = dict(zip(columns, cells, strict=True))
            for column in COLUMNS:
                if not row[column]:
                    raise DataError(f"no value in column {column!r}", "Each edge has one.", str(path), number)
                if text := row.get(f"{column};label"):
                    self._keep_label(row[column], text.split("|")[0])
            self.left_out["values in other columns"] += sum(
                bool(text) for column, text in row.items() if column != "id" and column.partition(";")[0] not in COLUMNS
            )
            yield _Edge(str(path), number, row.get("id", ""), *(row[column] for column in COLUMNS))
        self.left_out = +self.left_out

    def name(self, edge: _Edge, text: str) -> str:
        """Return the name of a node: literals by their value, everything else as an entity."""
        try:
            literal = _literal(text)
        except (FactError, ValueError, KeyError) as error:
            raise DataError(f"{text!r} is no value of KGTK: {error}", None, *edge[:2]) from None
        return text if literal is None else literal

    def is_label(self, edge: _Edge) -> bool:
        """Whether an edge gives a label; keep it."""
        return edge.label == _LABEL and edge.node2[0] in "\"'" and self._keep_label(edge.node1, edge.node2)

    def _keep_label(self, name: str, text: str) -> bool:
        match, language = _LANGUAGE_TEXT.fullmatch(text), ""
        if match:
            text, language = match.groups()
        elif quoted := _TEXT.fullmatch(text):
            text = quoted[1]
        language = language if language in self._languages else language.partition("-")[0]
        if language not in self._languages:
            self.left_out["labels in other languages"] += 1
            return True
        rank = self._languages.index(language)
        plain = " ".join(_unescaped(text).split())
        if plain and (name not in self.labels or rank < self.labels[name][0]):
            self.labels[name] = rank, plain
        return True


def _lines(path: Path, progress: Progress) -> Iterator[tuple[int, str]]:
    number = 0
    with Source(path, progress) as source:
        for chunk in source.chunks():
            for line in chunk.removesuffix(b"\n").split(b"\n"):
                number += 1
                try:
                    text = line.decode()
                except UnicodeDecodeError as error:
                    raise DataError(
                        f"not UTF-8: byte 0x{line[error.start]:02x}", "Convert the file to UTF-8.", source.name, number
                    ) from None
                yield number, text.removeprefix("\ufeff").rstrip("\r")


def _literal(text: str) -> str | None:
    """The name of the literal that ``text`` is; None if it is a symbol."""
    if text[0] == '"' and (match := _TEXT.fullmatch(text)):
        return Literal.of(_unescaped(match[1]), "text").name
    if text[0] == "'" and (match := _LANGUAGE_TEXT.fullmatch(text)):
        return Literal.of(_unescaped(match[1]), "text", match[2]).name
    if text[0] == "^" and (match := _TIME.fullmatch(text)):
        year, month, day, clock, precision = match.groups()
        time = f"{year}-{month or '00'}-{day or '00'}T{clock or '00:00:00'}Z"
        usual = _DAY if clock in (None, "00:00:00") else _SECOND
        return time_name({"time": time, "precision": int(precision or usual), "calendarmodel": ""})
    if text[0] == "@" and (match := _POINT.fullmatch(text)):
        return Literal.of(",".join(map(_degrees, match.groups())), "point").name
    if match := _QUANTITY.fullmatch(text):
        number, unit = match.groups()
        return Literal.of(number, "quantity", unit).name if unit else Literal.of(number).name
    if text[0] in "\"'^@":
        raise ValueError("it has no such form")
    return None


def _degrees(text: str) -> str:
    return Literal.of(text).value


def _unescaped(text: str) -> str:
    """Replace escapes by what they stand for."""
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text)
