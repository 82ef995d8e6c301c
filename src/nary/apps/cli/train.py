"""``nary train``: learn from facts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.opening import open_data
from nary.apps.cli.options import Json, MaybeData, OnError
from nary.apps.cli.output import notice, print_json
from nary.apps.cli.training_bar import TrainingBar
from nary.errors import MissingExtraError, SettingError

if TYPE_CHECKING:
    from nary.runs import Run

_FEW_STEPS = 200


def train(
    data: MaybeData = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="See: nary models; gran if not given.")
    ] = None,
    recipe: Annotated[
        str | None, typer.Option("--recipe", metavar="FILE", help="A TOML file, or the name of a shipped recipe.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Another value for a key of the recipe.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="RUN", help="The folder of the run.")] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="RUN", help="Go on with a run; takes everything from it.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Short for --set training.seed=N.")] = None,
    device: Annotated[str | None, typer.Option("--device", help="auto, cpu, cuda, ...")] = None,
    precision: Annotated[str | None, typer.Option("--precision", help="auto, fp32 or bf16.")] = None,
    json: Json = False,
) -> None:
    """Train a model on facts, with the recipe shipped for the model and the dataset if there is one.

    Ctrl-C finishes the step, saves, and says how to go on.

    Example: nary train nobel --set training.epochs=20 --out runs/nobel
    """
    from nary.apps.plots import plot_curves
    from nary.runs import resume_run, train_run

    if resume is not None:
        if any(given is not None for given in (data, model, recipe, set_ or None, out, seed, device, precision)):
            raise SettingError("--resume takes everything from the run", "Leave DATA and the other options out.")
        run = resume_run(resume)
    else:
        if data is None:
            raise SettingError(
                "no DATA to train on", "nary train nobel, nary train facts.jsonl, nary train --resume RUN"
            )
        shortcuts = {"training.seed": seed, "training.device": device, "training.precision": precision}
        run = _new_run(
            data, model, recipe, set_ or [], {k: v for k, v in shortcuts.items() if v is not None}, out, json
        )
    with TrainingBar(show=not json) as bar:
        trained = train_run(run, [bar])
    try:
        plot_curves(Path(str(run.folder)))
    except MissingExtraError as missing:
        notice(f"no curves were drawn. {missing.hint}")
    if 0 < trained.steps < _FEW_STEPS:
        notice(f"only {trained.steps} steps; more epochs or a smaller training.batch_size make more of few facts")
    if json:
        print_json(trained.as_dict())
        return
    typer.echo(
        f"{run.folder}: {trained.steps:,} steps ({trained.epochs:.1f} epochs) in {trained.seconds:,.0f} seconds, "
        f"{trained.instances_per_second:,.0f} instances a second, loss {trained.loss or 0:.4f}"
    )
    typer.echo(f"Next: nary evaluate {run.folder}")


def _new_run(
    data: str,
    model: str | None,
    recipe: str | None,
    texts: list[str],
    given: dict[str, object],
    out: Path | None,
    quiet: bool,
) -> "Run":
    from nary.config import parse_overrides
    from nary.recipe import EXAMPLE, choose, shipped
    from nary.runs import start_run
    from nary.runs.training import free_folder

    dataset = open_data(data, None, OnError.stop, quiet)
    chosen = choose(dataset.name, model, recipe, {**given, **parse_overrides(texts)})
    run = start_run(dataset, chosen, out or free_folder(dataset.name, chosen.model_name))
    for note in run.dataset.notes[len(dataset.notes) :]:
        notice(note)
    name = chosen.model_name
    if recipe is None and f"{name}/{dataset.name}" not in shipped() and f"{name}/{EXAMPLE}" in shipped() and not quiet:
        notice(f"no recipe for this data: that of {name}/{EXAMPLE}, small and quick; --recipe and --set take others")
    return run
