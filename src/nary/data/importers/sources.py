"""What a user gives to ``nary import`` as a property graph: tables, GraphML, or a folder with an export."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from nary.data.files import extension, is_folder
from nary.data.importers.graphml import read_graphml
from nary.data.importers.guess import Choices, is_edge_table, is_node_table
from nary.data.importers.neo4j import is_apoc, plain_columns, read_apoc_json, split_apoc
from nary.data.importers.tables import Table, is_table, read_header, read_table
from nary.errors import DataError
from nary.progress import Progress, no_progress

_GRAPHML = (".graphml", ".xml")
_JSON = (".json", ".jsonl", ".ndjson")
_HEADER = re.compile(r"[-_.]?header$", re.IGNORECASE)
_PART = re.compile(r"[-_.]?(?:part)?[-_.]?[0-9]*$", re.IGNORECASE)


def read_property_graph(
    paths: Sequence[Path], node_paths: Sequence[Path], choices: Choices, progress: Progress = no_progress
) -> tuple[list[Table], list[Table], list[str]]:
    """Read tables of edges and of nodes; a table among ``paths`` without columns for two ends is one of nodes.

    A table that only lies in a folder and cannot be one of nodes is left out, with a note.
    """
    for place, path in enumerate(every := [*paths, *node_paths]):
        if path in every[:place]:
            raise DataError("is given twice", "Give each file once.", str(path))
    edges: list[Table] = []
    nodes = [plain_columns(table) for path in node_paths for table in _tables([path], progress)]
    tables = [plain_columns(part) for table in _tables(paths, progress) for part in _parts(table)]
    others: list[Table] = []
    for table in tables:
        (edges if len(tables) == 1 or is_edge_table(table, choices) else others).append(table)
    if not edges:
        raise DataError(
            "no table has columns for the two ends of an edge",
            "Name them: --start COLUMN --end COLUMN",
            ", ".join(map(str, paths)),
        )
    notes = []
    if any(map(is_folder, paths)):
        strays = [table for table in others if not is_node_table(table, edges, choices)]
        others = [table for table in others if is_node_table(table, edges, choices)]
        notes = [f"{Path(table.name).name} is left out: no column holds ids at which edges end" for table in strays]
    nodes += others
    return [_short(table, edges, nodes) for table in edges], [_short(table, edges, nodes) for table in nodes], notes


def _parts(table: Table) -> Sequence[Table]:
    return split_apoc(table) if is_apoc(table.frame.columns) else (table,)


def _short(table: Table, *others: Sequence[Table]) -> Table:
    """Name a table by its file alone, if no other file has that name: mappings are stored with these names."""
    names = [Path(other.name).name for tables in others for other in tables]
    short = Path(table.name).name
    return replace(table, name=short) if names.count(short) == 1 else table


def _tables(paths: Iterable[Path], progress: Progress) -> Iterator[Table]:
    for path in paths:
        if is_folder(path):
            yield from _folder_tables(path, progress)
        elif extension(path).lower() in _GRAPHML:
            yield from read_graphml(path, progress)
        elif extension(path).lower() in _JSON:
            yield from read_apoc_json(path, progress)
        else:
            yield read_table(path, progress=progress)


def _folder_tables(folder: Path, progress: Progress) -> Iterator[Table]:
    """Read all tables of a folder; a file of a header alone belongs to the files with the same beginning."""
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror}", "Check its permissions.", str(folder)) from None
    readable = [path for path in files if is_table(path) or extension(path).lower() in (*_GRAPHML, *_JSON)]
    if not readable:
        raise DataError("holds no tables", "Expected .csv, .tsv, .parquet, .graphml or APOC's .json.", str(folder))
    headers = {_HEADER.sub("", _stem(path)): path for path in readable if _HEADER.search(_stem(path))}
    for path in readable:
        header = headers.get(_PART.sub("", _stem(path))) or headers.get(_stem(path))
        if path in headers.values():
            continue
        if header is not None and is_table(path):
            yield read_table(path, read_header(header), progress)
        else:
            yield from _tables([path], progress)


def _stem(path: Path) -> str:
    return path.name.partition(".")[0]
