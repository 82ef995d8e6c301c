"""MLflow: a run with parameters, metrics and artifacts."""

import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from nary.runs.trackers.base import Tracker
from nary.runs.trackers.ids import store_id, stored_id

_BATCH = 100  # parameters of a request, by MLflow's limit


class MLflowTracker(Tracker):
    """Reports to the experiment ``where``, ``nary`` by default, of the server or store that MLFLOW_TRACKING_URI names.

    A training that is resumed goes on with its MLflow run.
    """

    purpose = "Tracking with MLflow"

    def check(self) -> None:
        """Import the module."""
        self._mlflow: Any = import_module("mlflow")

    def open(self, name: str, settings: Mapping[str, object], step: int) -> None:
        """Create a run, or find that of the training that is resumed."""
        self._client = self._mlflow.MlflowClient()
        self._run = stored_id(self.folder, "mlflow") if step else None
        if self._run is None:
            experiment = self._client.get_experiment_by_name(self.where or "nary")
            number = experiment.experiment_id if experiment else self._client.create_experiment(self.where or "nary")
            self._run = self._client.create_run(number, run_name=name).info.run_id
            store_id(self.folder, "mlflow", self._run)
            params = [self._mlflow.entities.Param(key, str(value)) for key, value in settings.items()]
            for start in range(0, len(params), _BATCH):
                self._client.log_batch(self._run, params=params[start : start + _BATCH])
        else:
            self._client.update_run(self._run, status="RUNNING")
        self._step = step

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Log metrics."""
        self._step, now = step, int(time.time() * 1000)
        metric = self._mlflow.entities.Metric
        self._client.log_batch(self._run, [metric(name, value, now, step) for name, value in values.items()])

    def close(self, final: Mapping[str, float], files: Mapping[str, Path], finished: bool) -> None:
        """Log the final metrics and the artifacts, and end the run."""
        if final:
            self.log(final, self._step)
        for name, path in files.items():
            self._client.log_artifact(self._run, str(path), str(Path(name).parent) if "/" in name else None)
        self._client.set_terminated(self._run, "FINISHED" if finished else "KILLED")
