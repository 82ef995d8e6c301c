"""``nary train``: train a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nary.apps.cli.launch import in_several, launched
from nary.apps.cli.options import Json, MaybeData, NumWorkers, Overrides, Threads
from nary.apps.cli.output import notice, open_data, print_json, say
from nary.apps.cli.train_seeds import parse_seeds, train_over_seeds
from nary.apps.cli.training_bar import TrainingBar
from nary.config import parse_overrides
from nary.errors import MissingExtraError, SettingError
from nary.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nary.runs import TrainingResult
    from nary.training.callbacks import Callback
    from nary.workers import Workers

_FEW_STEPS = 200


def train(
    data: MaybeData = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="See: nary models. Default: auto (a blend) for your own data, gran for named datasets.",
        ),
    ] = None,
    recipe: Annotated[
        str | None, typer.Option("--recipe", metavar="FILE", help="A TOML file, or the name of a shipped recipe.")
    ] = None,
    set_: Overrides = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="RUN", help="The run folder to create.")] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="RUN", help="Continue a run with its own settings.")
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option("--epochs", metavar="N", help="Short for --set training.epochs=N. With --resume: extend the run."),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Short for --set training.seed=N.")] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            "--seeds", metavar="N,N,...", help="Train with each seed, evaluate on test, and report mean ± std."
        ),
    ] = None,
    device: Annotated[str | None, typer.Option("--device", help="auto, cpu, cuda, ...")] = None,
    precision: Annotated[str | None, typer.Option("--precision", help="auto, fp32 or bf16.")] = None,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", metavar="M", help="Train for about M minutes instead of the epochs of the recipe."),
    ] = None,
    track: Annotated[
        list[str] | None,
        typer.Option(
            "--track",
            metavar="NAME[=WHERE]",
            help="Report to tensorboard, mlflow, wandb, csv or json; WHERE is a folder, experiment, project or file.",
        ),
    ] = None,
    workers: NumWorkers = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Train a model on facts, with the shipped recipe for the model and the dataset if there is one.

    Ctrl-C finishes the step, saves a checkpoint, and prints the command that resumes training.

    With --workers, or if started by torchrun, processes share each batch and the entity table, and an existing run at
    --out is continued.

    With --seeds 0,1,2, OUT contains a run for each seed; after Ctrl-C, run the same command again.

    Example: nary train nobel --epochs 20 --out runs/nobel

    Example: nary train jf17k --model gran --workers 2 --out runs/jf17k
    """
    several = in_several(workers)
    if several and minutes is not None:
        raise SettingError("--minutes is for one process", "Set training.epochs or training.max_steps.")
    if several and (seeds is not None or (resume is not None and epochs is not None)):
        raise SettingError("--seeds and more --epochs of a run are for one process", "Leave --workers out.")
    if several and resume is None and out is None:
        raise SettingError("several workers need --out", "Workers that are started again go on with the run there.")
    if launched(workers):
        return
    from nary.runs.trackers import make_trackers
    from nary.workers import joined

    with joined() as group:
        trackers = make_trackers(track or []) if group.is_first else []
        if resume is not None:
            others = (data, model, recipe, set_ or None, out, seed, seeds, device, precision, minutes)
            if any(given is not None for given in others):
                raise SettingError("--resume takes all settings from the run", "Leave DATA and the other options out.")
            result = _resume(resume, epochs, json, trackers, group)
        else:
            if data is None:
                raise SettingError(
                    "no DATA to train on", "nary train nobel, nary train facts.jsonl, nary train --resume RUN"
                )
            shortcuts = {"epochs": epochs, "seed": seed, "device": device, "precision": precision}
            overrides = {f"training.{key}": value for key, value in shortcuts.items() if value is not None}
            settings = {**overrides, **parse_overrides(set_ or [])}
            if seeds is not None:
                train_over_seeds(data, model, recipe, settings, out, parse_seeds(seeds, seed, minutes), json, trackers)
                return
            result = _train(data, model, recipe, settings, out, minutes, json, trackers, group)
    if group.is_first:
        _report(result, json)


