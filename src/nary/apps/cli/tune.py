"""``nary tune``: choose hyperparameters on the valid split."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Data, Json, Overrides, Seed, Threads
from nary.apps.cli.output import notice, open_data, print_json, print_table, say
from nary.apps.cli.training_bar import TrainingBar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nary.data.dataset import Dataset
    from nary.recipe import Recipe
    from nary.runs import TrainingResult
    from nary.runs.tuning import Trial
    from nary.training.callbacks import Callback


def tune(
    data: Data,
    grid: Annotated[
        list[str] | None, typer.Option("--grid", metavar="KEY=V,V,...", help="Values to try: model.dropout=0.1,0.2")
    ] = None,
    range_: Annotated[
        list[str] | None,
        typer.Option(
            "--range", metavar="KEY=LOW:HIGH[:log]", help="A range to try: training.learning_rate=1e-4:1e-2:log"
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="See: nary models. Default: gran.")
    ] = None,
    recipe: Annotated[
        str | None, typer.Option("--recipe", metavar="FILE", help="A TOML file, or the name of a shipped recipe.")
    ] = None,
    set_: Overrides = None,
    search: Annotated[
        str | None,
        typer.Option(
            "--search",
            metavar="KIND",
            help="grid (all), each (one change at a time), random or tpe. Default: tpe with --range, else grid.",
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option("--trials", help="The number of trials for random and tpe. Default: 10.")
    ] = None,
    halving: Annotated[
        bool,
        typer.Option(
            "--halving", help="Successive halving: the best third of the trials continues for three times as long."
        ),
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help="The folder for the trials.")] = None,
    retrain: Annotated[
        bool, typer.Option("--retrain", help="Finally train on train+valid with the best settings.")
    ] = False,
    results: Annotated[
        Path | None,
        typer.Option("--results", metavar="FOLDER", help="Also record the trials in this folder, for nary results."),
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Train on train with each setting, select by entity MRR on valid, and write the best settings as a recipe.

    The test split is never used. Without a valid split, a fifth of train is held out. After Ctrl-C, run the same
    command again to resume; finished trials are not repeated.

    Example: nary tune nobel --recipe gran/nobel --grid loss.entity_label_smoothing=0.1,0.2 --grid model.dropout=0.1,0.3
    """
    from nary.config import parse_overrides
    from nary.files.writing import atomic_path
    from nary.recipe import choose_recipe
    from nary.reproduction.records import record_trial
    from nary.runs.search import new_search
    from nary.runs.space import parse_space
    from nary.runs.tuning import Tuning

    space = parse_space(grid or [], range_ or [])
    proposals = new_search(search or ("tpe" if range_ else "grid"), space, trials, seed)
    dataset = open_data(data, quiet=json)
    overrides = parse_overrides(set_ or [])
    base = choose_recipe(dataset.name, model, recipe, overrides, num_facts=len(dataset))
    folder = out or Path("runs") / f"tune-{dataset.name}-{base.model_name}"
    tuning = Tuning(dataset, base, space, folder, halving=halving)
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
        _train(best_recipe, folder / "best", lambda: dataset, (), quiet=json)
    if json:
        summary = {"trials": [trial.as_dict() for trial in finished], "best": best.as_dict(), "recipe": str(path)}
        print_json({**summary, "run": str(folder / "best") if retrain else None})
        return
    ranked = sorted(finished, key=lambda trial: (trial.stopped, -(trial.mrr or 0.0)))
    rows = [[_mrr(trial), _epochs(trial), *(str(trial.values.get(key, "")) for key in space)] for trial in ranked]
    print_table("Trials, best first", ["valid entity MRR", "epochs", *space], rows)
    say(f"{path}: the best settings, for training on train+valid")
    say(f"Next: nary evaluate {folder / 'best'}" if retrain else f"Next: nary train {data} --recipe {path}")


def _train(
    recipe: "Recipe", path: Path, load: "Callable[[], Dataset]", callbacks: "Sequence[Callback]", quiet: bool
) -> "TrainingResult":
    from nary.runs import InterruptedRun, train_or_resume

    try:
        with TrainingBar(show=not quiet) as bar:
            return train_or_resume(recipe, path, load, [bar, *callbacks])
    except InterruptedRun as interrupted:
        raise InterruptedRun(interrupted.message, "Run the same command again to resume.") from None


def _mrr(trial: "Trial") -> str:
    return "diverged" if trial.mrr is None else f"{trial.mrr:.3f}"


def _epochs(trial: "Trial") -> str:
    return f"{trial.epochs}, stopped" if trial.stopped else str(trial.epochs)
