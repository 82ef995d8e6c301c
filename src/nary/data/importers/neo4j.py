"""The headers of Neo4j's import files, such as ``:START_ID(Person)`` and ``since:date``, and the exports of APOC."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from nary.data.files import Source
from nary.data.importers.tables import Table, table_of_rows
from nary.errors import DataError, did_you_mean
from nary.progress import Progress, no_progress

_KEYWORDS = ("ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE")
_TYPES = {
    **dict.fromkeys(("int", "long", "short", "byte", "float", "double"), "number"),
    **dict.fromkeys(("string", "char", "boolean", "point", "duration"), "entity"),
    **dict.fromkeys(("date", "time", "datetime"), ""),
    "localtime": "time",
    "localdatetime": "datetime",
}
_COLUMN = re.compile(r"^(?P<name>[^:]*):(?P<kind>[A-Za-z_]+)(?P<array>\[\])?(?:\((?P<space>[^)]*)\))?(?:\{.*\})?$")
_APOC = ("_id", "_labels", "_start", "_end", "_type")


def plain_columns(table: Table) -> Table:
    """Replace Neo4j's headers by plain names, with the types and id spaces that they declare."""
    names: dict[str, str] = {}
    types: dict[str, str] = {}
    spaces: dict[str, str] = {}
    arrays = []
    for column in table.frame.columns:
        match = _COLUMN.match(column)
        if match is None or not _is_known(match["kind"]):
            continue
        kind = match["kind"]
        if kind.upper() in _KEYWORDS:
            name = match["name"] if kind.upper() == "ID" and match["name"] else f":{kind.upper()}"
            spaces[name] = match["space"] or ""
        else:
            name = match["name"]
            types[name] = _TYPES[kind.lower()] or kind.lower()
            arrays += [name] if match["array"] else []
        names[column] = name if name not in names.values() else f"{name} {len(names)}"
    if not names:
        return table
    others = [column for column in table.frame.columns if column not in names and not column.startswith(":IGNORE")]
    if unknown := next((column for column in others if column.startswith(":")), None):
        hint = did_you_mean(unknown, [f":{keyword}" for keyword in _KEYWORDS])
        raise table.error(f"the header {unknown!r} is none of Neo4j's import files", hint)
    frame = table.frame.rename(names)
    frame = frame.with_columns(pl.col(arrays).str.split(";")) if arrays else frame
    return replace(table, frame=frame, types=types, spaces=spaces)


def _is_known(kind: str) -> bool:
    return kind.upper() in _KEYWORDS or kind.lower() in _TYPES


def is_apoc(columns: list[str]) -> bool:
    """Whether a table is an export of APOC, which has nodes and edges in one file."""
    return set(_APOC) <= set(columns)


def split_apoc(table: Table) -> tuple[Table, Table]:
    """Divide an export of APOC as separated text into nodes and edges."""
    columns = table.frame.columns
    border = columns.index("_start")
    is_node = table.frame["_id"].fill_null("") != ""
    rows = {True: is_node.arg_true(), False: (~is_node).arg_true()}
    nodes = table.frame.filter(is_node).select(columns[:border])
    edges = table.frame.filter(~is_node).select(columns[border:])

    def part(frame: pl.DataFrame, what: str, which: bool) -> Table:
        return replace(
            table, name=f"{table.name} ({what})", frame=frame, line_of=lambda row: table.line_of(int(rows[which][row]))
        )

    return part(nodes, "nodes", True), part(edges, "edges", False)


def read_apoc_json(path: Path, progress: Progress = no_progress) -> tuple[Table, Table]:
    """Read an export of APOC as JSON Lines: one node or relationship per line."""
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    node_lines: list[int] = []
    edge_lines: list[int] = []
    with Source(path, progress) as source:
        for number, line in _lines(source):
            content = _parse(line, source.name, number)
            is_node = content.get("type") == "node"
            row = _node(content) if is_node else _edge(content)
            if row is None:
                raise DataError(
                    "neither a node nor a relationship of an APOC export",
                    'Expected {"type": "node", "id": ..., "labels": [...], "properties": {...}} or a relationship.',
                    source.name,
                    number,
                )
            (nodes if is_node else edges).append(row)
            (node_lines if is_node else edge_lines).append(number)
    if not edges:
        raise DataError("has no relationships", "Export relationships, too.", source.name)
    return (
        table_of_rows(f"{source.name} (nodes)", nodes, node_lines),
        table_of_rows(f"{source.name} (edges)", edges, edge_lines),
    )


def _lines(source: Source) -> Iterator[tuple[int, bytes]]:
    number = 0
    for chunk in source.chunks():
        for line in chunk.split(b"\n"):
            number += 1
            if line.strip():
                yield number, line


def _parse(line: bytes, name: str, number: int) -> Mapping[str, Any]:
    try:
        content = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise DataError(f"not JSON: {error}", "Expected one JSON object per line.", name, number) from None
    if not isinstance(content, dict):
        raise DataError("expected a JSON object", "Expected one JSON object per line.", name, number)
    return content


def _node(content: Mapping[str, Any]) -> dict[str, Any] | None:
    if "id" not in content:
        return None
    return {"_id": str(content["id"]), "_labels": content.get("labels") or [], **(content.get("properties") or {})}


def _edge(content: Mapping[str, Any]) -> dict[str, Any] | None:
    try:
        ends = {"_start": str(content["start"]["id"]), "_end": str(content["end"]["id"]), "_type": content["label"]}
    except (KeyError, TypeError):
        return None
    return {"_id": str(content.get("id", "")), **ends, **(content.get("properties") or {})}
