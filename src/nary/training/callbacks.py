"""Callbacks: what is told of a training while it runs, and may stop it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nary.training.checkpoint import TrainState
    from nary.training.trainer import Trainer


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