def _resume(
    run: Path, epochs: int | None, json: bool, callbacks: "Sequence[Callback]", workers: "Workers"
) -> "TrainingResult":
    from nary.runs import resume

    with TrainingBar(show=not json and workers.is_first) as bar:
        return resume(run, [bar, *callbacks], workers=workers, epochs=epochs)


def _train(
    data: str,
    model: str | None,
    recipe: str | None,
    overrides: dict[str, Any],
    out: Path | None,
    minutes: float | None,
    json: bool,
    callbacks: "Sequence[Callback]",
    workers: "Workers",
) -> "TrainingResult":
    from nary.auto import MINUTES, auto_note, auto_recipe, is_auto
    from nary.recipe import choose_recipe, default_recipe_note
    from nary.runs import fit_epochs, prepare_dataset, train_recipe
    from nary.runs.budget import check_budget
    from nary.runs.preparation import size_note
    from nary.runs.run_folder import check_free, free_path
    from nary.runs.training import train_or_resume

    if minutes is not None:
        check_budget(overrides)
    if out is not None and workers.size == 1:
        check_free(out)
    dataset = open_data(data, quiet=json or not workers.is_first)
    auto = is_auto(dataset, model, recipe, overrides)
    if auto and workers.size > 1:
        raise SettingError("without --model or --recipe a blend is trained, by one process", "Add --model gran.")
    if auto:
        minutes = MINUTES if minutes is None else minutes
        chosen = auto_recipe(dataset, overrides)
    else:
        chosen = choose_recipe(dataset.name, model, recipe, overrides, num_facts=len(dataset))
    prepared = prepare_dataset(dataset, chosen)
    for note in prepared.notes[len(dataset.notes) :]:
        notice(note)
    default_note = default_recipe_note(dataset.name, chosen.model_name)
    if auto and minutes is not None:
        notice(auto_note(chosen, minutes))
    elif recipe is None and not json and default_note:
        notice(default_note)
    if advice := size_note(chosen, len(dataset.vocabulary.entities)):
        notice(advice)
    if minutes is not None:
        chosen = fit_epochs(prepared, chosen, minutes, at_most=auto)
        if not json and chosen.training.max_steps:
            notice(f"{counted(chosen.training.max_steps, 'step fits', 'steps fit')} into {minutes:g} minutes")
    with TrainingBar(show=not json and workers.is_first) as bar:
        if out is not None and workers.size > 1:
            return train_or_resume(chosen, out, lambda: dataset, [bar, *callbacks], workers)
        return train_recipe(prepared, chosen, out or free_path(dataset.name, chosen.model_name), [bar, *callbacks])


def _report(result: "TrainingResult", json: bool) -> None:
    from nary.apps.cli.blend import print_parts
    from nary.apps.plots import plot_curves
    from nary.runs import BlendResult

    folder = result.run_folder
    try:
        plot_curves(folder)
    except MissingExtraError as missing:
        notice(f"no curves were drawn. {missing.hint}")
    if 0 < result.steps < _FEW_STEPS:
        notice(
            f"only {counted(result.steps, 'step')}; more epochs or a smaller training.batch_size make more of few facts"
        )
    if json:
        print_json(result.as_dict())
        return
    if isinstance(result, BlendResult):
        print_parts(result)
        say(f"{folder}\nNext: nary evaluate {folder}")
        return
    if not result.steps:
        say(f"{folder}: no steps, because nothing is optimized\nNext: nary evaluate {folder}")
        return
    say(
        f"{folder}: {counted(result.steps, 'step')} ({result.epochs:.1f} epochs) in {result.seconds:,.0f} seconds, "
        f"{result.instances_per_second:,.0f} instances/s, loss {result.loss or 0:.4f}"
    )
    say(f"Next: nary evaluate {folder}")
