"""From a recipe to a trained run, and on from where it was interrupted.

A run folder holds ``recipe.toml`` (every setting written out), ``log.txt``, ``metrics.jsonl``, ``checkpoints/`` and
``model/``. All that a resumed run needs is in it.
"""

from dataclasses import dataclass
from itertools import count
from pathlib import Path

import torch

from nary.config import read_toml
from nary.data.dataset import Dataset
from nary.data.files import atomic_path
from nary.data.load import with_valid
from nary.data.splits import split_dataset
from nary.data.triples import triples_only
from nary.errors import NaryError, OutputError, SettingError
from nary.inference import folder as model_folder
from nary.inference.reports import METRICS, load_reports
from nary.models.base import DatasetInfo
from nary.models.registry import MODELS
from nary.recipe import Recipe, recipe_from
from nary.runs.log import RunLog
from nary.runs.run import MODEL, RECIPE, Run
from nary.training.checkpoint import Checkpoints
from nary.training.instances import Instances
from nary.training.loop import Listener, StepReport, Training, Validate


class InterruptedRun(NaryError):  # noqa: N818 (nobody made an error)
    """The training was interrupted; everything up to the last step is saved."""

    kind = "interrupted"
    exit_code = 130


@dataclass(frozen=True)
class Trained:
    """What a training came to."""

    run: Run
    epochs: float
    steps: int
    seconds: float
    loss: float | None
    instances_per_second: float

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        recipe = self.run.recipe
        return {
            "run": str(self.run.folder),
            "model": recipe.model_name if recipe else None,
            "dataset": self.run.dataset.name,
            "epochs": self.epochs,
            "steps": self.steps,
            "seconds": self.seconds,
            "instances_per_second": self.instances_per_second,
            "loss": self.loss,
        }


def free_folder(dataset: str, model: str) -> Path:
    """A folder under ``runs/`` for a new run, named after what is trained on what."""
    names = (f"{dataset}-{model}" + (f"-{number}" if number > 1 else "") for number in count(1))
    return next(path for name in names if not (path := Path("runs") / name).exists())


