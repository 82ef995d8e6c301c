"""Losses and callbacks in a line, for tests."""

from collections.abc import Callable
from typing import Any

from nary.facts import FactTable
from nary.models.base import Sizes
from nary.training.callbacks import Callback, StepReport
from nary.training.losses import Loss
from nary.training.settings import LOSSES
from nary.training.trainer import Trainer

SIZES = Sizes(1, 1, 2)


def loss_of(name: str = "cross_entropy", table: FactTable | None = None, sizes: Sizes = SIZES, **settings: Any) -> Loss:
    """A loss with these settings; facts and sizes are only for losses that sample."""
    loss = LOSSES.get(name)
    return loss(loss.settings_class(**settings), table or FactTable([]), sizes)


class OnStep(Callback):
    """Calls a function with the report of each step."""

    def __init__(self, action: Callable[[StepReport], object]) -> None:
        self.action = action

    def on_step(self, trainer: Trainer, report: StepReport) -> None:
        self.action(report)
