"""What a run writes down while it trains: ``log.txt`` for people, ``metrics.jsonl`` for machines."""

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from nary.data.files import atomic_path
from nary.errors import OutputError
from nary.training.callbacks import Callback, StepReport, ValidationReport
from nary.training.checkpoint import TrainState
from nary.training.trainer import Trainer

METRICS = "metrics.jsonl"
_KEPT_LOSS = 0.95  # of the running mean that is written and shown


class RunLog(Callback):
    """Appends a line an epoch (or every hundred steps) to the files of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.loss: float | None = None
        self.resumed_at = 0
        self._every = 1

    def on_start(self, trainer: Trainer) -> None:
        """Begin, or go on: metrics of steps that the newest checkpoint does not have will come again."""
        self._every = max(1, min(100, len(trainer.batches) // trainer.settings.batch_size))
        path = self.folder / METRICS
        step = self.resumed_at = trainer.state.step
        before = path.read_bytes() if path.is_file() else b""
        kept = [record for record in training_records(self.folder) if record["step"] <= step]
        after = b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in kept)
        if after != before:
            with atomic_path(path) as temporary:
                temporary.write_bytes(after)
        self.loss = next((record["loss"] for record in reversed(kept) if "loss" in record), None)
        self._say(f"resumed at step {step}" if step else "started")

    def on_step(self, trainer: Trainer, report: StepReport) -> None:
        """Note a step."""
        self.loss = report.loss if self.loss is None else _KEPT_LOSS * self.loss + (1 - _KEPT_LOSS) * report.loss
        if report.step % self._every == 0 or report.step == report.steps:
            self._append({**vars(report), "loss": self.loss})
            self._say(
                f"epoch {report.epoch:.2f}, step {report.step} of {report.steps}, loss {self.loss:.4f}, "
                f"{report.instances_per_second:,.0f} instances a second"
            )

    def on_validate(self, trainer: Trainer, report: ValidationReport) -> None:
        """Note a validation."""
        record = {"step": report.step, "epoch": report.epoch, "seconds": report.seconds, "valid_mrr": report.score}
        self._append(record)
        self._say(f"step {report.step}: valid entity MRR {report.score:.4f}")

    def on_end(self, trainer: Trainer, state: TrainState) -> None:
        """Note the end."""
        how = "interrupted" if state.interrupted else "finished"
        self._say(f"{how} after {state.step} steps, {state.seconds:.0f} seconds")

    def _append(self, content: Mapping[str, object]) -> None:
        _append_to(self.folder / METRICS, orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE))

    def _say(self, text: str) -> None:
        _append_to(self.folder / "log.txt", f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n".encode())


def training_records(folder: Path) -> list[dict[str, Any]]:
    """What a training has written down of itself; a kill may have cut a line off."""
    path = folder / METRICS
    found = []
    for line in path.read_bytes().splitlines() if path.is_file() else []:
        with suppress(orjson.JSONDecodeError):
            found.append(orjson.loads(line))
    return found


def _append_to(path: Path, content: bytes) -> None:
    try:
        with path.open("ab") as file:
            file.write(content)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}", "What was saved before is kept.") from None
