"""Callbacks: objects that are notified of training events and can stop training."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nary.runs.run_folder import RunFolder
    from nary.runs.trained_model import TrainedModel
    from nary.runs.training import TrainingResult
    from nary.training.checkpoint import TrainState
    from nary.training.trainer import Trainer

_MOMENTUM = 0.95


@dataclass(frozen=True)
class StepReport:
    """A training step."""

    step: int
    """The number of steps so far, including this one."""
    steps: int
    """The total number of steps."""
    epoch: float
    loss: float
    learning_rate: float
    instances_per_second: float
    seconds: float
    """Training time so far."""


@dataclass(frozen=True)
class ValidationReport:
    """A validation after a step."""

    step: int
    epoch: float
    seconds: float
    """Training time so far."""
    score: float
    """The value that the validation function returned; larger is better."""
    is_best: bool


class Callback:
    """Base class for callbacks. Every method does nothing by default, and may call ``trainer.stop()``."""

    def on_run_start(self, model: "TrainedModel", folder: "RunFolder | None") -> None:
        """Called before anything else, with the model to train, its recipe, and the run folder if there is one.

        During training, ``model.reports`` contains the latest validation.
        """

    def on_run_end(self, result: "TrainingResult | None") -> None:
        """Called after everything else, with the result of training, or None after an interrupt or an error."""

    def on_start(self, trainer: "Trainer") -> None:
        """Called before the first step; ``trainer.state`` contains the progress of a resumed run."""

    def on_step(self, trainer: "Trainer", report: StepReport) -> None:
        """Called after each step."""

    def on_validate(self, trainer: "Trainer", report: ValidationReport) -> None:
        """Called after each validation."""

    def on_checkpoint(self, trainer: "Trainer", state: "TrainState") -> None:
        """Called after each checkpoint is written."""

    def on_end(self, trainer: "Trainer", state: "TrainState") -> None:
        """Called at the end of training or after an interrupt (``state.interrupted``), but not after an error."""


class RunningMean:
    """An exponential running mean, so that logged and shown values do not flicker."""

    def __init__(self, value: float | None = None) -> None:
        self.value = value

    def update(self, value: float) -> float:
        """Take in another value and return the mean."""
        self.value = value if self.value is None else _MOMENTUM * self.value + (1 - _MOMENTUM) * value
        return self.value
