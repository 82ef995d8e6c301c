"""Small data and small runs, for tests of everything between a recipe and a trained model."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nary.config import with_overrides
from nary.data.dataset import Dataset
from nary.data.synthetic import generate
from nary.data.transforms.splits import split_dataset
from nary.facts import Fact
from nary.recipe import Recipe
from nary.runs import RunFolder, TrainedModel, TrainingResult, prepare_dataset, train_recipe
from nary.training.callbacks import Callback

SMALL: dict[str, Any] = {
    "model.num_layers": 1,
    "model.num_heads": 2,
    "model.hidden_dim": 16,
    "model.ffn_dim": 16,
    "training.epochs": 4,
    "training.batch_size": 32,
    "training.learning_rate": 0.01,
    "training.precision": "fp32",
}
"""A model that trains in a blink."""
PATIENCE = 300
"""Seconds after which a process counts as hanging; a busy machine is no failure."""
NARY = [sys.executable, "-c", "from nary.apps.cli.main import main; main()"]


def small_data(facts: int = 60) -> Dataset:
    """Invented facts of arity 2 to 4 in three splits."""
    return split_dataset(generate(facts=facts, entities=20, relations=4, max_arity=4))


def small_recipe(dataset: Dataset, model: str = "gran", **changed: Any) -> Recipe:
    """The defaults, but small; double underscores in ``changed`` stand for dots: ``training__epochs``."""
    settings = SMALL if model == "gran" else {k: v for k, v in SMALL.items() if not k.startswith("model.")}
    settings = {"data.name": dataset.name, **settings, **{k.replace("__", "."): v for k, v in changed.items()}}
    return Recipe.from_tables(with_overrides({"model": {"name": model}}, settings))


def train_in(folder: Path | None, dataset: Dataset, recipe: Recipe, *callbacks: Callback) -> TrainingResult:
    """Train ``recipe`` in a new run folder, or in memory."""
    return train_recipe(prepare_dataset(dataset, recipe), recipe, folder, callbacks)


def start_in(folder: Path, dataset: Dataset, recipe: Recipe) -> RunFolder:
    """A run folder in which nothing has been trained yet; ``resume`` trains it."""
    return RunFolder.create(folder, prepare_dataset(dataset, recipe), recipe)


def small_run(folder: Path, model: str = "gran", dataset: Dataset | None = None, **changed: Any) -> TrainedModel:
    """The model of a small run in ``folder``."""
    dataset = dataset or small_data()
    return train_in(folder, dataset, small_recipe(dataset, model, **changed)).model


def weights(folder: Path) -> bytes:
    """The weight file of a run."""
    return (folder / "model" / "model.safetensors").read_bytes()


def options(**changed: Any) -> list[str]:
    """The settings of a small run as options of ``nary train``."""
    settings = {**SMALL, **{key.replace("__", "."): value for key, value in changed.items()}}
    return [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]


def start(*arguments: object) -> subprocess.Popen[str]:
    """``nary`` as a process of its own."""
    return subprocess.Popen(
        [*NARY, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def finish(*arguments: object) -> str:
    """Run ``nary`` to its end, which must be a good one."""
    process = start(*arguments)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Until ``condition`` holds, or the process has ended."""
    end = time.monotonic() + PATIENCE
    while process.poll() is None and not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.002)


def stop(process: subprocess.Popen[str], with_signal: signal.Signals) -> tuple[int, str]:
    """Send a signal; the exit code and what was said on standard error."""
    process.send_signal(with_signal)
    _, err = process.communicate(timeout=PATIENCE)
    return process.returncode, err


def dataset_of(**splits: list[Fact]) -> Dataset:
    """A dataset called toy of the given facts."""
    return Dataset.from_facts("toy", splits)
