"""Live progress of a training."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from nary.apps.cli.output import notice
from nary.threads import oversubscription_note
from nary.training.callbacks import Callback, RunningMean, StepReport

if TYPE_CHECKING:
    from rich.progress import Progress

    from nary.training.trainer import Trainer


class TrainingBar(Callback):
    """A progress bar on standard error with epoch, step, loss, instances a second and the time left.

    It is shown within a ``with`` block, after a note if the machine is busy.
    """

    def __init__(self, show: bool) -> None:
        self._bar = _make_bar(show)
        self._task = self._bar.add_task("", total=1, name="", epoch=0.0, loss=0.0, speed=0.0)
        self._loss, self._speed = RunningMean(), RunningMean()

    def __enter__(self) -> Self:
        import torch  # slow, so not before it is needed

        if note := oversubscription_note(torch.get_num_threads()):
            notice(note)
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.stop()

    def on_start(self, trainer: "Trainer") -> None:
        """Begin anew: the parts of a blend are trained one after the other."""
        self._loss, self._speed = RunningMean(), RunningMean()
        self._bar.update(self._task, name=trainer.model.name)

    def on_step(self, trainer: "Trainer", report: StepReport) -> None:
        """Move the bar."""
        self._bar.update(
            self._task,
            completed=report.step,
            total=report.steps,
            epoch=report.epoch,
            loss=self._loss.update(report.loss),
            speed=self._speed.update(report.instances_per_second),
        )


def _make_bar(show: bool) -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.fields[name]}  epoch {task.fields[epoch]:.1f}"),
        BarColumn(),
        TextColumn("step {task.completed:.0f} of {task.total:.0f}  loss {task.fields[loss]:.3f}"),
        TextColumn("{task.fields[speed]:,.0f} instances/s"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not (show and console.is_terminal),
    )
