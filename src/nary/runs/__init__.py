"""Runs: the one place where data, model, training and evaluation meet."""

from nary.runs.run import Run, load_run
from nary.runs.training import InterruptedRun, resume_run, start_run, train_run

__all__ = ["InterruptedRun", "Run", "load_run", "resume_run", "start_run", "train_run"]
