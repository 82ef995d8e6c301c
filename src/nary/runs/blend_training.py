"""Blends as runs: train the parts of a recipe and blend them, or blend runs that are finished."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.files.writing import atomic_path
from nary.inference.folder import WEIGHTS_FILE
from nary.models.blend.settings import BLEND
from nary.progress import Progress, no_progress
from nary.recipe import Recipe
from nary.runs.blending import Blended, Part, PartResult, blend_parts, part_names
from nary.runs.log import append_line, append_record, record_log
from nary.runs.preparation import check_recipe
from nary.runs.run_folder import MODEL, RunFolder, check_free, is_run_folder, load_model
from nary.runs.trained_model import TrainedModel
from nary.runs.training import InterruptedRun, TrainingResult, effective_settings, resume, train_recipe
from nary.training.callbacks import Callback

_PARTS = "parts"


@dataclass(frozen=True, repr=False)
class BlendResult(TrainingResult):
    """What blending returns: the blend, and what its parts are worth on the valid facts."""

    parts: Sequence[PartResult] = ()
    """The parts and, last, the blend."""

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {**super().as_dict(), "parts": [part.as_dict() for part in self.parts]}


def train_blend(dataset: Dataset, recipe: Recipe, path: Path | None, callbacks: Sequence[Callback]) -> BlendResult:
    """Train each part, in a run folder of its own inside ``path`` or in memory, and blend them."""
    _check_blend(dataset, recipe)
    if path is None:
        return _train(dataset, recipe, None, callbacks)
    check_free(path)
    folder = RunFolder.create(path, dataset, recipe)
    with folder.locked():
        return _train(dataset, recipe, folder, callbacks)


def start_blend(dataset: Dataset, recipe: Recipe, path: Path, runs: Iterable[Path]) -> None:
    """Create the run folder of a blend with the parts that are among ``runs``; resuming it trains the others.

    A finished run is copied if it was trained with the settings of a part.
    """
    _check_blend(dataset, recipe)
    folder = RunFolder.create(path, dataset, recipe)
    finished = [RunFolder(run) for run in runs if (run / MODEL / WEIGHTS_FILE).is_file()]
    by_settings = [(_trained_settings(run.recipe), run.path) for run in finished]
    for name, part in zip(part_names([part.model_name for part in recipe.parts]), recipe.parts, strict=True):
        wanted = _trained_settings(part)
        run = next((run for settings, run in by_settings if settings == wanted), None)
        if run is not None:
            with atomic_path(folder.path / _PARTS / name) as temporary:
                shutil.copytree(run, temporary)


def _trained_settings(recipe: Recipe) -> dict[str, Any]:
    """The settings that the weights depend on."""
    settings = effective_settings(recipe)
    del settings["evaluation"]
    return settings


def _check_blend(dataset: Dataset, recipe: Recipe) -> None:
    for part in (recipe, *recipe.parts):
        check_recipe(dataset, part)
    if "valid" not in dataset.splits or "valid" in recipe.data.train_on:
        raise SettingError(
            "a blend needs valid facts that its parts have not learned from, to fit its weights on",
            'Set data.train_on=["train"], or hold facts out with data.valid_fraction.',
        )


def resume_blend(folder: RunFolder, callbacks: Sequence[Callback]) -> BlendResult:
    """Continue with the part that was interrupted; a finished blend is only loaded."""
    if not (folder.model_path / WEIGHTS_FILE).is_file():
        return _train(folder.load_dataset(), folder.recipe, folder, callbacks)
    parts = [PartResult(record["part"], record["mrr"], record["part_seconds"]) for record in part_records(folder)]
    return _result(load_model(folder.path, folder.recipe.training.device), parts, 0, folder)


def _train(dataset: Dataset, recipe: Recipe, folder: RunFolder | None, callbacks: Sequence[Callback]) -> BlendResult:
    parts, steps = [], 0
    names = part_names([part.model_name for part in recipe.parts])
    for name, part in zip(names, recipe.parts, strict=True):
        path = None if folder is None else folder.path / _PARTS / name
        try:
            if path is not None and is_run_folder(path):
                result = resume(path, callbacks)
            else:
                result = train_recipe(dataset, part, path, callbacks)
        except InterruptedRun as interrupted:
            hint = None if folder is None else f"Continue with: nary train --resume {folder}"
            raise InterruptedRun(f"{name}: {interrupted.message}", hint) from None
        parts.append(Part(name, result.model, result.seconds))
        steps += result.steps
    blended = blend_parts(parts, recipe)
    if folder is not None:
        _log(folder, blended)
        blended.model.save_trained(folder.model_path)
    result = _result(blended.model, results_of(blended), steps, folder)
    for callback in callbacks:
        callback.on_run_start(blended.model, folder)
        callback.on_run_end(result)
    return result


def blend_runs(
    runs: Sequence[str | Path | TrainedModel], out: Path | None = None, progress: Progress = no_progress
) -> BlendResult:
    """Blend trained models, given as run folders, model folders or in memory.

    With ``out``, a run folder is written there once the blend is ready.
    """
    if len(runs) < 2:
        raise SettingError(f"{len(runs)} run to blend", "Give two or more: nary blend RUN RUN --out RUN")
    if out is not None:
        check_free(out)
    names = [run.name if isinstance(run, TrainedModel) else str(run) for run in runs]
    models = [run if isinstance(run, TrainedModel) else load_model(run) for run in runs]
    times = [None if isinstance(run, TrainedModel) else _seconds(Path(run)) for run in runs]
    parts = [Part(*part) for part in zip(names, models, times, strict=True)]
    blended = blend_parts(parts, progress=progress)
    if out is None:
        return _result(blended.model, results_of(blended), 0, None)
    with atomic_path(out) as temporary:
        folder = RunFolder.create(temporary, blended.model.dataset, blended.model.recipe)
        _log(folder, blended)
        blended.model.save_trained(folder.model_path)
    return _result(blended.model, results_of(blended), 0, RunFolder(out))


def part_records(folder: RunFolder) -> list[dict[str, Any]]:
    """What the log says of the parts and, last, the blend; of the last time, if it was blended several times."""
    records = [record for record in folder.records() if "part" in record]
    return records[-len(folder.recipe.parts) - 1 :]


def results_of(blended: Blended) -> list[PartResult]:
    """What the parts and, last, the blend are worth; the blend costs what its parts and the fitting cost."""
    times = [part.seconds for part in blended.parts]
    total = None if None in times else blended.seconds + sum(time or 0 for time in times)
    return [*blended.parts, PartResult(BLEND, blended.mrr, total)]


def _seconds(run: Path) -> float | None:
    """The training time of a run, by its log; a model folder has none."""
    return RunFolder(run).seconds if is_run_folder(run) else None


def _log(folder: RunFolder, blended: Blended) -> None:
    """Write the worth of each part, and the time up to then, into the log of the run."""
    spent = 0.0
    for part in results_of(blended):
        spent += (blended.seconds if part.name == BLEND else part.seconds) or 0
        told = {"part": part.name, "part_seconds": part.seconds, "mrr": dict(part.mrr)}
        worth = {"valid_mrr": part.mrr["entity"]} if "entity" in part.mrr else {}
        append_record(folder, {"step": 0, "epoch": 0.0, "seconds": spent, **worth, **told})
        mrr = ", ".join(f"{group} {value:.4f}" for group, value in part.mrr.items())
        append_line(folder, f"{part.name}: valid MRR {mrr}")
    record_log(folder)


def _result(model: TrainedModel, parts: Sequence[PartResult], steps: int, folder: RunFolder | None) -> BlendResult:
    seconds = parts[-1].seconds or 0.0
    return BlendResult(model, [], None, 0.0, steps, seconds, 0.0, folder, parts)
