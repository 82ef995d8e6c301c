"""Losses and callbacks in a line, for tests."""

from collections.abc import Callable
from typing import Any

from contracts.info import info_of

from nary.models.base import DatasetInfo
from nary.training.callbacks import Callback, StepReport
from nary.training.losses import Loss
from nary.training.settings import LOSSES
from nary.training.trainer import Trainer


def loss_of(name: str = "cross_entropy", info: DatasetInfo | None = None, **settings: Any) -> Loss:
    """A loss with these settings; information on facts is only for losses that sample."""
    loss = LOSSES.get(name)
    return loss(loss.settings_class(**settings), info or info_of(1, 1, 2))


class OnStep(Callback):
    """Calls a function with the report of each step."""

    def __init__(self, action: Callable[[StepReport], object]) -> None:
        self.action = action

    def on_step(self, trainer: Trainer, report: StepReport) -> None:
        self.action(report)
