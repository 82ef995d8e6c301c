"""``nary similar``: the names most similar to one."""

from typing import Annotated

import typer

from nary.apps.cli.options import Answers, Device, Json, NameKind, RunPath, Threads
from nary.apps.cli.output import print_json, print_table


def similar(
    run: RunPath,
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="An entity or a relation.")],
    kind: Annotated[
        NameKind | None, typer.Option("--kind", help="Which of the two NAME is, if there are both.", show_default=False)
    ] = None,
    k: Answers = 10,
    device: Device = "auto",
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Find the most similar entities or relations, by the cosine of their embeddings.

    Example: nary similar runs/nobel-gran "Marie Curie"
    """
    from nary.runs import load_model

    result = load_model(run, device).similar(name, kind.value if kind else None, k)
    if json:
        print_json(result.as_dict())
        return
    rows = [[neighbor.label, f"{neighbor.similarity:.3f}"] for neighbor in result.neighbors]
    print_table(f"{result.label}   ({result.kind})", ["similar", "cosine"], rows)
