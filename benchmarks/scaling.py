"""A training step with sampled candidates, as the number of entities grows; and the memory it takes.

    python benchmarks/scaling.py [--json] [--entities 10000,100000,1000000] [--width 256] [--loss sampled_softmax]

GRAN with 2 layers on random facts of arity 4, 512 instances a batch, 1,024 sampled candidates. The models of all sizes
take turns in one process, a few steps each, and the time is that of the processor: ``milliseconds`` a step. Memory is
measured in a process of its own for each size: the ``bytes`` of the process at its peak, less those before the model
was made. ``initial_seconds`` is the time to make the model.
"""

import argparse
import statistics
import subprocess
import sys
import time

import orjson
import torch
from common import peak_bytes, show
from growth import RELATIONS, random_facts

from nary.models.base import DatasetInfo
from nary.models.gran import Gran, GranSettings
from nary.training.batches import TrainingBatches
from nary.training.callbacks import Callback, StepReport
from nary.training.losses import make_loss
from nary.training.row_trainer import RowTrainer
from nary.training.settings import LOSSES, TrainingSettings
from nary.training.trainer import Trainer

BATCH, FACTS = 512, 5000


class StepTimes(Callback):
    """The processor time of each step but the first, which also allocates memory."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._last: float | None = None

    def on_step(self, trainer: Trainer, report: StepReport) -> None:
        """Note the time since the step before, and stop after a few."""
        now = time.process_time()
        if self._last is not None:
            self.seconds.append(now - self._last)
        self._last = now
        if len(self.seconds) == 4:
            trainer.stop()


class Measured:
    """A model of a size, and the times of its steps."""

    def __init__(self, entities: int, width: int, loss: str) -> None:
        start = time.process_time()
        info = DatasetInfo(entities, RELATIONS, 4, random_facts(entities, 4, FACTS))
        self.model = Gran(GranSettings(num_layers=2, hidden_dim=width, ffn_dim=2 * width), info)
        self.initial_seconds = time.process_time() - start
        self.training = TrainingSettings(batch_size=BATCH, precision="fp32")
        self.batches = TrainingBatches(info.facts, self.training)
        self.loss = make_loss(LOSSES.get(loss).settings_class(entity_label_smoothing=0.4), info)
        self.seconds: list[float] = []

    def steps(self) -> None:
        """Train for a few steps."""
        times = StepTimes()
        kind = RowTrainer if self.loss.by_rows else Trainer
        kind(self.model, self.batches, self.loss, self.training, callbacks=[times]).fit()
        self.seconds += times.seconds


def measure_memory(entities: int, width: int, loss: str) -> dict[str, float]:
    """Memory of a few steps."""
    before = peak_bytes()
    measured = Measured(entities, width, loss)
    measured.steps()
    return {"bytes": peak_bytes() - before, "initial_seconds": measured.initial_seconds}


def measure(sizes: list[int], width: int, loss: str, rounds: int) -> dict[str, object]:
    """All sizes; memory first, because a process counts that of the one that has started it."""
    memory = []
    for size in sizes:
        arguments = orjson.dumps({"entities": size, "width": width, "loss": loss}).decode()
        output = subprocess.run([sys.executable, __file__, "--memory", arguments], check=True, capture_output=True)
        memory.append(orjson.loads(output.stdout))
    all_sizes = [Measured(size, width, loss) for size in sizes]
    for _ in range(rounds):
        for one in all_sizes:
            one.steps()
    times = [1000 * statistics.median(one.seconds) for one in all_sizes]
    points = [
        {"entities": size, "milliseconds": milliseconds, "ratio": milliseconds / times[0], **figures}
        for size, milliseconds, figures in zip(sizes, times, memory, strict=True)
    ]
    return {"threads": torch.get_num_threads(), "width": width, "loss": loss, "entities": points}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--entities", default="10000,100000,1000000")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--loss", default="sampled_softmax")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        show(measure_memory(**orjson.loads(options.memory)), as_json=True)
    else:
        sizes = [int(size) for size in options.entities.split(",")]
        show(measure(sizes, options.width, options.loss, options.rounds), options.json)


if __name__ == "__main__":
    main()
