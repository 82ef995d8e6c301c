"""Training for a given time: the speed of a few steps says how many fit."""

import math
import time
from collections.abc import Collection

import numpy as np
import torch

from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.evaluation.evaluate import evaluate
from nary.models.registry import MODELS
from nary.recipe import Recipe
from nary.runs.preparation import check_recipe
from nary.runs.training import TrainingParts, build_parts
from nary.training.callbacks import Callback, StepReport
from nary.training.trainer import Trainer

_WARM_UP = 1  # steps that take longer than the others
_MIN_STEPS = 3
_SHARE = 0.05  # of the budget spent on measuring
_MAX_SECONDS = 10.0
_VALID_FACTS = 50
_VALIDATION_SHARE = 0.2  # of the budget spent on validation, at most
_BLENDING_SHARE = 0.15  # of the budget of a blend left for counting rules and fitting weights


def fit_epochs(dataset: Dataset, recipe: Recipe, minutes: float, *, at_most: bool = False) -> Recipe:
    """The recipe with as many epochs, and at the end steps, as can be trained in ``minutes`` on this machine.

    ``dataset`` is one from :func:`~nary.runs.training.prepare_dataset`. A few steps are trained to measure their speed;
    what they learned is thrown away. The learning rate decays as far as in the whole recipe, and if validation took
    more than a fifth of the time, ``training.eval_every`` is raised. The result says all this in its settings, so that
    a run of it can be repeated and resumed. A model that is not trained in steps keeps its recipe. The trained parts of
    a blend share the time, less what is left for fitting its weights. With ``at_most``, a recipe that takes less time
    stays as it is, and leaves its time to the other parts.
    """
    if not minutes > 0:
        raise SettingError(f"{minutes} minutes of training", "Give more than 0.")
    if recipe.parts:
        return _fit_parts(dataset, recipe, minutes, at_most)
    given = recipe.training
    start = time.perf_counter()
    check_recipe(dataset, recipe)
    unlimited = recipe.with_overrides({"training.epochs": max(1, given.epochs), "training.max_steps": 0})
    parts = build_parts(dataset, unlimited)
    if not any(parameter.requires_grad for parameter in parts.module.parameters()):
        return recipe
    step_seconds = _measure_step(parts, unlimited, 60 * minutes)
    epoch_steps = len(parts.batches) / given.batch_size
    changes: dict[str, float] = {}
    seconds = 60 * minutes - (time.perf_counter() - start)
    if every := given.eval_every:
        validation = _measure_validation(parts, dataset, recipe)
        least = (1 - _VALIDATION_SHARE) / _VALIDATION_SHARE * validation / (epoch_steps * step_seconds)
        changes["training.eval_every"] = every = max(every, math.ceil(least))
        seconds = 60 * minutes - (time.perf_counter() - start) - validation  # the last one, after training
        step_seconds += validation / (every * epoch_steps)
    steps = max(1, int(seconds / step_seconds))
    epochs = max(1, math.ceil(steps / epoch_steps))
    changes |= {"training.epochs": epochs, "training.max_steps": steps}
    if given.lr_scheduler == "exponential":
        changes["training.lr_gamma"] = given.lr_gamma ** (given.epochs / epochs)
    if at_most and epochs > given.epochs:
        return recipe
    return recipe.with_overrides(changes)


def _fit_parts(dataset: Dataset, recipe: Recipe, minutes: float, at_most: bool) -> Recipe:
    """The recipe of a blend whose parts can be trained and blended in ``minutes``."""
    info, parts = recipe.dataset_info(dataset), recipe.parts
    with torch.device("meta"):
        modules = [MODELS.get(part.model_name)(part.model, info) for part in parts]
    trained = [number for number, module in enumerate(modules) if any(True for _ in module.parameters())]
    share = (1 - _BLENDING_SHARE) * minutes / max(1, len(trained))
    fitted = {number: fit_epochs(dataset, parts[number], share) for number in trained}
    if at_most:
        needs = {number: _share_of(parts[number], one) for number, one in fitted.items()}  # 1 is all of its share
        short = [number for number in trained if needs[number] > 1]
        spare = sum(1 - need for need in needs.values() if need <= 1) / max(1, len(short))
        fitted = {number: fitted[number] for number in short}  # the others stay as they are
        if spare:
            fitted = {number: fit_epochs(dataset, parts[number], share * (1 + spare), at_most=True) for number in short}
    return recipe.with_parts([fitted.get(number, part) for number, part in enumerate(parts)])


def _share_of(recipe: Recipe, fitted: Recipe) -> float:
    """What share of the time that ``fitted`` was made for a whole recipe takes."""
    return recipe.training.epochs / max(1, fitted.training.epochs)


def check_budget(overrides: Collection[str]) -> None:
    """Refuse a number of epochs or steps among the keys given beside a time."""
    if both := {"training.epochs", "training.max_steps"}.intersection(overrides):
        raise SettingError(f"{min(both)} is given beside a number of minutes", "Give one of them.")


class _Stopwatch(Callback):
    """Takes the time of the steps after the first ones, and stops after ``seconds``."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.times: list[float] = []

    def on_step(self, trainer: Trainer, report: StepReport) -> None:
        if report.step > _WARM_UP:
            self.times.append(report.seconds)
        if len(self.times) > _MIN_STEPS and report.seconds > self.seconds:
            trainer.stop()

    @property
    def step_seconds(self) -> float:
        return (self.times[-1] - self.times[0]) / (len(self.times) - 1)


def _measure_step(parts: TrainingParts, recipe: Recipe, budget: float) -> float:
    """The seconds of a step."""
    stopwatch = _Stopwatch(min(_SHARE * budget, _MAX_SECONDS))
    steps = _WARM_UP + _MIN_STEPS + 1
    epochs = max(recipe.training.epochs, math.ceil(steps * recipe.training.batch_size / len(parts.batches)))
    settings = recipe.training.model_copy(update={"epochs": epochs, "eval_every": 0, "patience": 0})
    module, batches, loss, device, _ = parts
    if Trainer(module, batches, loss, settings, device=device, callbacks=[stopwatch]).fit().interrupted:
        raise KeyboardInterrupt
    return stopwatch.step_seconds


def _measure_validation(parts: TrainingParts, dataset: Dataset, recipe: Recipe) -> float:
    """The seconds that ranking the valid split takes, estimated from some of its facts."""
    valid = dataset["valid"]
    sample = valid.take(np.arange(min(len(valid), _VALID_FACTS)))
    start = time.perf_counter()
    evaluate(parts.module, dataset, "valid", recipe.evaluation.without_curve(), table=sample)
    return (time.perf_counter() - start) * len(valid) / len(sample)
