"""The log of a run: ``log.txt`` for people, ``metrics.jsonl`` for machines."""

import time

import orjson

from nary.files.manifest import record, updating
from nary.files.reading import read_bytes
from nary.files.writing import append
from nary.runs.run_folder import METRICS, RunFolder
from nary.training.callbacks import Callback, RunningMean, StepReport, ValidationReport
from nary.training.checkpoint import TrainState
from nary.training.trainer import Trainer

_LOG = "log.txt"


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
        before = read_bytes(path) if path.is_file() else b""
        records = [record for record in self.folder.records() if record["step"] <= trainer.state.step]
        after = b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)
        if after != before:
            with updating(self.folder.path) as update:
                update.path(METRICS).write_bytes(after)
        self.loss = RunningMean(next((record["loss"] for record in reversed(records) if "loss" in record), None))
        append_line(self.folder, f"resumed at step {trainer.state.step}" if trainer.state.step else "started")
        record_log(self.folder)

    def on_step(self, trainer: Trainer, report: StepReport) -> None:
        """Log the running mean of the loss now and then, if there is still a folder for it."""
        self.folder.check_present()
        loss = self.loss.update(report.loss)
        if report.step % self._every == 0 or report.step == report.steps:
            append_record(self.folder, {**vars(report), "loss": loss})
            append_line(
                self.folder,
                f"epoch {report.epoch:.2f}, step {report.step} of {report.steps}, loss {loss:.4f}, "
                f"{report.instances_per_second:,.0f} instances/s",
            )

    def on_validate(self, trainer: Trainer, report: ValidationReport) -> None:
        """Log a validation."""
        append_record(
            self.folder,
            {"step": report.step, "epoch": report.epoch, "seconds": report.seconds, "valid_mrr": report.score},
        )
        append_line(self.folder, f"step {report.step}: valid entity MRR {report.score:.4f}")

    def on_end(self, trainer: Trainer, state: TrainState) -> None:
        """Log how training ended."""
        ended = "interrupted" if state.interrupted else "finished"
        append_line(self.folder, f"{ended} after {state.step} steps, {state.seconds:.0f} seconds")
        record_log(self.folder)


def append_record(folder: RunFolder, record: dict[str, object]) -> None:
    """Add a line to ``metrics.jsonl``."""
    append(folder.path / METRICS, orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def append_line(folder: RunFolder, text: str) -> None:
    """Add a line to ``log.txt``, with the time."""
    append(folder.path / _LOG, f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n".encode())


def record_log(folder: RunFolder) -> None:
    """Note in the manifest how far the log has come."""
    record(folder.path, (METRICS, _LOG), grows=True)
