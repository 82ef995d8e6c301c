"""Kill workers at random moments: the training must end with the weights of one that nobody disturbed.

    python benchmarks/worker_kills.py [--json] [--kills 20] [--workers 2] [--seed 0]

Each time ``nary train --workers`` is started anew. Mostly one worker is killed, and the launcher must start all again
by itself; every fourth time the launcher is killed with all its workers, and the same command is given again.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import show

SETTINGS = {
    "model.num_layers": 1,
    "model.hidden_dim": 32,
    "model.num_heads": 2,
    "model.ffn_dim": 32,
    "training.epochs": 2,
    "training.batch_size": 32,
    "training.precision": "fp32",
    "training.checkpoint_minutes": 0.01,
}
PATIENCE = 900.0  # seconds


def command(facts: Path, run: Path, workers: int) -> list[str]:
    """How the training is started."""
    settings = [part for key, value in SETTINGS.items() for part in ("--set", f"{key}={value}")]
    how = ["train", facts, "--model", "gran", "--out", run, "--workers", workers, *settings]
    return [sys.executable, "-m", "nary", *map(str, how)]


def workers_of(launcher: subprocess.Popen[bytes]) -> list[int]:
    """The processes that a launcher has started."""
    children = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            if int(fields[1]) == launcher.pid and b"train" in (status.parent / "cmdline").read_bytes():
                children.append(int(status.parent.name))
        except OSError:
            continue
    return sorted(children)


def start(facts: Path, run: Path, workers: int) -> subprocess.Popen[bytes]:
    """Start a training."""
    return subprocess.Popen(command(facts, run, workers), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def weights(run: Path) -> bytes:
    """The weight file of a run."""
    return (run / "model" / "model.safetensors").read_bytes()


def killed_once(facts: Path, run: Path, workers: int, wait: float, everyone: bool, chance: random.Random) -> str | None:
    """Train, and kill after ``wait`` seconds of training; what went wrong."""
    launcher = start(facts, run, workers)
    while launcher.poll() is None and not (run / "metrics.jsonl").exists():
        time.sleep(0.02)
    time.sleep(wait)
    victims = workers_of(launcher)
    if everyone:
        for victim in (launcher.pid, *victims):
            os.kill(victim, signal.SIGKILL)
        launcher.communicate()
        launcher = start(facts, run, workers)
    elif victims:
        os.kill(chance.choice(victims), signal.SIGKILL)
    _, err = launcher.communicate(timeout=PATIENCE)
    return None if launcher.returncode == 0 else err.decode()


def main() -> None:
    """Kill, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        facts = folder / "facts.jsonl"
        subprocess.run(
            [sys.executable, "-m", "nary", "generate", facts, "--facts", "300", "--entities", "60"], check=True
        )
        start(facts, folder / "whole", options.workers).communicate(timeout=PATIENCE)
        log = (folder / "whole" / "log.txt").read_text().splitlines()
        seconds = float(log[-1].split(",")[-1].split()[0])
        for number in range(options.kills):
            run = folder / f"run-{number}"
            wait = chance.uniform(0, seconds)
            failure = killed_once(facts, run, options.workers, wait, number % 4 == 3, chance)
            if failure is None and weights(run) != weights(folder / "whole"):
                failure = "other weights than without a kill"
            if failure is not None:
                failures.append(f"kill {number}: {failure}")
    figures = {"kills": options.kills, "same_weights": options.kills - len(failures), "failures": failures}
    show({"workers": options.workers, **figures}, options.json)


if __name__ == "__main__":
    main()
