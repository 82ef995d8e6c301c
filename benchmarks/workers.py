"""Two workers against one process: instances a second, and what the exchange between them costs.

    python benchmarks/workers.py [--json] [--workers 2] [--entities 30000] [--loss cross_entropy] [--rounds 3]

GRAN with 2 layers of width 256 on random facts of arity 4, 1,024 instances a batch, a thread a process. One process and
the workers take turns. ``ratio`` compares the clock, and so wants a core for each worker. ``processor_ratio`` compares
the processor time of one process with that of the busiest worker: what the ratio would be if nobody waited.
"""

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import orjson
import torch
from common import show
from growth import RELATIONS, random_facts

from nary.models.base import DatasetInfo
from nary.models.gran import Gran, GranSettings
from nary.training.batches import TrainingBatches
from nary.training.callbacks import Callback, StepReport
from nary.training.checkpoint import Checkpoints
from nary.training.distributed.trainer import WorkerTrainer
from nary.training.losses import make_loss
from nary.training.row_trainer import RowTrainer
from nary.training.settings import LOSSES, TrainingSettings
from nary.training.trainer import Trainer
from nary.workers import joined


class Times(Callback):
    """Clock and processor time of each step but the first two, which also allocate memory."""

    def __init__(self) -> None:
        self.clock: list[float] = []
        self.processor: list[float] = []

    def on_step(self, trainer: Trainer, report: StepReport) -> None:
        """Note the times."""
        self.clock.append(time.perf_counter())
        self.processor.append(time.process_time())

    def figures(self) -> dict[str, float]:
        """Medians of the steps."""
        pairs = {"seconds": self.clock[1:], "processor_seconds": self.processor[1:]}
        return {
            name: statistics.median(after - before for before, after in pairwise(times))
            for name, times in pairs.items()
        }


def train(entities: int, loss: str, steps: int, folder: Path) -> dict[str, float]:
    """Train a few steps as the worker that the environment says, or alone; workers write their weights at the end."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    info = DatasetInfo(entities, RELATIONS, 4, random_facts(entities, 4, 5000))
    model = Gran(GranSettings(num_layers=2), info)
    settings = TrainingSettings(max_steps=steps, precision="fp32")
    batches = TrainingBatches(info.facts, settings)
    function = make_loss(LOSSES.get(loss).settings_class(entity_label_smoothing=0.4), info)
    times = Times()
    with joined() as workers:
        arguments = (model, batches, function, settings)
        if workers.size > 1:
            checkpoints = Checkpoints(folder / "checkpoints", workers=workers)
            WorkerTrainer(*arguments, checkpoints, None, None, [times], workers=workers).fit()
        else:
            (RowTrainer if function.by_rows else Trainer)(*arguments, callbacks=[times]).fit()
        figures = times.figures()
        slowest = workers.reduce_(torch.tensor(list(figures.values())), "max")
    return dict(zip(figures, slowest.tolist(), strict=True))


def run(size: int, options: argparse.Namespace) -> dict[str, float]:
    """Train with so many processes; the figures of the slowest."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = str(listener.getsockname()[1])
    shared = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(size)}
    command = [sys.executable, __file__, "--as-worker"]
    for name in ("entities", "loss", "steps"):
        command += [f"--{name}", str(getattr(options, name))]
    with tempfile.TemporaryDirectory() as folder:
        command += ["--folder", folder]
        processes = [
            subprocess.Popen(command, env={**shared, "RANK": str(rank)}, stdout=subprocess.PIPE) for rank in range(size)
        ]
        outputs = [process.communicate()[0] for process in processes]
    return orjson.loads(outputs[0])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--entities", type=int, default=30_000)
    parser.add_argument("--loss", default="cross_entropy")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--as-worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.as_worker:
        show(train(options.entities, options.loss, options.steps, options.folder), as_json=True)
        return
    pairs = [(run(1, options), run(options.workers, options)) for _ in range(options.rounds)]
    one, several = (
        {name: statistics.median(pair[side][name] for pair in pairs) for name in ("seconds", "processor_seconds")}
        for side in (0, 1)
    )
    figures = {
        "workers": options.workers,
        "entities": options.entities,
        "loss": options.loss,
        "one": one,
        "several": several,
        "ratio": one["seconds"] / several["seconds"],
        "processor_ratio": one["processor_seconds"] / several["processor_seconds"],
        "load": os.getloadavg()[0],
    }
    show(figures, options.json)


if __name__ == "__main__":
    main()
