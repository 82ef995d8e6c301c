"""A progress bar of training in the terminal."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nary.training.callbacks import Callback, StepReport
    from nary.training.trainer import Trainer

_MOMENTUM = 0.95  # of the running means shown, so that they do not flicker


@contextmanager
def training_bar(show: bool) -> Iterator["Callback"]:
    """A callback that draws a bar on standard error: epoch, step, loss, instances per second and the time left."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    from nary.training.callbacks import Callback

    console = Console(stderr=True)
    columns = (
        TextColumn("epoch {task.fields[epoch]:.1f}"),
        BarColumn(),
        TextColumn("step {task.completed:.0f} of {task.total:.0f}  loss {task.fields[loss]:.3f}"),
        TextColumn("{task.fields[speed]:,.0f} instances/s"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )

    class TrainingBar(Callback):
        loss = speed = None

        def on_step(self, trainer: "Trainer", report: "StepReport") -> None:
            self.loss = _running_mean(self.loss, report.loss)
            self.speed = _running_mean(self.speed, report.instances_per_second)
            shown = {"epoch": report.epoch, "loss": self.loss, "speed": self.speed}
            bar.update(task, completed=report.step, total=report.steps, **shown)

    with Progress(*columns, console=console, transient=True, disable=not (show and console.is_terminal)) as bar:
        task = bar.add_task("", total=1, epoch=0.0, loss=0.0, speed=0.0)
        yield TrainingBar()


def _running_mean(mean: float | None, value: float) -> float:
    return value if mean is None else _MOMENTUM * mean + (1 - _MOMENTUM) * value
