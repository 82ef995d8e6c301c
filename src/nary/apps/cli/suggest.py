"""``nary suggest``: which qualifiers a fact may lack."""

from typing import Annotated

import typer

from nary.apps.cli.evaluate import Run
from nary.apps.cli.options import Json
from nary.apps.cli.output import notice, print_json, print_table
from nary.apps.cli.predict import Answers

WholeFact = Annotated[
    str,
    typer.Argument(metavar="FACT", show_default=False, help="subject | relation | object | attribute: value | ..."),
]


def suggest(run: Run, fact: WholeFact, k: Answers = 10, json: Json = False) -> None:
    """Suggest qualifiers that a fact does not have yet, most probable first.

    Example: nary suggest runs/nobel-gran "Marie Curie | award received | Nobel Prize in Physics | point in time: 1903"
    """
    from nary.runs import load_run

    found = load_run(run).suggest(fact, k)
    if json:
        print_json(found.as_dict())
        return
    for note in found.notes:
        notice(note)
    rows = [[one.attribute_label, one.value_label, f"{one.probability:.1%}"] for one in found.suggestions]
    print_table(found.fact, ["attribute", "value", "probability"], rows)
