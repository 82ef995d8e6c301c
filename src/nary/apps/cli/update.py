"""``nary update``: add facts and new names to a trained model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Device, Json, RunPath, Threads, is_one_fact
from nary.apps.cli.output import notice, open_data, print_json
from nary.wording import counted

if TYPE_CHECKING:
    from nary.runs.updating import UpdateResult

_SHOWN = 5


def update(
    run: RunPath,
    facts: Annotated[
        str,
        typer.Argument(
            metavar="FACTS",
            show_default=False,
            help="One fact, subject | relation | object | ..., or any DATA: a file, a folder, a dataset.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="MODEL", show_default=False, help="The model folder to write.")],
    device: Device = "auto",
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Add new facts to a trained model in seconds, without retraining it; RUN does not change.

    Stored facts and rules include the new facts. Vectors for new entities and relations are learned from their facts;
    all other weights do not change.

    Example: nary update runs/nobel-gran new-facts.jsonl --out models/nobel-2
    """
    from nary.runs import load_model
    from nary.runs.run_folder import check_free
    from nary.runs.updating import update as add_facts

    check_free(out)
    given = [facts] if is_one_fact(facts) else open_data(facts, quiet=True)
    model = load_model(run, device)
    result = add_facts(model, given)
    result.model.save(out)
    if json:
        print_json({"out": str(out), **result.as_dict()})
        return
    _print(result)
    typer.echo(f"Next: nary predict {out} QUERY, or nary evaluate {out}")


def _print(result: "UpdateResult") -> None:
    from nary.facts.literal import is_literal

    done = result.update
    stored = (
        f" ({result.stored:,} {'was' if result.stored == 1 else 'were'} stored already, or given twice)"
        if result.stored
        else ""
    )
    typer.echo(f"{counted(done.facts, 'fact')} added to train{stored}.")
    vocabulary = result.model.vocabulary
    entities = vocabulary.entities[len(vocabulary.entities) - done.entities :]
    relations = vocabulary.relations[len(vocabulary.relations) - done.relations :]
    literals = [name for name in entities if is_literal(name)]
    others = [name for name in entities if not is_literal(name)]
    kinds = (("entity", "entities"), ("number, date or text", "numbers, dates and texts"), ("relation", "relations"))
    for (one, more), names in zip(kinds, (others, literals, relations), strict=True):
        if names:
            examples = ", ".join(repr(vocabulary.label(name)) for name in names[:_SHOWN])
            others_follow = ", ..." if len(names) > _SHOWN else ""
            typer.echo(f"{counted(len(names), f'new {one}', f'new {more}')}: {examples}{others_follow}")
    if result.steps:
        typer.echo(f"Learned in {counted(result.steps, 'step')}, {result.seconds:.1f} seconds.")
    for note in result.notes:
        notice(note)
