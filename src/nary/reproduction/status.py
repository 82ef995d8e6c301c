"""How far the jobs of a queue are: epochs, the valid curve so far, and when each is expected to end."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nary.reproduction.queue import Job
from nary.runs import RunFolder
from nary.runs.run_folder import is_run_folder

_NEVER = float("inf")


@dataclass(frozen=True)
class JobStatus:
    """A job and how far its training is."""

    job: Job
    epoch: float
    """Epochs trained so far."""
    curve: Sequence[tuple[float, float]]
    """The validations so far: epoch and entity MRR."""
    seconds_left: float | None
    """Training time left by the speed so far, or by earlier trainings; None if nothing is known."""
    ends_in: float | None = None
    """Seconds until the job is expected to end, those before it in the queue included."""

    @property
    def epochs(self) -> int:
        """Epochs of the whole training."""
        return self.job.experiment.recipe.training.epochs

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            **self.job.as_dict(),
            "epoch": self.epoch,
            "epochs": self.epochs,
            "valid": [{"epoch": epoch, "mrr": mrr} for epoch, mrr in self.curve],
            "seconds_left": self.seconds_left,
            "ends_in": self.ends_in,
        }


def status_of(jobs: Sequence[Job], runs: Path, workers: int) -> list[JobStatus]:
    """How far each job is, by the logs of the runs below ``runs``, if ``workers`` share the waiting ones in order."""
    statuses = [_read(job, runs / job.path) for job in jobs]
    running = [status.seconds_left for status in statuses if status.job.state == "running"]
    free_in = [_or_infinite(left) for left in running] + [0.0] * (workers - len(running))
    heapq.heapify(free_in)
    return [_with_end(status, free_in) for status in statuses]


def _with_end(status: JobStatus, free_in: list[float]) -> JobStatus:
    """Give the job to the worker that is free first; ``free_in`` is a heap."""
    left = _or_infinite(status.seconds_left)
    if status.job.state == "running":
        ends_in = left
    elif status.job.pending:
        ends_in = free_in[0] + left
        heapq.heapreplace(free_in, ends_in)
    else:
        return status
    return replace(status, ends_in=None if ends_in == _NEVER else ends_in)


def _read(job: Job, path: Path) -> JobStatus:
    records = RunFolder(path).records() if is_run_folder(path) else []
    curve = [(record["epoch"], record["valid_mrr"]) for record in records if "valid_mrr" in record]
    steps = [record for record in records if "loss" in record]
    if job.state == "recorded":
        return JobStatus(job, float(job.experiment.recipe.training.epochs), curve, 0.0)
    if not steps:
        return JobStatus(job, 0.0, curve, job.seconds)
    last = steps[-1]
    return JobStatus(job, last["epoch"], curve, last["seconds"] * (last["steps"] - last["step"]) / last["step"])


def _or_infinite(seconds: float | None) -> float:
    return _NEVER if seconds is None else seconds
