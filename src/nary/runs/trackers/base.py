"""The base of trackers: what they report, and when."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nary.errors import MissingExtraError, NaryError, NaryWarning, SettingError
from nary.evaluation.metrics import GROUPS, Metrics
from nary.recipe import Recipe
from nary.training.callbacks import Callback, StepReport, ValidationReport

if TYPE_CHECKING:
    from nary.runs.run_folder import RunFolder
    from nary.runs.trained_model import TrainedModel
    from nary.runs.training import TrainingResult
    from nary.training.trainer import Trainer

_SMALL_FILES = ("recipe.toml", "log.txt", "metrics.jsonl", "model/README.md", "model/metrics.json")
_STEP_VALUES = ("loss", "learning_rate", "epoch", "instances_per_second", "seconds")


class Tracker(Callback):
    """Reports settings, losses, learning rates, validations and final metrics. Subclasses say where to.

    A tool that fails during training is given up with a warning: its outage must not end the training.
    """

    purpose = ""
    """What needs the optional package, for the error if it is missing."""

    def __init__(self, where: str | Path | None = None, *, every: int = 10, log_model: bool = False) -> None:
        """Report to ``where``, which each tracker has its own meaning for.

        ``every`` so many steps are reported; validations all are. ``log_model`` uploads the model folder too.
        """
        if every < 1:
            raise SettingError(f"every={every}", "Report every step, every second, ...: 1 or more.")
        self.where = None if where is None else str(where)
        self.every, self.log_model = every, log_model
        self._model: TrainedModel | None = None
        self._folder: Path | None = None
        self._state: Literal["closed", "open", "given up"] = "closed"
        try:
            self.check()
        except ImportError:
            raise MissingExtraError(self.purpose, "trackers") from None

    # What subclasses implement

    def check(self) -> None:
        """Import what is needed; an ImportError says that it is missing."""

    def open(self, name: str, settings: Mapping[str, object], step: int) -> None:
        """Begin, or go on at ``step``, to report the run ``name``; ``self.folder`` is its folder, if it has one."""
        raise NotImplementedError

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Report values at a step."""
        raise NotImplementedError

    def close(self, final: Mapping[str, float], files: Mapping[str, Path], finished: bool) -> None:
        """Report final values and upload files, by name; not ``finished`` after an interruption or an error."""
        raise NotImplementedError

    @property
    def folder(self) -> Path | None:
        """The run folder of the current run."""
        return self._folder

    # When it happens

    def on_run_start(self, model: "TrainedModel", folder: "RunFolder | None") -> None:
        """Keep what is trained, and where."""
        self._model, self._folder = model, None if folder is None else folder.path

    def on_start(self, trainer: "Trainer") -> None:
        """Open the run."""
        self._open(trainer.state.step)

    def _open(self, step: int) -> None:
        assert self._model is not None
        recipe = self._model.recipe
        name = f"{recipe.model_name}-{recipe.data.name}-seed{recipe.training.seed}"
        settings = {**dict(flat_settings(recipe)), "parameters": self._model.num_parameters}
        try:
            self.open(str(self._folder or name), settings, step)
        except NaryError:
            raise
        except Exception as error:
            raise SettingError(f"cannot track with {type(self).__name__}: {error}", "Train without it.") from error
        self._state = "open"

    def on_step(self, trainer: "Trainer", report: StepReport) -> None:
        """Report loss and learning rate now and then."""
        if report.step % self.every == 0 or report.step in (1, report.steps):
            values = {"loss": report.loss, "learning_rate": report.learning_rate, "epoch": report.epoch}
            speed = {"instances_per_second": report.instances_per_second, "seconds": report.seconds}
            self._safely(
                lambda: self.log({f"train/{name}": value for name, value in {**values, **speed}.items()}, report.step)
            )

    def on_validate(self, trainer: "Trainer", report: ValidationReport) -> None:
        """Report the metrics of each group of queries."""
        assert self._model is not None
        metrics = next((one.metrics for one in self._model.reports if one.split == "valid"), {})
        self._safely(lambda: self.log(dict(flat_metrics("valid", metrics)), report.step))

    def on_run_end(self, result: "TrainingResult | None") -> None:
        """Report the final metrics and close the run."""
        if self._state == "closed" and result is not None:
            self._open(0)  # a blend has no steps of its own
        final = {}
        if result is not None:
            final = {"final/seconds": result.seconds, **dict(flat_metrics("final/valid", result.metrics))}
            final |= {} if result.loss is None else {"final/loss": result.loss}
        self._safely(lambda: self.close(final, self._files(), result is not None))
        self._state = "closed"

    def _files(self) -> dict[str, Path]:
        """The small files of the run folder by name, and those of the model if they are wanted."""
        if self._folder is None:
            return {}
        paths = [path for name in _SMALL_FILES if (path := self._folder / name).is_file()]
        if self.log_model:
            paths += [path for path in sorted((self._folder / "model").rglob("*")) if path.is_file()]
        return {str(path.relative_to(self._folder)): path for path in paths}

    def _safely(self, report: Callable[[], None]) -> None:
        if self._state != "open":
            return
        try:
            report()
        except Exception as error:  # whatever a tool or its network may raise
            self._state = "given up"
            warnings.warn(f"{type(self).__name__} failed and is given up: {error}", NaryWarning, stacklevel=2)


def flat_settings(recipe: Recipe) -> Iterator[tuple[str, object]]:
    """The settings of a recipe by their full keys, such as ``training.epochs``."""
    for table, content in recipe.as_tables().items():
        for key, value in content.items():
            yield f"{table}.{key}", value if isinstance(value, str | int | float) else str(value)


def flat_metrics(prefix: str, metrics: Metrics) -> Iterator[tuple[str, float]]:
    """The metrics of the main groups by names that all tools accept, such as ``valid/entity/hits_at_10``."""
    for group in GROUPS:
        for name, value in metrics.get(group, {}).items():
            yield f"{prefix}/{group.replace('/', '_')}/{name.replace('@', '_at_')}", float(value)
