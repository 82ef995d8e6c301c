"""``nary similar``: the names nearest to one."""

from enum import StrEnum
from typing import Annotated

import typer

from nary.apps.cli.evaluate import Run
from nary.apps.cli.options import Json
from nary.apps.cli.output import print_json, print_table
from nary.apps.cli.predict import Answers


class NameKind(StrEnum):
    """The two kinds of names."""

    entity = "entity"
    relation = "relation"


def similar(
    run: Run,
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="An entity or a relation.")],
    kind: Annotated[
        NameKind | None, typer.Option("--kind", help="Which it is, if there are both.", show_default=False)
    ] = None,
    k: Answers = 10,
    json: Json = False,
) -> None:
    """Find the entities, or relations, that a model holds for most similar, by the cosine of their vectors.

    Example: nary similar runs/nobel-gran "Marie Curie"
    """
    from nary.runs import load_run

    found = load_run(run).similar(name, kind.value if kind else None, k)
    if json:
        print_json(found.as_dict())
        return
    rows = [[neighbor.label, f"{neighbor.similarity:.3f}"] for neighbor in found.neighbors]
    print_table(f"{found.label}   ({found.kind})", ["similar", "cosine"], rows)
