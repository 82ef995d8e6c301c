"""Train a recipe on a dataset, in memory or in a run folder that can be resumed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch

from nary.data.dataset import Dataset
from nary.data.transforms.simplify import drop_qualifiers
from nary.data.transforms.splits import hold_out_valid, split_dataset
from nary.errors import NaryError, OutputError, SettingError
from nary.evaluation.metrics import Metrics
from nary.inference import folder as model_folder
from nary.models.base import Model
from nary.models.registry import MODELS
from nary.recipe import Recipe
from nary.runs.log import RunLog
from nary.runs.run_folder import RunFolder, check_free, is_run_folder
from nary.runs.trained_model import TrainedModel, resolve_device
from nary.training.batches import TrainingBatches
from nary.training.callbacks import Callback, RunningMean, StepReport
from nary.training.checkpoint import Checkpoints
from nary.training.losses import Loss, make_loss
from nary.training.settings import BUILT_IN_LOSSES
from nary.training.trainer import Trainer, Validate

_WITHOUT_EFFECT = {"training": {"device", "checkpoint_minutes"}, "evaluation": {"memory"}}


class InterruptedRun(NaryError):  # noqa: N818 (nobody made an error)
    """Training was interrupted; everything up to the last step is saved."""

    kind = "interrupted"
    exit_code = 130


@dataclass(frozen=True)
class TrainingResult:
    """What training returns: the model, how it went, and the run folder if one was written."""

    model: TrainedModel
    losses: list[float] = field(repr=False)
    """The loss of every step of this call."""
    loss: float | None
    """The running mean of the loss at the end; None if there was nothing to train."""
    epochs: float
    steps: int
    seconds: float
    instances_per_second: float
    folder: RunFolder | None = None

    @property
    def run_folder(self) -> RunFolder:
        """The run folder; an error if training was in memory only."""
        if self.folder is None:
            raise SettingError("this training wrote no run folder", "Give out= a path.")
        return self.folder

    @property
    def metrics(self) -> Metrics:
        """The metrics on the valid split; empty if it was not ranked."""
        return next((report.metrics for report in self.model.reports if report.split == "valid"), {})

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "run": None if self.folder is None else str(self.folder),
            "model": self.model.name,
            "dataset": self.model.dataset.name,
            "epochs": self.epochs,
            "steps": self.steps,
            "seconds": self.seconds,
            "instances_per_second": self.instances_per_second,
            "loss": self.loss,
        }


class _LossHistory(Callback):
    """Keeps the loss of every step and its running mean."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.mean = RunningMean()

    def on_step(self, trainer: Trainer, report: StepReport) -> None:
        self.losses.append(report.loss)
        self.mean.update(report.loss)


def train_recipe(
    dataset: Dataset,
    recipe: Recipe,
    path: Path | None = None,
    callbacks: Sequence[Callback] = (),
    module: Model | None = None,
) -> TrainingResult:
    """Train ``recipe`` on a dataset from :func:`prepare_dataset`.

    With ``path``, a new run folder is written there, which :func:`resume` continues after an interruption; nothing is
    written before the settings, the device and the data are known to be usable. ``module`` is a model to train instead
    of a new one.
    """
    check_recipe(dataset, recipe)
    if path is not None:
        check_free(path)
    parts = _build(dataset, recipe, module)
    folder = None if path is None else RunFolder.create(path, dataset, recipe)
    return _fit(parts, dataset, recipe, folder, callbacks)


def resume(path: str | Path, callbacks: Sequence[Callback] = ()) -> TrainingResult:
    """Continue the run in a folder from its newest checkpoint; a finished run is only loaded."""
    folder = RunFolder(path)
    dataset = folder.load_dataset()
    return _fit(_build(dataset, folder.recipe), dataset, folder.recipe, folder, callbacks)


def train_or_resume(
    recipe: Recipe, path: Path, load: Callable[[], Dataset], callbacks: Sequence[Callback] = ()
) -> TrainingResult:
    """Train ``recipe`` in ``path``, or continue the run that is there; ``load`` is called for a new one."""
    if not is_run_folder(path):
        return train_recipe(prepare_dataset(load(), recipe), recipe, path, callbacks)
    if effective_settings(RunFolder(path).recipe) != effective_settings(recipe):
        raise OutputError(f"{path} holds a run with other settings", "Choose another --out, or remove that folder.")
    return resume(path, callbacks)


def effective_settings(recipe: Recipe) -> dict[str, Any]:
    """The settings that affect the results: recipes are equivalent if these are equal."""
    return recipe.model_dump(exclude=_WITHOUT_EFFECT)


def seedless_settings(recipe: Recipe) -> dict[str, Any]:
    """The effective settings without the seed."""
    settings = effective_settings(recipe)
    del settings["training"]["seed"]
    return settings


class _Parts(NamedTuple):
    """What a trainer needs besides the recipe."""

    module: Model
    batches: TrainingBatches
    loss: Loss
    device: torch.device


