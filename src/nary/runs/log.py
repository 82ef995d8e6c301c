"""The log of a run: ``log.txt`` for people, ``metrics.jsonl`` for machines."""

import time
from pathlib import Path

import orjson

from nary.data.files import atomic_path
from nary.errors import OutputError
from nary.runs.run_folder import METRICS, RunFolder
from nary.training.callbacks import Callback, RunningMean, StepReport, ValidationReport
from nary.training.checkpoint import TrainState
from nary.training.trainer import Trainer


class RunLog(Callback):
    """Appends a line an epoch (or every hundred steps) to the files of a run."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.loss = RunningMean()
        self._every = 1

    def on_start(self, trainer: Trainer) -> None:
        """Drop the records of steps after the newest checkpoint: they will be repeated."""
        self._every = max(1, min(100, len(trainer.batches) // trainer.settings.batch_size))
        path = self.folder.path / METRICS
        before = path.read_bytes() if path.is_file() else b""
        records = [record for record in self.folder.records() if record["step"] <= trainer.state.step]
        after = b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)
        if after != before:
            with atomic_path(path) as temporary:
                temporary.write_bytes(after)
        self.loss = RunningMean(next((record["loss"] for record in reversed(records) if "loss" in record), None))
        self._say(f"resumed at step {trainer.state.step}" if trainer.state.step else "started")

    def on_step(self, trainer: Trainer, report: StepReport) -> None:
        """Log the running mean of the loss now and then."""
        loss = self.loss.update(report.loss)
        if report.step % self._every == 0 or report.step == report.steps:
            self._append({**vars(report), "loss": loss})
            self._say(
                f"epoch {report.epoch:.2f}, step {report.step} of {report.steps}, loss {loss:.4f}, "
                f"{report.instances_per_second:,.0f} instances/s"
            )

    def on_validate(self, trainer: Trainer, report: ValidationReport) -> None:
        """Log a validation."""
        self._append({"step": report.step, "epoch": report.epoch, "seconds": report.seconds, "valid_mrr": report.score})
        self._say(f"step {report.step}: valid entity MRR {report.score:.4f}")

    def on_end(self, trainer: Trainer, state: TrainState) -> None:
        """Log how training ended."""
        ended = "interrupted" if state.interrupted else "finished"
        self._say(f"{ended} after {state.step} steps, {state.seconds:.0f} seconds")

    def _append(self, record: dict[str, object]) -> None:
        _append_to(self.folder.path / METRICS, orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))

    def _say(self, text: str) -> None:
        _append_to(self.folder.path / "log.txt", f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n".encode())


def _append_to(path: Path, content: bytes) -> None:
    try:
        with path.open("ab") as file:
            file.write(content)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}", "What was saved before is kept.") from None
