"""Importing a property graph: read its tables, guess or read the mapping, and make a dataset."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nary.data.dataset import Dataset
from nary.data.importers.guess import Choices, guess_mapping, stray_values
from nary.data.importers.mapping import FILE, EdgeMapping, GraphMapping, NodeMapping, check_types
from nary.data.importers.property_graph import build_dataset
from nary.data.importers.sources import read_property_graph
from nary.data.importers.tables import Table
from nary.data.importers.values import VALUE_TYPES
from nary.data.io.writer import write
from nary.errors import DataError, OutputError, did_you_mean
from nary.files.writing import atomic_path
from nary.progress import Progress, no_progress


@dataclass(frozen=True)
class GraphImport:
    """A property graph that was read, and how it becomes facts."""

    name: str
    tables: Mapping[str, Table]
    mapping: GraphMapping
    notes: tuple[str, ...] = ()
    """On files that were left out, and on guesses that may be wrong."""

    @classmethod
    def open(
        cls,
        paths: Sequence[Path],
        nodes: Sequence[Path] = (),
        choices: Choices | None = None,
        mapping: Path | None = None,
        progress: Progress = no_progress,
    ) -> "GraphImport":
        """Read the tables; the mapping is guessed, unless there is a file of one."""
        choices = choices or Choices()
        edge_tables, node_tables, notes = read_property_graph(paths, nodes, choices, progress)
        tables = {table.name: table for table in (*edge_tables, *node_tables)}
        name = paths[0].resolve().name.partition(".")[0]
        if mapping is None:
            guessed = guess_mapping(edge_tables, node_tables, choices)
            return cls(name, tables, guessed, (*notes, *stray_values(tables, guessed, choices)))
        stored = _named_like(GraphMapping.read(mapping), edge_tables, node_tables)
        _check_mapping(stored, tables, mapping)
        return cls(name, tables, stored, tuple(notes))

    def rows(self) -> list[tuple[str, str, str]]:
        """Return file, column and what it becomes, for every column."""
        return self.mapping.rows({name: table.frame.columns for name, table in self.tables.items()})

    def dataset(self, progress: Progress = no_progress) -> Dataset:
        """Return the facts, in a single split, train."""
        dataset = build_dataset(self.name, self.tables, self.mapping, progress)
        return replace(dataset, notes=(*self.notes, *dataset.notes))


def write_imported(
    dataset: Dataset, out: Path, mapping: GraphMapping, format: str | None = None, progress: Progress = no_progress
) -> None:
    """Write a dataset to a folder, and the mapping it was made with."""
    with atomic_path(out) as temporary:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise OutputError(f"{out} exists and is not an empty folder", "Choose another name, or remove it first.")
        temporary.mkdir()
        write(dataset, temporary, format=format, progress=progress)
        (temporary / FILE).write_text(mapping.to_toml(), encoding="utf-8")


def _named_like(mapping: GraphMapping, edges: Sequence[Table], nodes: Sequence[Table]) -> GraphMapping:
    """The mapping for tables of other names, such as ``new-edges.csv`` for ``edges.csv``, if there is one of a kind.

    Without tables of nodes, what the mapping says of nodes is left out.
    """
    edge_mappings, node_mappings = mapping.edges, mapping.nodes if nodes else []
    if len(edge_mappings) == len(edges) == 1:
        edge_mappings = [replace(edge_mappings[0], file=edges[0].name)]
    if len(node_mappings) == len(nodes) == 1:
        node_mappings = [replace(node_mappings[0], file=nodes[0].name)]
    return GraphMapping(edge_mappings, node_mappings)


def _check_mapping(mapping: GraphMapping, tables: Mapping[str, Table], path: Path) -> None:
    """Refuse a mapping of other tables or columns."""
    every: list[EdgeMapping | NodeMapping] = [*mapping.edges, *mapping.nodes]
    for each in every:
        if each.file not in tables:
            raise DataError(f"no table is called {each.file!r}", did_you_mean(each.file, tables), str(path))
        used = [column for column, _ in each.roles() if not column.startswith("(all: ")]
        for column in used:
            if column not in tables[each.file].frame.columns:
                hint = did_you_mean(column, tables[each.file].frame.columns)
                raise DataError(f"{each.file} has no column {column!r}", hint, str(path))
    for edges in mapping.edges:
        if not edges.type and not edges.relation:
            raise DataError(
                f"{edges.file} has neither a type nor a relation",
                'Add type = "COLUMN" or relation = "NAME".',
                str(path),
            )
    for types in (*(each.qualifiers for each in mapping.edges), *(each.facts for each in mapping.nodes)):
        check_types(types, VALUE_TYPES)
