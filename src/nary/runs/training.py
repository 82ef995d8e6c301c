"""Train a recipe on a dataset, in memory or in a run folder that can be resumed."""

import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import torch

from nary.data.dataset import Dataset
from nary.errors import NaryError, NaryWarning, OutputError, SettingError
from nary.evaluation.metrics import Metrics
from nary.html import table_html
from nary.inference import folder as model_folder
from nary.models.base import Model
from nary.models.registry import MODELS
from nary.recipe import Recipe
from nary.runs.extending import extend
from nary.runs.log import RunLog, append_record
from nary.runs.preparation import check_model_size, check_recipe, prepare_dataset
from nary.runs.rescue import rescue
from nary.runs.run_folder import RunFolder, check_free, is_run_folder
from nary.runs.trained_model import TrainedModel, resolve_device
from nary.tables import Table, left
from nary.threads import is_chosen, one_thread
from nary.training.batches import TrainingBatches
from nary.training.callbacks import Callback, RunningMean, StepReport
from nary.training.checkpoint import Checkpoints
from nary.training.distributed.trainer import WorkerTrainer, check_workers
from nary.training.losses import Loss, make_loss
from nary.training.row_trainer import RowTrainer
from nary.training.rows import EntityTables
from nary.training.trainer import Trainer, Validate
from nary.wording import counted
from nary.workers import ALONE, Workers

_SOME_STEPS, _RISEN = 10, 2.0
_SMALL = 200_000_000  # parameters times instances a batch
_WITHOUT_EFFECT = {"training": {"device", "checkpoint_minutes"}, "evaluation": {"memory"}}


class InterruptedRun(NaryError):  # noqa: N818 (nobody made an error)
    """Training was interrupted; everything up to the last step is saved."""

    kind = "interrupted"
    exit_code = 130


@dataclass(frozen=True, repr=False)
class TrainingResult:
    """What training returns: the model, how it went, and the run folder if one was written."""

    model: TrainedModel
    losses: list[float]
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

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model.name} on {self.model.dataset.name}: {self._summary})"

    def _repr_html_(self) -> str:
        """How training went, for notebooks."""
        where = [] if self.folder is None else [f"Run folder: {self.folder}"]
        rows = [["model", repr(self.model)], ["training", self._summary]]
        about = table_html(Table(left("", ""), rows), notes=where)
        return about + "".join(report._repr_html_() for report in self.model.reports)

    @property
    def _summary(self) -> str:
        loss = [] if self.loss is None else [f"loss {self.loss:.4g}"]
        mrr = [f"valid MRR {self.metrics['entity']['mrr']:.3f}"] if "entity" in self.metrics else []
        return ", ".join(
            [counted(self.steps, "step"), f"{self.epochs:g} epochs", f"{self.seconds:.1f} seconds", *loss, *mrr]
        )

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
    workers: Workers = ALONE,
) -> TrainingResult:
    """Train ``recipe`` on a dataset from :func:`prepare_dataset`.

    With ``path``, a new run folder is written there, which :func:`resume` continues after an interruption; nothing is
    written before the settings, the device and the data are known to be usable. ``module`` is a model to train instead
    of a new one. Several ``workers`` need a path that all can reach; the first one writes the model there.
    """
    if recipe.parts:
        from nary.runs.blend_training import train_blend  # which trains the parts with this function

        _refuse_parts(workers)
        return train_blend(dataset, recipe, path, callbacks)
    check_recipe(dataset, recipe)
    if path is not None and workers.is_first:
        check_free(path)
    parts = build_parts(dataset, recipe, module, workers)
    if path is None:
        return _fit(parts, dataset, recipe, None, callbacks)
    if workers.is_first:
        RunFolder.create(path, dataset, recipe)
    workers.wait()
    folder = RunFolder(path)
    with _locked(folder, workers):
        return _fit(parts, dataset, recipe, folder, callbacks, workers=workers)


