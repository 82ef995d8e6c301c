"""Live progress of a training."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from nary.progress import Bar
from nary.training.callbacks import Callback, RunningMean, StepReport

if TYPE_CHECKING:
    from nary.training.trainer import Trainer


class TrainingBar(Callback):
    """A progress bar with epoch, loss and instances a second; it is shown within a ``with`` block."""

    def __init__(self, show: bool = True) -> None:
        self._bar = Bar("", show)
        self._loss, self._speed = RunningMean(), RunningMean()

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.__exit__(kind, error, traceback)

    def on_start(self, trainer: "Trainer") -> None:
        """Begin anew: the parts of a blend are trained one after the other."""
        self._loss, self._speed = RunningMean(), RunningMean()

    def on_step(self, trainer: "Trainer", report: StepReport) -> None:
        """Move the bar."""
        loss, speed = self._loss.update(report.loss), self._speed.update(report.instances_per_second)
        text = f"epoch {report.epoch:.1f}  loss {loss:.3f}  {speed:,.0f} instances/s"
        self._bar.update(report.step, report.steps, text, trainer.model.name)
