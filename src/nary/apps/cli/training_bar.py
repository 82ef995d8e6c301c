"""Live progress of a training."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nary.training.loop import Listener, StepReport


@contextmanager
def training_bar(show: bool) -> Iterator["Listener"]:
    """A bar on standard error with epoch, step, loss, instances a second and the time left."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("epoch {task.fields[epoch]:.1f}"),
        BarColumn(),
        TextColumn("step {task.completed:.0f} of {task.total:.0f}  loss {task.fields[loss]:.3f}"),
        TextColumn("{task.fields[speed]:,.0f} instances/s"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not (show and console.is_terminal)) as bar:
        task = bar.add_task("", total=1, epoch=0.0, loss=0.0, speed=0.0)
        loss, speed = _Mean(), _Mean()

        def listen(report: "StepReport") -> None:
            bar.update(
                task,
                completed=report.step,
                total=report.steps,
                epoch=report.epoch,
                loss=loss(report.loss),
                speed=speed(report.instances_per_second),
            )

        yield listen


class _Mean:
    """A running mean, so that what is shown does not flicker."""

    def __init__(self) -> None:
        self.value: float | None = None

    def __call__(self, value: float) -> float:
        self.value = value if self.value is None else 0.95 * self.value + 0.05 * value
        return self.value