def resume(
    path: str | Path,
    callbacks: Sequence[Callback] = (),
    verify: bool = True,
    workers: Workers = ALONE,
    epochs: int | None = None,
    dataset: Dataset | None = None,
) -> TrainingResult:
    """Continue the run in a folder from its newest checkpoint; a finished run is only loaded.

    ``verify`` compares all files with their checksums, falls back to the checkpoint before if one is damaged, and warns
    of an edited recipe. The number of ``workers`` may be another one than before. ``epochs`` extends the run to so many
    epochs, with one worker. If ``dataset`` is that of the run, it is not read from the folder.
    """
    folder = RunFolder(path)
    with _locked(folder, workers):
        if verify and workers.is_first:
            folder.check_files()
        if epochs is not None:
            extend(folder, epochs)
        if folder.recipe.parts:
            from nary.runs.blend_training import resume_blend

            _refuse_parts(workers)
            return resume_blend(folder, callbacks)
        dataset = folder.load_dataset(dataset)
        parts = build_parts(dataset, folder.recipe, workers=workers)
        return _fit(parts, dataset, folder.recipe, folder, callbacks, verify, workers)


def train_or_resume(
    recipe: Recipe,
    path: Path,
    load: Callable[[], Dataset],
    callbacks: Sequence[Callback] = (),
    workers: Workers = ALONE,
) -> TrainingResult:
    """Train ``recipe`` in ``path``, or continue the run that is there, with the data that it was started with.

    If that is what ``load`` gives, it is not read from the run folder, so that mapped data stay on the disk.
    """
    (exists,) = workers.any(is_run_folder(path))
    dataset = prepare_dataset(load(), recipe)
    if not exists:
        return train_recipe(dataset, recipe, path, callbacks, workers=workers)
    if effective_settings(RunFolder(path).recipe) != effective_settings(recipe):
        raise OutputError(f"{path} holds a run with other settings", "Choose another --out, or remove that folder.")
    return resume(path, callbacks, workers=workers, dataset=dataset)


def _locked(folder: RunFolder, workers: Workers) -> AbstractContextManager[None]:
    """The lock of the run, which the first worker holds for all."""
    return folder.locked() if workers.is_first else nullcontext()


def _refuse_parts(workers: Workers) -> None:
    if workers.size > 1:
        raise SettingError(
            "several workers cannot train a blend",
            "Choose a --model, such as gran; nary blend makes a blend of trained runs.",
        )


def effective_settings(recipe: Recipe) -> dict[str, Any]:
    """The settings that affect the results: recipes are equivalent if these are equal."""
    return recipe.model_dump(exclude=_WITHOUT_EFFECT)


def seedless_settings(recipe: Recipe) -> dict[str, Any]:
    """The effective settings without the seed."""
    settings = effective_settings(recipe)
    del settings["training"]["seed"]
    return settings


class TrainingParts(NamedTuple):
    """What a trainer needs besides the recipe."""

    module: Model
    batches: TrainingBatches
    loss: Loss
    device: torch.device
    seconds: float
    """What building the model took: all its cost if it counts instead of being trained."""


def build_parts(
    dataset: Dataset, recipe: Recipe, module: Model | None = None, workers: Workers = ALONE
) -> TrainingParts:
    """Build what a trainer needs; ``module`` is a model to train instead of a new one."""
    device = resolve_device(recipe.training.device)
    info = recipe.dataset_info(dataset)
    check_model_size(recipe, info)
    start = time.perf_counter()
    if module is None:
        torch.manual_seed(recipe.training.seed)  # the initial weights depend on the seed alone
        module = MODELS.get(recipe.model_name)(recipe.model, replace(info, workers=workers))
    seconds = time.perf_counter() - start
    loss = make_loss(recipe.loss, info, device)
    if loss.by_rows:
        EntityTables(module)  # refuses models without
    if workers.size > 1:
        check_workers(module, loss, recipe.training.batch_size, workers)
    batches = TrainingBatches(info.facts, recipe.training, module.roles, whole_facts=loss.whole_facts)
    if recipe.training.epochs and not batches.num_steps(recipe.training.epochs):
        raise SettingError(
            f"{len(batches):,} instances in {recipe.training.epochs} epochs do not fill one batch of "
            f"{recipe.training.batch_size:,}",
            "Lower training.batch_size, or train for more epochs.",
        )
    return TrainingParts(module.to(device), batches, loss, device, seconds)