def _build(dataset: Dataset, recipe: Recipe, module: Model | None = None) -> _Parts:
    device = resolve_device(recipe.training.device)
    info = recipe.dataset_info(dataset)
    if module is None:
        torch.manual_seed(recipe.training.seed)  # the initial weights depend on the seed alone
        module = MODELS.get(recipe.model_name)(recipe.model, info)
    loss = make_loss(recipe.loss, info, device)
    batches = TrainingBatches(info.facts, recipe.training, module.roles, whole_facts=loss.whole_facts)
    if recipe.training.epochs and not batches.num_steps(recipe.training.epochs):
        raise SettingError(
            f"{len(batches):,} instances in {recipe.training.epochs} epochs do not fill one batch of "
            f"{recipe.training.batch_size:,}",
            "Lower training.batch_size, or train for more epochs.",
        )
    return _Parts(module.to(device), batches, loss, device)


def _fit(
    parts: _Parts, dataset: Dataset, recipe: Recipe, folder: RunFolder | None, callbacks: Sequence[Callback]
) -> TrainingResult:
    module, batches, loss, device = parts
    model = TrainedModel(module, dataset, recipe)
    validate = _validation(model)
    history = _LossHistory()
    log = [] if folder is None else [RunLog(folder)]
    checkpoints = None if folder is None else Checkpoints(folder.checkpoints_path)
    trainer = Trainer(
        module, batches, loss, recipe.training, checkpoints, device, validate, [history, *log, *callbacks]
    )
    state = trainer.fit()
    if state.interrupted:
        hint = None if folder is None else f"Continue with: nary train --resume {folder}"
        raise InterruptedRun(f"stopped after step {state.step}" + ("; saved" if folder else ""), hint)
    module.eval()
    _finish(model, folder, trained=bool(history.losses), rank_valid=bool(validate and recipe.training.eval_every))
    instances = state.step * recipe.training.batch_size
    return TrainingResult(
        model,
        history.losses,
        log[0].loss.value if log else history.mean.value,
        round(instances / len(batches), 3),
        state.step,
        state.seconds,
        instances / state.seconds if state.seconds else 0.0,
        folder,
    )


def _validation(model: TrainedModel) -> Validate | None:
    """The entity MRR on the valid split, unless that is trained on."""
    if "valid" not in model.dataset.splits or "valid" in model.recipe.data.train_on:
        return None
    return lambda: float(model.evaluate("valid").metrics["entity"]["mrr"])


def _finish(model: TrainedModel, folder: RunFolder | None, *, trained: bool, rank_valid: bool) -> None:
    """Rank the valid split and save the model; the reports of a run that was finished before still hold."""
    if folder is not None and not trained and (folder.model_path / model_folder.METRICS_FILE).is_file():
        model.reports = model_folder.load_reports(folder.model_path)
        model_folder.save_weights(folder.model_path, model.module)
        return
    model.reports = [model.evaluate("valid")] if rank_valid else []
    if folder is not None:
        model.save_trained(folder.model_path)


def prepare_dataset(dataset: Dataset, recipe: Recipe) -> Dataset:
    """``dataset`` with the splits that training needs; its notes say what was changed."""
    if set(dataset.splits) == {"train"}:
        dataset = split_dataset(dataset)
    if recipe.data.valid_fraction is not None:
        dataset = hold_out_valid(dataset, recipe.data.valid_fraction)
    if not recipe.data.qualifiers:  # after splitting: the splits have the same facts with or without qualifiers
        dataset = drop_qualifiers(dataset)
    return dataset


def check_recipe(dataset: Dataset, recipe: Recipe) -> None:
    """Refuse settings that do not go with the model or the dataset."""
    losses = sorted(MODELS.get(recipe.model_name).losses)
    if recipe.loss.name in BUILT_IN_LOSSES and recipe.loss.name not in losses:  # others may be tried with any model
        raise SettingError(
            f"{recipe.model_name} cannot be trained with loss.name = {recipe.loss.name!r}",
            f"It can be trained with: {', '.join(losses)}. Set one: --set loss.name={losses[0]}",
        )
    _check_validation(dataset, recipe)
    for split in recipe.data.train_on:
        if split not in dataset.splits:
            raise SettingError(
                f"data.train_on names {split}, which {dataset.name} does not have",
                f"It has: {', '.join(dataset.splits)}; data.valid_fraction can hold a valid split out of train.",
            )


def _check_validation(dataset: Dataset, recipe: Recipe) -> None:
    """Refuse to validate, or to stop early, on a split that does not exist or is trained on."""
    every, patience = recipe.training.eval_every, recipe.training.patience
    if patience and not every:
        raise SettingError(
            f"training.patience is {patience}, but training.eval_every is 0", "Validate every epoch with 1."
        )
    if every and ("valid" not in dataset.splits or "valid" in recipe.data.train_on):
        raise SettingError(
            f"training.eval_every is {every}, but there is no valid split that is not trained on",
            "Leave valid out of data.train_on, or hold facts out of train with data.valid_fraction.",
        )
    if every:
        check_ranks_entities(recipe)


def check_ranks_entities(recipe: Recipe) -> None:
    """Refuse a protocol without entities, whose MRR models are selected by."""
    if not recipe.evaluation.asks_entities:
        raise SettingError(
            f"evaluation.positions is {', '.join(recipe.evaluation.positions)}: no entities, whose MRR is needed",
            "Add subject, object or value; nary evaluate can rank without them.",
        )
