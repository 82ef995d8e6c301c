"""``nary facts``: look up stored facts."""

from typing import Annotated

import typer

from nary.apps.cli.options import Json, RunPath
from nary.apps.cli.output import print_json, print_table
from nary.wording import counted


def facts(
    run: RunPath,
    pattern: Annotated[
        str,
        typer.Argument(
            metavar="PATTERN",
            show_default=False,
            help="subject | relation | object | attribute: value | ..., with ? for any element.",
        ),
    ],
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="How many facts to list.")] = 20,
    json: Json = False,
) -> None:
    """List the facts of a run's dataset that match a pattern. They may have further qualifiers; nothing is predicted.

    Example: nary facts runs/nobel-gran "Marie Curie | award received | ?"
    """
    from nary.facts import parse
    from nary.inference.folder import load_dataset
    from nary.inference.lookup import FactLookup
    from nary.runs.run_folder import model_path_of

    stored = FactLookup(load_dataset(model_path_of(run))).find(parse(pattern), limit)
    if json:
        print_json(stored.as_dict())
        return
    title = f"{stored.pattern}: {counted(stored.total, 'stored fact')}"
    print_table(title, ["fact", "split"], [[fact.label, fact.split] for fact in stored.facts])
