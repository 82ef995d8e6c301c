"""TensorBoard: scalars and the settings, as event files."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from nary.runs.trackers.base import Tracker


class TensorBoardTracker(Tracker):
    """Writes event files to ``where/RUN``, or to ``tensorboard`` in the run folder: ``tensorboard --logdir runs``."""

    purpose = "Tracking with TensorBoard"

    def check(self) -> None:
        """Import the writer."""
        self._module: Any = import_module("torch.utils.tensorboard")

    def open(self, name: str, settings: Mapping[str, object], step: int) -> None:
        """Begin an event file; events after ``step`` in older ones are hidden."""
        if self.where is None and self.folder is not None:
            folder = self.folder / "tensorboard"
        else:
            folder = Path(self.where or "runs/tensorboard") / name.replace("/", "-")
        self._writer = self._module.SummaryWriter(str(folder), purge_step=step + 1 if step else None)
        rows = [f"| {key} | {value} |" for key, value in settings.items()]
        self._writer.add_text("settings", "\n".join(["| key | value |", "|---|---|", *rows]), step)
        self._step = step

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Add scalars."""
        self._step = step
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self, final: Mapping[str, float], files: Mapping[str, Path], finished: bool) -> None:
        """Add the final scalars, and write all events."""
        self.log(final, self._step)
        self._writer.close()
