"""``nary import``: a property graph as facts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Json
from nary.apps.cli.output import notice, print_json, print_table, progress_bar, say
from nary.errors import OutputError, SettingError

if TYPE_CHECKING:
    from nary.data.dataset import Dataset
    from nary.data.importers.graph import GraphImport

_COLUMN = {"metavar": "COLUMN", "show_default": False}


def import_(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE...",
            show_default=False,
            help="Tables of edges (.csv, .tsv, .parquet), a .graphml file, or a folder that Neo4j or APOC exported.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DATA", show_default=False, help="A new folder for the facts and the mapping."),
    ] = None,
    nodes: Annotated[
        list[Path] | None, typer.Option("--nodes", metavar="FILE", show_default=False, help="A table of nodes.")
    ] = None,
    start: Annotated[str, typer.Option("--start", **_COLUMN, help="The start of an edge: the subject.")] = "",
    end: Annotated[str, typer.Option("--end", **_COLUMN, help="The end of an edge: the object.")] = "",
    type: Annotated[str, typer.Option("--type", **_COLUMN, help="The type of an edge: the relation.")] = "",
    relation: Annotated[
        str, typer.Option("--relation", metavar="NAME", show_default=False, help="The relation of all edges instead.")
    ] = "",
    node_id: Annotated[str, typer.Option("--node-id", **_COLUMN, help="The id of a node.")] = "",
    node_name: Annotated[str, typer.Option("--node-name", **_COLUMN, help="The name of a node: its label.")] = "",
    node_type: Annotated[str, typer.Option("--node-type", **_COLUMN, help="The types (labels) of a node.")] = "",
    number: Annotated[list[str] | None, typer.Option("--number", **_COLUMN, help="Its values are numbers.")] = None,
    date: Annotated[list[str] | None, typer.Option("--date", **_COLUMN, help="Its values are dates.")] = None,
    time: Annotated[list[str] | None, typer.Option("--time", **_COLUMN, help="Its values are times of day.")] = None,
    datetime: Annotated[
        list[str] | None, typer.Option("--datetime", **_COLUMN, help="Its values are dates with times.")
    ] = None,
    entity: Annotated[list[str] | None, typer.Option("--entity", **_COLUMN, help="Its values are entities.")] = None,
    ignore: Annotated[list[str] | None, typer.Option("--ignore", **_COLUMN, help="Leave the column out.")] = None,
    node_facts: Annotated[
        bool, typer.Option("--node-facts", help="Make a fact of every other property of a node, too.")
    ] = False,
    mapping: Annotated[
        Path | None,
        typer.Option("--mapping", metavar="FILE", help="Use this mapping, as written to DATA/mapping.toml."),
    ] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="NAME", help="The format: jsonl or parquet.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the mapping, and write nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Import a property graph: every edge becomes a fact, its other columns qualifiers. Ids stay ids, names of nodes
    become labels, and the labels of nodes their types. What each column becomes is guessed and shown first.

    Example: nary import edges.csv --nodes nodes.csv --out my-graph

    Example: nary import edges.csv --start from --end to --type kind --number amount --out my-graph
    """
    from nary.data.importers.graph import GraphImport, write_imported
    from nary.data.importers.guess import Choices

    types = {"number": number, "date": date, "time": time, "datetime": datetime, "entity": entity}
    value_types = {column: name for name, columns in types.items() for column in columns or ()}
    choices = Choices(start, end, type, relation, node_id, node_name, node_type, value_types, ignore or (), node_facts)
    if mapping is not None and choices != Choices():
        raise SettingError("--mapping says what every column is", "Leave the other options out, or edit the file.")
    if out is None and not dry_run:
        raise SettingError("where shall the facts go?", "Give --out DATA, or --dry-run to see the mapping only.")
    if out is not None and out.suffix:
        raise OutputError(
            f"{out} looks like a file", "Give a folder: it gets the facts, labels, types and the mapping."
        )
    with progress_bar("Reading", show=not as_json) as progress:
        graph = GraphImport.open(sources, nodes or (), choices, mapping, progress)
    if not as_json:
        _print_mapping(graph)
    if dry_run or out is None:
        if as_json:
            print_json({"mapping": [list(row) for row in graph.rows()]})
        return
    with progress_bar("Importing", show=not as_json) as progress:
        dataset = graph.dataset(progress)
    for note in dataset.notes:
        notice(note)
    with progress_bar("Writing", show=not as_json) as progress:
        write_imported(dataset, out, graph.mapping, to, progress)
    _print_result(dataset, graph, out, as_json)


def _print_mapping(graph: "GraphImport") -> None:
    print_table("Mapping", ["table", "column", "becomes"], graph.rows())
    say()


def _print_result(dataset: "Dataset", graph: "GraphImport", out: Path, as_json: bool) -> None:
    from nary.data.statistics import counts
    from nary.facts.literal import is_literal

    counted = counts(dataset)
    literals = sum(map(is_literal, dataset.vocabulary.entities))
    numbers = {"facts": len(dataset.train), "entities": counted["entities"] - literals, "literals": literals}
    numbers |= {"relations": counted["relations"], "labels": len(dataset.vocabulary.labels)}
    if as_json:
        print_json(
            {**numbers, "notes": list(dataset.notes), "mapping": [list(row) for row in graph.rows()], "out": str(out)}
        )
    else:
        print_table(str(out), ["", "number"], list(numbers.items()))
