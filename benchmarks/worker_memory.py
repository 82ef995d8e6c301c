"""The memory of workers that share a large table, at its peak: from the initial rows to the model folder.

    python benchmarks/worker_memory.py [--json] [--workers 2] [--entities 4000000] [--width 128] [--folder DIR]

``nary train --workers`` with GRAN of 2 layers and the sampled softmax learns from 5,000 random facts of arity 3 in a
mapped dataset: a few steps, then it validates, saves a checkpoint and writes the model. The same command, given again,
reads the checkpoint and writes the model anew (``again``). ``anonymous_bytes`` of a worker is the memory that the
system cannot take back, ``bytes`` counts the pages of mapped files too.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import show
from growth import RELATIONS, random_facts
from worker_kills import workers_of

from nary.data.dataset import Dataset
from nary.data.io.writer import write
from nary.facts import Vocabulary

SETTINGS = {
    "model.num_layers": 2,
    "loss.name": "sampled_softmax",
    "training.batch_size": 512,
    "training.precision": "fp32",
    "training.epochs": 1,
    "training.max_steps": 5,
    "training.eval_every": 1,
    "evaluation.positions": "['subject']",
}
FIELDS = {"RssAnon": "anonymous_bytes", "VmHWM": "bytes"}


def command(data: Path, run: Path, width: int, workers: int) -> list[str]:
    """How the training is started."""
    settings = {**SETTINGS, "model.hidden_dim": width, "model.ffn_dim": 2 * width}
    options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    how = ["train", data, "--model", "gran", "--out", run, "--workers", workers, *options]
    return [sys.executable, "-m", "nary", *map(str, how)]


def measure(arguments: list[str]) -> dict[str, dict[str, int]]:
    """Train; the largest memory of each worker."""
    launcher = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    peaks: dict[str, dict[str, int]] = {}
    while launcher.poll() is None:
        for number, process in enumerate(workers_of(launcher)):
            try:
                status = Path(f"/proc/{process}/status").read_text()
            except OSError:
                continue
            peak = peaks.setdefault(f"worker {number + 1}", {})
            for field, name in FIELDS.items():
                if field in status:
                    peak[name] = max(peak.get(name, 0), 1024 * int(status.partition(f"{field}:")[2].split()[0]))
        time.sleep(0.01)
    if launcher.returncode:
        raise SystemExit("the training has failed")
    return peaks


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--entities", type=int, default=4_000_000)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--folder", type=Path, help="where to write, for a while")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        data, run = Path(name) / "data", Path(name) / "run"
        facts = random_facts(options.entities, 3, 5001)
        names = Vocabulary(
            tuple(f"e{i:08d}" for i in range(options.entities)), tuple(f"r{i:03d}" for i in range(RELATIONS))
        )
        splits = {"train": facts.take(np.arange(5000)), "valid": facts.take(np.arange(5000, 5001))}
        write(Dataset("random", names, splits), data, format="mapped")
        arguments = command(data, run, options.width, options.workers)
        figures: dict[str, object] = {"table_bytes": 4 * options.entities * options.width}
        figures |= measure(arguments)
        figures |= {f"{worker}, again": peak for worker, peak in measure(arguments).items()}
    show({**figures, "load": os.getloadavg()[0]}, options.json)


if __name__ == "__main__":
    main()
