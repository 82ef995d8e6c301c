"""Weights & Biases: a run with its configuration, metrics and an artifact."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from nary.runs.trackers.base import Tracker
from nary.runs.trackers.ids import store_id, stored_id


class WandbTracker(Tracker):
    """Reports to the project ``where``, ``nary`` by default; WANDB_MODE=offline keeps everything on this machine.

    A training that is resumed goes on with its run.
    """

    purpose = "Tracking with Weights & Biases"

    def check(self) -> None:
        """Import the module."""
        self._wandb: Any = import_module("wandb")

    def open(self, name: str, settings: Mapping[str, object], step: int) -> None:
        """Begin a run, or go on with that of the training that is resumed."""
        self._run = self._wandb.init(
            project=self.where or "nary",
            name=name,
            config=dict(settings),
            id=stored_id(self.folder, "wandb") if step else None,
            resume="allow",
            reinit="create_new",
        )
        store_id(self.folder, "wandb", self._run.id)

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Log metrics."""
        self._run.log(dict(values), step=step)

    def close(self, final: Mapping[str, float], files: Mapping[str, Path], finished: bool) -> None:
        """Set the summary, log the files as an artifact, and end the run."""
        self._run.summary.update(dict(final))
        if files:
            artifact = self._wandb.Artifact(f"run-{self._run.id}", type="run")
            for name, path in files.items():
                artifact.add_file(str(path), name)
            self._run.log_artifact(artifact)
        self._run.finish(exit_code=0 if finished else 1)
