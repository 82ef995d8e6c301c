"""Training and serving while other processes are busy: all threads, one thread, and threads that spin for long.

    python benchmarks/contention.py [--data nobel] [--busy 0,1,2,3] [--seconds 10] [--turns 2] [--json]

Each setting runs in a process of its own, in turns, beside as many busy loops as ``--busy`` says. Training is measured
in instances a second, serving by the median time of /api/predict for one client. ``default`` is what Nary does if
nothing is set, ``long`` all threads, waiting as the OpenMP library does by default; the latter is not served, since
that can take minutes.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from common import show
from serving import Client, queries_of, random_model, serving

import nary
from nary.models.gran import GranSettings
from nary.training.callbacks import Callback, StepReport
from nary.training.trainer import Trainer

FOLDER = str(Path(__file__).parent)
CORES = os.cpu_count() or 1
SETTINGS = {
    "one": {"NARY_THREADS": "1"},
    "default": {},
    "long": {"NARY_THREADS": str(CORES), "GOMP_SPINCOUNT": "300000"},
}
BUSY_LOOP = "import time; end = time.monotonic() + 3600\nwhile time.monotonic() < end: pass"
VARIABLES = ("NARY_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
WARM_UP_STEPS = 3


class Clock(Callback):
    """Stops a training after some seconds and counts the steps after the first few."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.start = self.end = 0.0
        self.steps = 0

    def on_step(self, trainer: Trainer, report: StepReport) -> None:
        """Count a step."""
        self.end = time.perf_counter()
        if report.step == WARM_UP_STEPS:
            self.start = self.end
        self.steps = report.step - WARM_UP_STEPS
        if self.steps > 0 and self.end - self.start > self._seconds:
            trainer.stop()


def train(data: str, seconds: float) -> float:
    """Train for some seconds in this process; return instances per second."""
    clock = Clock(seconds)
    result = nary.train(data, callbacks=[clock])
    return clock.steps * result.model.recipe.training.batch_size / (clock.end - clock.start)


def environment(setting: str) -> dict[str, str]:
    """The variables of a process."""
    return {name: value for name, value in os.environ.items() if name not in VARIABLES} | SETTINGS[setting]


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep cores busy with so many other processes."""
    loops = [subprocess.Popen([sys.executable, "-c", BUSY_LOOP]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def training_speed(data: str, seconds: float, setting: str) -> float:
    """Instances per second of a training in a process of its own."""
    code = f"import nary, sys; sys.path.insert(0, {FOLDER!r}); from contention import train; "  # nary before torch
    command = [sys.executable, "-c", f"{code}print(train({data!r}, {seconds}))"]
    return float(subprocess.run(command, env=environment(setting), check=True, capture_output=True, text=True).stdout)


def answer_time(folder: Path, queries: Sequence[str], seconds: float, setting: str) -> float:
    """The median time of an answer in milliseconds, for one client, over some seconds."""
    times: list[float] = []
    with serving(folder, environment(setting)) as port, closing(Client(port)) as client:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            start = time.perf_counter()
            client.predict(queries[len(times) % len(queries)])
            times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def measure(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """All settings beside every number of busy loops."""
    dataset = nary.load(options.data)
    random_model(dataset, GranSettings(), folder / "model")
    queries = queries_of(dataset, 200)
    rows = []
    for count in options.busy:
        trained: dict[str, list[float]] = {setting: [] for setting in SETTINGS}
        served: dict[str, list[float]] = {"one": [], "default": []}
        with busy_loops(count):
            for _ in range(options.turns):
                for setting, speeds in trained.items():
                    speeds.append(training_speed(options.data, options.seconds, setting))
                for setting, times in served.items():
                    times.append(answer_time(folder / "model", queries, options.seconds, setting))
        row = {
            "busy": count,
            "training": {setting: statistics.median(speeds) for setting, speeds in trained.items()},
            "serving_ms": {setting: statistics.median(times) for setting, times in served.items()},
        }
        print(row, file=sys.stderr)
        rows.append(row)
    return {"data": options.data, "cores": CORES, "rows": rows}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="nobel")
    parser.add_argument("--busy", type=lambda text: [int(one) for one in text.split(",")], default=[0, 1, 2, 3])
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        show(measure(options, Path(folder)), options.json)


if __name__ == "__main__":
    main()
