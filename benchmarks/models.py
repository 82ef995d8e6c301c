"""All models side by side: training, ranking, parameters and memory, at the sizes of their recipes.

    python benchmarks/models.py [--data jf17k] [--models gran,ram] [--steps 20] [--facts 2000] [--json]

Each model is measured in a process of its own, with random weights. Its recipe is the one for the dataset, else that
for the dataset with the most similar name, else its defaults. ``instances_per_second`` is the median of the last steps
of a short training with the batches of that recipe; an objective that takes whole facts has these as instances.
``queries_per_second`` ranks the entities of facts taken evenly from test; ``ratio`` is the time a query takes in
relation to GRAN with two layers of width 256, the first row. ``peak_bytes`` is the memory of the whole process.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import torch
from common import peak_bytes, seconds

from nary.data.dataset import Dataset
from nary.data.load import load
from nary.evaluation.known import KnownAnswers
from nary.evaluation.protocol import Protocol
from nary.evaluation.ranks import rank
from nary.facts import FactTable
from nary.models.base import DatasetInfo, Model
from nary.models.registry import MODELS
from nary.recipe import Recipe, choose, shipped
from nary.training.checkpoint import Checkpoints
from nary.training.instances import Instances
from nary.training.loop import StepReport, Training

REFERENCE = "gran, 2 layers"
SIZE = {"num_layers": 2, "num_heads": 4, "hidden_dim": 256, "ffn_dim": 512}
COLUMNS = ("instances_per_second", "queries_per_second", "ratio", "parameters", "peak_bytes")


class Enough(Exception):  # noqa: N818 (nobody made an error)
    """So many steps are measured."""


def recipe_of(model: str, data: str) -> tuple[str | None, Recipe]:
    """The recipe whose sizes a model is measured with, and its name."""
    own = [name for name in shipped() if name.startswith(f"{model}/")]
    alike = (SequenceMatcher(None, f"{model}/{data}", name).ratio() for name in own)
    name = max(zip(alike, own, strict=True), default=(0, None))[1]
    if name is None:
        return None, choose(data, model, overrides={"training.loss": min(MODELS.get(model).losses)})
    return name, choose(data, recipe=name)


def training_speed(model: Model, recipe: Recipe, data: Dataset, steps: int) -> float | None:
    """Instances a second; None for a model that only counts."""
    settings = recipe.training
    heard: list[float] = []

    def listen(report: StepReport) -> None:
        heard.append(report.instances_per_second)
        if len(heard) == steps:
            raise Enough

    instances = Instances(data.train, settings, model.roles)
    with tempfile.TemporaryDirectory() as folder:
        training = Training(model, instances, settings, Checkpoints(Path(folder)), torch.device("cpu"))
        training.listener = listen
        try:
            training.run()
        except Enough:
            return statistics.median(heard[steps // 3 :])
    return None


def spread(table: FactTable, facts: int) -> FactTable:
    """So many facts, evenly taken."""
    return table.take(np.linspace(0, len(table) - 1, max(20, min(facts, len(table)))).astype(np.int64))


def ranking_speed(model: Model, data: Dataset, facts: int) -> float:
    """Entity queries a second; a model that would need more than about 20 seconds ranks fewer facts."""
    protocol = Protocol(positions=sorted(role.value for role in model.roles if role.is_entity))
    known = KnownAnswers(list(data.splits.values()), protocol.filter)
    model.eval()
    test = spread(data.test, 20)
    test = spread(data.test, min(facts, int(400 / seconds(lambda: rank(model, test, known, protocol)))))
    times = [seconds(lambda: rank(model, test, known, protocol)) for _ in range(3)]
    queries = len(rank(model, test, known, protocol).row)
    return queries / statistics.median(times)


def measure_one(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """The figures of one model."""
    data = load(options.data)
    chosen, recipe = recipe_of("gran" if name == REFERENCE else name, options.data)
    settings = recipe.model.model_copy(update=SIZE if name == REFERENCE else {})
    torch.manual_seed(0)
    model = MODELS.get(recipe.model_name)(settings, DatasetInfo.from_dataset(data))
    return {
        "model": name,
        "recipe": chosen,
        "batch_size": recipe.training.batch_size,
        "instances_per_second": training_speed(model, recipe, data, options.steps),
        "queries_per_second": ranking_speed(model, data, options.facts),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "peak_bytes": peak_bytes(),
    }


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Every model in a process of its own."""
    chosen = options.models.split(",") if options.models else list(MODELS)
    rows: list[dict[str, Any]] = []
    for name in [REFERENCE, *chosen]:
        print(name, file=sys.stderr)
        command = [sys.executable, __file__, "--one", name, "--data", options.data]
        command += ["--steps", str(options.steps), "--facts", str(options.facts)]
        rows.append(orjson.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))
        rows[-1]["ratio"] = rows[0]["queries_per_second"] / rows[-1]["queries_per_second"]
    return {"data": options.data, "threads": torch.get_num_threads(), "models": rows}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="jf17k")
    parser.add_argument("--models", help="some of them, with commas; all if not given")
    parser.add_argument("--steps", type=int, default=20, help="training steps; the first third is not counted")
    parser.add_argument("--facts", type=int, default=2000, help="about how many facts of test are ranked")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(orjson.dumps(measure_one(options.one, options)).decode())
        return
    found = measure(options)
    if options.json:
        print(orjson.dumps(found).decode())
        return
    print(f"{'':20}" + "".join(f"{column:>22}" for column in COLUMNS))
    for row in found["models"]:
        values = (f"{row[column]:,.2f}" if row[column] is not None else "" for column in COLUMNS)
        print(f"{row['model']:20}" + "".join(f"{value:>22}" for value in values))


if __name__ == "__main__":
    main()
