"""``nary generate``: invented facts with a structure to learn."""

from pathlib import Path
from typing import Annotated

import typer

from nary.apps.cli.options import Json, Seed
from nary.apps.cli.output import print_json, print_table, progress_bar


def generate(
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", show_default=False, help="A file, such as facts.jsonl, or a folder to write to."),
    ],
    facts: Annotated[int, typer.Option("--facts", metavar="N", show_default=False, help="How many facts.")],
    entities: Annotated[int, typer.Option("--entities", metavar="N", show_default=False, help="How many entities.")],
    relations: Annotated[int, typer.Option("--relations", metavar="N", help="How many relations.")] = 20,
    max_arity: Annotated[int, typer.Option("--max-arity", metavar="N", help="The highest arity.")] = 6,
    noise: Annotated[float, typer.Option("--noise", metavar="SHARE", help="The share that follows no rule.")] = 0.1,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Invent facts for trying things out: distinct facts of every arity, with a hidden structure that a model can
    learn. Equal settings give equal facts on every machine.

    Example: nary generate facts.jsonl --facts 100000 --entities 5000
    """
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
