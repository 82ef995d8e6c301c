"""``nary tune``: choose hyperparameters on the valid split."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Data, Json, Overrides, Seed
from nary.apps.cli.output import notice, open_data, print_json, print_table
from nary.apps.cli.training_bar import TrainingBar

if TYPE_CHECKING:
    from collections.abc import Callable

    from nary.data.dataset import Dataset
    from nary.recipe import Recipe
    from nary.runs import TrainingResult
    from nary.runs.tuning import Trial


def tune(
    data: Data,
    grid: Annotated[
        list[str], typer.Option("--grid", metavar="KEY=V,V,...", help="Values to try: model.dropout=0.1,0.2")
    ],
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="See: nary models; default: gran.")
    ] = None,
    recipe: Annotated[
        str | None, typer.Option("--recipe", metavar="FILE", help="A TOML file, or the name of a shipped recipe.")
    ] = None,
    set_: Overrides = None,
    search: Annotated[
        str, typer.Option("--search", metavar="KIND", help="grid (all), each (one change at a time), random or tpe.")
    ] = "grid",
    trials: Annotated[
        int | None, typer.Option("--trials", help="The number of trials of random and tpe; default: 10.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help="The folder of the trials.")] = None,
    retrain: Annotated[
        bool, typer.Option("--retrain", help="Then train with the best settings on train+valid.")
    ] = False,
    results: Annotated[
        Path | None,
        typer.Option("--results", metavar="FOLDER", help="Also record the trials there, for nary results."),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Train on train with each setting, choose by entity MRR on valid, and write the best settings as a recipe.

    The test split is never used. Without a valid split, a fifth of train is held out. After Ctrl-C, run the same
    command again to resume; finished trials are not trained again.

    Example: nary tune nobel --recipe gran/nobel --grid loss.entity_label_smoothing=0.1,0.2 --grid model.dropout=0.1,0.3
    """
    from nary.config import parse_overrides
    from nary.data.files import atomic_path
    from nary.recipe import choose_recipe
    from nary.reproduction.records import record_trial
    from nary.runs.tuning import Tuning, new_search, parse_space

    space = parse_space(grid)
    proposals = new_search(search, space, trials, seed)
    dataset = open_data(data, quiet=json)
    base = choose_recipe(dataset.name, model, recipe, parse_overrides(set_ or []))
    folder = out or Path("runs") / f"tune-{dataset.name}-{base.model_name}"
    tuning = Tuning(dataset, base, space, folder)
    for note in tuning.notes:
        notice(note)
    finished: list[Trial] = []
    for trial in tuning.trials(proposals, partial(_train, quiet=json)):
        finished.append(trial)
        notice(f"trial {len(finished)}: {_mrr(trial)}, {trial.folder.name}")
        if results is not None:
            record_trial(trial, results)
    best, best_recipe = tuning.best(finished)
    path = folder / "best.toml"
    with atomic_path(path) as temporary:
        temporary.write_text(best_recipe.as_toml(), encoding="utf-8")
    if retrain:
        _train(best_recipe, folder / "best", lambda: dataset, quiet=json)
    if json:
        summary = {"trials": [trial.as_dict() for trial in finished], "best": best.as_dict(), "recipe": str(path)}
        print_json({**summary, "run": str(folder / "best") if retrain else None})
        return
    ranked = sorted(finished, key=lambda trial: -(trial.mrr or 0.0))
    rows = [[_mrr(trial), trial.epochs, *(str(trial.values.get(key, "")) for key in space)] for trial in ranked]
    print_table("Trials, best first", ["valid entity MRR", "epochs", *space], rows)
    typer.echo(f"{path}: the best settings, for training on train+valid")
    typer.echo(f"Next: nary evaluate {folder / 'best'}" if retrain else f"Next: nary train {data} --recipe {path}")


def _train(recipe: "Recipe", path: Path, load: "Callable[[], Dataset]", quiet: bool) -> "TrainingResult":
    from nary.runs import InterruptedRun, train_or_resume

    try:
        with TrainingBar(show=not quiet) as bar:
            return train_or_resume(recipe, path, load, [bar])
    except InterruptedRun as interrupted:
        raise InterruptedRun(interrupted.message, "Run the same command again to resume.") from None


def _mrr(trial: "Trial") -> str:
    return "diverged" if trial.mrr is None else f"{trial.mrr:.3f}"