def _fit(
    parts: TrainingParts,
    dataset: Dataset,
    recipe: Recipe,
    folder: RunFolder | None,
    callbacks: Sequence[Callback],
    verify: bool = True,
    workers: Workers = ALONE,
) -> TrainingResult:
    model = TrainedModel(parts.module, dataset, recipe)
    for callback in callbacks:
        callback.on_run_start(model, folder)
    result = None
    try:
        result = _fit_model(parts, model, folder, callbacks, verify, workers)
    finally:
        for callback in callbacks:
            callback.on_run_end(result)
    return result


def _fit_model(
    parts: TrainingParts,
    model: TrainedModel,
    folder: RunFolder | None,
    callbacks: Sequence[Callback],
    verify: bool,
    workers: Workers,
) -> TrainingResult:
    module, batches, loss, device, build_seconds = parts
    recipe = model.recipe
    validate = _validation(model, workers)
    history = _LossHistory()
    log = [] if folder is None or not workers.is_first else [RunLog(folder)]
    checkpoints = None
    if folder is not None:
        checkpoints = Checkpoints(folder.checkpoints_path, verify, folder.check_present, workers)
    kind: Callable[..., Trainer] = RowTrainer if loss.by_rows else Trainer
    if workers.size > 1:
        kind = partial(WorkerTrainer, workers=workers)
    trainer = kind(module, batches, loss, recipe.training, checkpoints, device, validate, [history, *log, *callbacks])
    try:
        with one_thread() if _is_small(model) and not is_chosen() else nullcontext():
            state = trainer.fit()
        if state.interrupted:
            hint = None if folder is None else f"Continue with: nary train --resume {folder}"
            raise InterruptedRun(f"stopped after step {state.step}" + ("; saved" if folder else ""), hint)
        if workers.is_first:
            _warn_if_diverged(history.losses)
        module.eval()
        seconds = state.seconds
        if not list(module.parameters()):
            seconds = build_seconds
            if folder is not None and folder.seconds is None:
                append_record(folder, {"step": 0, "epoch": 0.0, "seconds": seconds})
        if workers.is_first:  # the model of the others is not whole
            rank_valid = bool(validate and recipe.training.eval_every)
            _finish(model, folder, trained=bool(history.losses), rank_valid=rank_valid)
    except NaryError as error:
        if folder is not None and workers.size == 1 and not folder.is_present():
            raise rescue(model, trainer, folder) from error
        raise
    instances = state.step * recipe.training.batch_size
    return TrainingResult(
        model,
        history.losses,
        log[0].loss.value if log else history.mean.value,
        round(instances / len(batches), 3),
        state.step,
        seconds,
        instances / state.seconds if state.seconds else 0.0,
        folder,
    )


def _is_small(model: TrainedModel) -> bool:
    """Whether a second thread gains little, and costs much where other processes need the cores."""
    return model.num_parameters * model.recipe.training.batch_size <= _SMALL


def _warn_if_diverged(losses: Sequence[float]) -> None:
    """Say if the loss has risen a lot: such a model is worse than one that was not trained."""
    if len(losses) < _SOME_STEPS:
        return
    first, last = losses[0], fmean(losses[-_SOME_STEPS:])
    if last > _RISEN * abs(first):
        warnings.warn(
            f"the training has diverged: the loss rose from {first:.4g} to {last:.4g}. "
            "Try a smaller training.learning_rate or a longer training.warmup_ratio",
            NaryWarning,
            stacklevel=2,
        )


def _validation(model: TrainedModel, workers: Workers) -> Validate | None:
    """The entity MRR on the valid split, unless that is trained on; each worker ranks its share."""
    if "valid" not in model.dataset.splits or "valid" in model.recipe.data.train_on:
        return None
    protocol = model.recipe.evaluation.without_curve()

    def validate() -> float:
        report = model.evaluate("valid", protocol=protocol, progress=False, workers=workers)
        model.reports = [report]
        return float(report.metrics["entity"]["mrr"])

    return validate


def _finish(model: TrainedModel, folder: RunFolder | None, *, trained: bool, rank_valid: bool) -> None:
    """Rank the valid split and save the model; the reports of a run that was finished before still hold."""
    if folder is not None and not trained and (folder.model_path / model_folder.METRICS_FILE).is_file():
        model.reports = model_folder.load_reports(folder.model_path)
    else:
        model.reports = [model.evaluate("valid")] if rank_valid else []
    if folder is not None:
        folder.check_present()
        model.save_trained(folder.model_path)
