"""``nary predict``: fill in what is missing."""

from typing import Annotated

import typer

from nary.apps.cli.evaluate import Run
from nary.apps.cli.options import Json
from nary.apps.cli.output import notice, print_json, print_table


def predict(
    run: Run,
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY",
            show_default=False,
            help="subject | relation | object | attribute: value | ..., with ? for the element to fill in.",
        ),
    ],
    k: Annotated[int, typer.Option("-k", help="How many answers.")] = 10,
    json: Json = False,
) -> None:
    """Answer a query: the best candidates for its gap, with their probability; known answers are marked.

    Example: nary predict runs/nobel-gran "Marie Curie | award received | ? | point in time: 1911"
    """
    from nary.runs import load_run

    found = load_run(run).predict(query, k)
    if json:
        print_json(found.as_dict())
        return
    for note in found.notes:
        notice(note)
    rows = [
        [answer.label, f"{answer.probability:.1%}", f"{answer.score:.2f}", "known" if answer.known else ""]
        for answer in found.answers
    ]
    print_table(f"{found.query}   ({found.position})", ["answer", "probability", "score", ""], rows)
