"""Live progress of training runs that run in parallel."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nary.reproduction.queue import Job
from nary.reproduction.status import status_of

_EVERY = 3.0  # seconds between readings of the logs


@contextmanager
def job_bars(runs: Path, show: bool) -> Iterator[Callable[[Sequence[Job]], None]]:
    """A progress bar on standard error for each of the jobs that the yielded function is called with."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"))
    with Progress(*columns, console=console, transient=True, disable=not (show and console.is_terminal)) as bars:
        tasks: dict[str, TaskID] = {}
        read = 0.0

        def update(jobs: Sequence[Job]) -> None:
            nonlocal read
            if bars.disable or time.monotonic() - read < _EVERY:
                return
            read = time.monotonic()
            for title in set(tasks) - {job.title for job in jobs}:
                bars.remove_task(tasks.pop(title))
            for status in status_of(jobs, runs, len(jobs)):
                title = status.job.title
                if title not in tasks:
                    tasks[title] = bars.add_task(title, state="")
                mrr = f", valid MRR {status.curve[-1][1]:.3f}" if status.curve else ""
                state = f"epoch {status.epoch:.1f} of {status.epochs}{mrr}"
                bars.update(tasks[title], completed=status.epoch, total=status.epochs, state=state)

        yield update