def start_run(dataset: Dataset, recipe: Recipe, folder: Path) -> Run:
    """A new run folder with everything but weights: the recipe, the vocabulary, the facts."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(
            f"{folder} exists and is not an empty folder", "Choose another --out, or go on with --resume."
        )
    _check_objective(recipe)
    dataset = _usable(dataset, recipe)
    with atomic_path(folder) as temporary:
        model_folder.save_description(temporary / MODEL, dataset, recipe.model, recipe.as_tables())
        (temporary / RECIPE).write_text(recipe.as_toml(), encoding="utf-8")
    return _untrained(dataset, recipe, folder)


def resume_run(folder: Path) -> Run:
    """The run in ``folder``, to go on with."""
    path = folder / RECIPE
    if not path.is_file():
        raise SettingError(f"{folder} is no run folder: it has no {RECIPE}", "nary train DATA --out RUN makes one.")
    return _untrained(model_folder.load_dataset(folder / MODEL), recipe_from(read_toml(path), str(path)), folder)


def train_run(run: Run, listener: Listener = lambda report: None) -> Trained:
    """Train ``run``, from its newest checkpoint on if it has one, and save the model."""
    recipe, folder = run.recipe, run.folder
    if recipe is None or folder is None:
        raise SettingError("this run has no recipe and no folder", "start_run makes one that can be trained.")
    device = _device(recipe.training.device)
    run.model.to(device)
    instances = Instances(run.model.info.facts, recipe.training, run.model.roles)
    if recipe.training.epochs and not instances.steps(recipe.training.epochs):
        raise SettingError(
            f"{len(instances):,} instances in {recipe.training.epochs} epochs do not fill one batch of "
            f"{recipe.training.batch_size:,}",
            "Lower training.batch_size, or train for more epochs.",
        )
    log = RunLog(folder, recipe, instances)
    training = Training(run.model, instances, recipe.training, Checkpoints(folder / "checkpoints"), device)
    training.validate = _validation(run, log)

    def heard(report: StepReport) -> None:
        log.step(report)
        listener(report)

    training.listener = heard
    start = log.start(training.checkpoints)
    done, finished = training.run()
    log.end(done, finished)
    if not finished:
        raise InterruptedRun(f"stopped after step {done.step}; saved", f"Go on with: nary train --resume {folder}")
    run.model.eval()
    if done.step == start and (folder / MODEL / METRICS).is_file():  # it was finished: what was evaluated still holds
        run.reports = load_reports(folder / MODEL)
        model_folder.save_weights(folder / MODEL, run.model.to("cpu"))
    else:
        run.reports = [run.evaluate("valid")] if training.validate and recipe.training.eval_every else []
        run.model.to("cpu")
        run.save_trained(folder / MODEL)
    per_second = done.step * recipe.training.batch_size / done.seconds if done.seconds else 0.0
    epochs = done.step * recipe.training.batch_size / len(instances)
    return Trained(run, round(epochs, 3), done.step, done.seconds, log.loss, per_second)


def _untrained(dataset: Dataset, recipe: Recipe, folder: Path) -> Run:
    torch.manual_seed(recipe.training.seed)  # the initial weights depend on the seed alone
    info = DatasetInfo.from_dataset(dataset, recipe.data.train_on, recipe.data.qualifiers)
    model = MODELS.get(recipe.model_name)(recipe.model, info)
    return Run(dataset, model, recipe.model, recipe, folder, saved_in=folder / MODEL)


def _usable(dataset: Dataset, recipe: Recipe) -> Dataset:
    """The dataset with the splits a training needs."""
    if set(dataset.splits) == {"train"}:
        dataset = split_dataset(dataset)
    if recipe.data.valid_fraction is not None:
        dataset = with_valid(dataset, recipe.data.valid_fraction)
    if not recipe.data.qualifiers:  # after dividing: the splits have the same facts with or without qualifiers
        dataset = triples_only(dataset)
    _check_validation(dataset, recipe)
    for split in recipe.data.train_on:
        if split not in dataset.splits:
            raise SettingError(
                f"data.train_on names {split}, which {dataset.name} does not have",
                f"It has: {', '.join(dataset.splits)}; data.valid_fraction can hold a valid split out of train.",
            )
    return dataset


def _check_objective(recipe: Recipe) -> None:
    """Refuse an objective that the model cannot be trained with."""
    known = sorted(MODELS.get(recipe.model_name).losses)
    if recipe.training.loss not in known:
        raise SettingError(
            f"{recipe.model_name} cannot be trained with training.loss = {recipe.training.loss!r}",
            f"It can with: {', '.join(known)}. Set one: --set training.loss={known[0]}",
        )


def _check_validation(dataset: Dataset, recipe: Recipe) -> None:
    """Refuse to validate, or to stop early, on a split that does not exist or is learned from."""
    every, patience = recipe.training.eval_every, recipe.training.patience
    if patience and not every:
        raise SettingError(
            f"training.patience is {patience}, but training.eval_every is 0", "Validate every epoch with 1."
        )
    if every and ("valid" not in dataset.splits or "valid" in recipe.data.train_on):
        raise SettingError(
            f"training.eval_every is {every}, but there is no valid split that is not learned from",
            "Leave valid out of data.train_on, or hold facts out of train with data.valid_fraction.",
        )
    if every:
        check_entities(recipe)


def check_entities(recipe: Recipe) -> None:
    """Refuse a protocol without what a model is chosen by."""
    if not recipe.evaluation.asks_entities:
        raise SettingError(
            f"evaluation.positions is {', '.join(recipe.evaluation.positions)}: no entities, whose MRR is to count",
            "Add subject, object or value; nary evaluate can rank without them.",
        )


def _validation(run: Run, log: RunLog) -> Validate | None:
    """The mean reciprocal rank of entities in the valid split, unless that is learned from."""
    if run.recipe is None or "valid" not in run.dataset.splits or "valid" in run.recipe.data.train_on:
        return None

    def validate() -> float:
        score = float(run.evaluate("valid").metrics["entity"]["mrr"])
        log.validated(score)
        return score

    return validate


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise SettingError(f"training.device is {name!r}: {str(error).splitlines()[0]}", "Try cpu or cuda.") from None
    return device
