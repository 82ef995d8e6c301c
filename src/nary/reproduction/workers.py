"""Workers: jobs side by side, each in a process of its own with one compute thread.

A worker reads its job from standard input and goes on listening there: when the pipe closes, because its parent wants
it to stop or has died, it saves its training and ends. What it has to say is one line of JSON on standard output.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import orjson

from nary.reproduction.queue import Job

_ONE_THREAD = dict.fromkeys(("NARY_THREADS", "POLARS_MAX_THREADS"), "1")
_POLL = 0.1  # seconds


@dataclass(frozen=True)
class Event:
    """Something that happened to a job."""

    job: Job
    kind: Literal["started", "recorded", "failed", "skipped"]
    detail: str = ""
    """The path of the record, or what went wrong."""


class _Worker:
    """The process that works on ``job``."""

    def __init__(self, job: Job, runs: Path, results: Path) -> None:
        self.job = job
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the worker has ended)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "nary.reproduction.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **_ONE_THREAD},
            start_new_session=True,  # Ctrl-C is for the parent, who closes the pipe
        )
        assert self._process.stdin is not None
        experiment = job.experiment
        order = {"name": experiment.name, "recipe": experiment.recipe.as_tables()}
        order |= {"runs": str(runs.absolute()), "results": str(results.absolute())}
        self._process.stdin.write(orjson.dumps(order, option=orjson.OPT_APPEND_NEWLINE))
        self._process.stdin.flush()

    def event(self) -> Event | None:
        """How the job ended; None while it runs."""
        if self._process.poll() is None:
            return None
        assert self._process.stdout is not None
        line = self._process.stdout.read()
        if line:
            said = orjson.loads(line)
            return Event(self.job, said["kind"], said["detail"])
        self._errors.seek(0)
        return Event(self.job, "failed", self._errors.read().decode(errors="replace").strip() or self._exit())

    def _exit(self) -> str:
        return f"the worker ended with exit code {self._process.returncode}"

    def stop(self) -> None:
        """Ask the process to save and end."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def wait(self) -> None:
        """Wait until the process has ended."""
        self._process.wait()
        self._errors.close()


def run_jobs(
    jobs: Sequence[Job],
    runs: Path,
    results: Path,
    workers: int,
    watch: Callable[[Sequence[Job]], None] = lambda jobs: None,
) -> Iterator[Event]:
    """Run pending ``jobs`` in their order, up to ``workers`` at a time.

    ``watch`` is told now and then which are running. A job that fails does not stop the others. Closing the iterator,
    as an interrupt does, lets every worker save and waits for them.
    """
    waiting = [job for job in jobs if job.pending]
    busy: list[_Worker] = []
    try:
        while waiting or busy:
            while waiting and len(busy) < workers:
                busy.append(_Worker(waiting.pop(0), runs, results))
                yield Event(busy[-1].job, "started")
            ended = [(worker, event) for worker in busy if (event := worker.event()) is not None]
            for worker, event in ended:
                busy.remove(worker)
                worker.stop()
                worker.wait()
                yield event
            if not ended:
                watch([worker.job for worker in busy])
                time.sleep(_POLL)
    finally:
        for worker in busy:
            worker.stop()
        for worker in busy:
            worker.wait()
