"""``nary generate``: synthetic facts with structure to learn."""

from pathlib import Path
from typing import Annotated

import typer

from nary.apps.cli.options import Json, Seed
from nary.apps.cli.output import print_json, print_table
from nary.errors import SettingError
from nary.progress import progress_bar


def generate(
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", show_default=False, help="A file, such as facts.jsonl, or a folder to write to."),
    ],
    facts: Annotated[
        int | None, typer.Option("--facts", metavar="N", show_default=False, help="How many facts, or edges.")
    ] = None,
    entities: Annotated[
        int | None, typer.Option("--entities", metavar="N", show_default=False, help="How many entities.")
    ] = None,
    relations: Annotated[int, typer.Option("--relations", metavar="N", help="How many relations.")] = 20,
    max_arity: Annotated[int, typer.Option("--max-arity", metavar="N", help="The largest arity.")] = 6,
    noise: Annotated[
        float, typer.Option("--noise", metavar="SHARE", help="The fraction of facts without structure.")
    ] = 0.1,
    property_graph: Annotated[
        bool,
        typer.Option(
            "--property-graph",
            help="Generate a company's property graph instead: people, firms, cities and products in nodes.csv and "
            "edges.csv, with planted errors listed in errors.csv. 11,000 edges by default.",
        ),
    ] = False,
    errors: Annotated[
        float, typer.Option("--errors", metavar="SHARE", help="With --property-graph: the fraction of wrong edges.")
    ] = 0.01,
    neo4j: Annotated[
        bool, typer.Option("--neo4j", help="With --property-graph: write the headers of Neo4j's import files.")
    ] = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Generate synthetic facts: distinct facts of every arity, with hidden structure that a model can learn. Equal
    settings give equal facts on every machine.

    Example: nary generate facts.jsonl --facts 100000 --entities 5000

    Example: nary generate company --property-graph
    """
    if property_graph and entities is not None:
        raise SettingError("--entities does not go with --property-graph", "The number of nodes follows from --facts.")
    if neo4j and not property_graph:
        raise SettingError("--neo4j goes with --property-graph only", "Add --property-graph.")
    if property_graph:
        _generate_property_graph(out, facts, errors, noise, seed, neo4j, as_json)
        return
    if facts is None or entities is None:
        raise SettingError("the number of facts or entities is missing", "Give --facts N and --entities N.")
    from nary.data import synthetic
    from nary.data.io.writer import write
    from nary.data.statistics import counts

    dataset = synthetic.generate(facts, entities, relations, max_arity, noise, seed)
    with progress_bar("Writing", show=not as_json) as progress:
        write(dataset, out, progress=progress)
    counted = counts(dataset)
    if as_json:
        print_json({**counted, "seed": seed, "out": str(out)})
        return
    rows = [["facts", len(dataset.train)], ["entities", counted["entities"]], ["relations", counted["relations"]]]
    print_table(str(out), ["", "number"], rows + [[f"arity {arity}", n] for arity, n in counted["arities"].items()])


def _generate_property_graph(
    out: Path, edges: int | None, errors: float, noise: float, seed: int, neo4j: bool, as_json: bool
) -> None:
    from nary.data.company import EDGES, generate_property_graph

    graph = generate_property_graph(EDGES if edges is None else edges, errors, noise, seed)
    graph.write(out, neo4j=neo4j)
    types = dict(graph.edges.group_by("type").len().sort("type").iter_rows())
    sizes = {"nodes": graph.nodes.height, "edges": graph.edges.height, "errors": graph.errors.height}
    if as_json:
        print_json({**sizes, "types": types, "seed": seed, "out": str(out)})
    else:
        print_table(str(out), ["", "number"], [*sizes.items(), *((f"  {name}", n) for name, n in types.items())])
