"""``nary tune``: choose settings on the valid split."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.opening import open_data
from nary.apps.cli.options import Data, Json, OnError, Seed
from nary.apps.cli.output import notice, print_json, print_table
from nary.apps.cli.training_bar import TrainingBar

if TYPE_CHECKING:
    from nary.runs import Run
    from nary.runs.tuning import Trial


def tune(
    data: Data,
    grid: Annotated[
        list[str], typer.Option("--grid", metavar="KEY=V,V,...", help="Values to try: model.dropout=0.1,0.2")
    ],
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="See: nary models; gran if not given.")
    ] = None,
    recipe: Annotated[
        str | None, typer.Option("--recipe", metavar="FILE", help="A TOML file, or the name of a shipped recipe.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Another value for a key of the recipe.")
    ] = None,
    search: Annotated[
        str, typer.Option("--search", metavar="HOW", help="grid (all), each (one change at a time), random or tpe.")
    ] = "grid",
    trials: Annotated[
        int | None, typer.Option("--trials", help="How many settings to try, with random or tpe; 10 if not given.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help="Where the trials go.")] = None,
    retrain: Annotated[bool, typer.Option("--retrain", help="Then train the best on train and valid.")] = False,
    results: Annotated[
        Path | None, typer.Option("--results", metavar="FOLDER", help="Record the trials there, for nary results.")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Train with each setting on train, choose by the MRR of entities in valid, and write the best as a recipe.

    The test split is never looked at. Without a valid split a fifth of train is held out. After Ctrl-C the same
    command goes on; finished trials are only read.

    Example: nary tune nobel --recipe gran/nobel --grid loss.entity_label_smoothing=0.1,0.2 --grid model.dropout=0.1,0.3
    """
    from nary.config import parse_overrides
    from nary.data.files import atomic_path
    from nary.recipe import choose
    from nary.runs.resuming import start_or_resume
    from nary.runs.searches import search as find_search
    from nary.runs.tuning import Tuning, parse_space, record_trial

    space = parse_space(grid)
    proposals = find_search(search, space, trials, seed)
    dataset = open_data(data, None, OnError.stop, quiet=json)
    chosen = choose(dataset.name, model, recipe, parse_overrides(set_ or []))
    folder = out or Path("runs") / f"tune-{dataset.name}-{chosen.model_name}"
    tuning = Tuning(dataset, chosen, space, folder)
    for note in tuning.notes:
        notice(note)
    found: list[Trial] = []
    for trial in tuning.trials(proposals, lambda run: _train(run, quiet=json)):
        found.append(trial)
        notice(f"trial {len(found)}: {_mrr(trial)}, {trial.folder.name}")
        if results is not None:
            record_trial(trial, results)
    best, winner = tuning.best(found)
    path = folder / "best.toml"
    with atomic_path(path) as temporary:
        temporary.write_text(winner.as_toml(), encoding="utf-8")
    if retrain:
        _train(start_or_resume(winner, folder / "best", lambda: dataset), quiet=json)
    if json:
        told = {"trials": [trial.as_dict() for trial in found], "best": best.as_dict(), "recipe": str(path)}
        print_json({**told, "run": str(folder / "best") if retrain else None})
        return
    ranked = sorted(found, key=lambda trial: -(trial.mrr or 0.0))
    rows = [[_mrr(trial), trial.epochs, *(str(trial.values.get(key, "")) for key in space)] for trial in ranked]
    print_table("Trials, the best first", ["valid entity MRR", "epochs", *space], rows)
    typer.echo(f"{path}: the best settings, to learn from train and valid")
    typer.echo(f"Next: nary evaluate {folder / 'best'}" if retrain else f"Next: nary train {data} --recipe {path}")


def _train(run: "Run", quiet: bool) -> "Run":
    from nary.runs import InterruptedRun, train_run

    try:
        with TrainingBar(show=not quiet) as bar:
            return train_run(run, [bar]).run
    except InterruptedRun as interrupted:
        raise InterruptedRun(interrupted.message, "The same command goes on.") from None


def _mrr(trial: "Trial") -> str:
    return "diverged" if trial.mrr is None else f"{trial.mrr:.3f}"
