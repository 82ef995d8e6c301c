"""``nary show``: a fact as a typed graph, as text and as a picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nary.apps.cli.options import Json
from nary.apps.cli.output import notice, print_json, print_table, say

if TYPE_CHECKING:
    from nary.facts.graph import FactGraph


def show(
    fact: Annotated[
        str,
        typer.Argument(
            metavar="FACT",
            show_default=False,
            help="subject | relation | object | attribute: value | ..., with ? for a missing element.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Also draw a picture, FILE.svg or FILE.png.")
    ] = None,
    variant: Annotated[
        str,
        typer.Option(
            "--variant",
            metavar="NAME",
            help="hete: four types of edges; homo: one type; complete: edges between all pairs, without types.",
        ),
    ] = "hete",
    json: Json = False,
) -> None:
    """Show a fact as the graph that GRAN encodes: its elements and the typed edges between them.

    Example: nary show "Marie Curie | award received | ? | point in time: 1911" --out curie.svg
    """
    from nary.facts import parse
    from nary.facts.drawing import draw_fact
    from nary.facts.graph import fact_graph

    given = parse(fact)
    graph = fact_graph(given, variant)
    if out is not None:
        draw_fact(given, out, variant)
        notice(f"drew {out}")
    print_json({"fact": str(given), **_as_dict(graph)}) if json else _print(str(given), graph)


def _as_dict(graph: "FactGraph") -> dict[str, Any]:
    """For machines: a gap has no name, so it cannot be mistaken for an element called ``?``."""
    return {
        "variant": graph.variant,
        "vertices": [
            {"position": str(v.position), "role": v.role.value, "name": None if v.is_gap else v.element}
            for v in graph.vertices
        ],
        "edges": [
            {"from": str(edge.first), "to": str(edge.second), "type": int(edge.type), "label": edge.label}
            for edge in graph.edges
        ],
    }


def _print(title: str, graph: "FactGraph") -> None:
    from nary.facts.fact import quoted

    names = {vertex.position: quoted(vertex.element, "") for vertex in graph.vertices}
    print_table(title, ["position", "element"], names.items())
    say()
    edges = [
        [edge.first, edge.second, int(edge.type), f"{names[edge.first]} – {names[edge.second]}"] for edge in graph.edges
    ]
    print_table("", ["from", "to", "type", "elements"], edges)
