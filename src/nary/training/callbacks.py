"""Callbacks: what is told of a training while it runs, and may stop it."""

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
    """Steps so far, this one included."""
    steps: int
    """Steps of the whole training."""
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
    """What the validation function returned; larger is better."""
    is_best: bool


class Callback:
    """The base of callbacks; every method does nothing. Any of them may call ``trainer.stop()``."""

    def on_run_start(self, model: "TrainedModel", folder: "RunFolder | None") -> None:
        """Before anything else: the model to be trained, with its recipe, and the run folder if there is one.

        During training, ``model.reports`` holds the latest validation.
        """

    def on_run_end(self, result: "TrainingResult | None") -> None:
        """After everything else, with what training returns; None after an interrupt or an error."""

    def on_start(self, trainer: "Trainer") -> None:
        """Before the first step; ``trainer.state`` says how far a resumed training is."""

    def on_step(self, trainer: "Trainer", report: StepReport) -> None:
        """After each step."""

    def on_validate(self, trainer: "Trainer", report: ValidationReport) -> None:
        """After each validation."""

    def on_checkpoint(self, trainer: "Trainer", state: "TrainState") -> None:
        """After a checkpoint was written."""

    def on_end(self, trainer: "Trainer", state: "TrainState") -> None:
        """At the end, or after an interrupt (``state.interrupted``), but not after an error."""


class RunningMean:
    """An exponential running mean, so that logged and shown values do not flicker."""

    def __init__(self, value: float | None = None) -> None:
        self.value = value

    def update(self, value: float) -> float:
        """Take in another value and return the mean."""
        self.value = value if self.value is None else _MOMENTUM * self.value + (1 - _MOMENTUM) * value
        return self.value
