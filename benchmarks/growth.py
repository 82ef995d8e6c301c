"""How time and memory of a training step of GRAN grow: with entities, arity, layers and batch, one at a time.

    python benchmarks/growth.py [--json] [--quick]

Every point is a process of its own, on random facts: ``milliseconds`` an instance and the ``bytes`` of the process at
its peak, less those before the model was made. Where nothing else is said: 10,000 entities, 500 relations, facts of
arity 4, 2 layers of width 256, 512 instances a batch.
"""

import argparse
import statistics
import subprocess
import sys

import numpy as np
import orjson
import torch
from common import peak_bytes, seconds, show

from nary.facts import FactTable
from nary.facts.table import Block
from nary.models.base import DatasetInfo
from nary.models.gran import Gran, GranSettings
from nary.training.instances import Instances
from nary.training.objective import masked_loss
from nary.training.optimizer import Optimizer
from nary.training.settings import TrainingSettings

USUAL = {"entities": 10_000, "arity": 4, "num_layers": 2, "batch_size": 512}
AXES = {
    "entities": (10_000, 30_000, 100_000, 300_000, 1_000_000),
    "arity": (2, 4, 8, 15, 30, 60),
    "num_layers": (1, 2, 4, 8, 12),
    "batch_size": (64, 128, 256, 512, 1024, 2048),
}
RELATIONS = 500


def random_facts(entities: int, arity: int, count: int) -> FactTable:
    """Facts of one arity with random elements."""
    random = np.random.default_rng(0)
    ids = random.integers(entities, size=(count, 2 * arity - 1), dtype=np.int32)
    block = Block(ids, np.arange(count))
    ids[:, block.relation_columns] = random.integers(RELATIONS, size=block.relations.shape, dtype=np.int32)
    return FactTable([block])


def measure_one(entities: int, arity: int, layers: int, batch: int) -> dict[str, float]:
    """Time and memory of a step."""
    before = peak_bytes()
    training = TrainingSettings(batch_size=batch, entity_smoothing=0.4)
    facts = random_facts(entities, arity, 5000)
    model = Gran(GranSettings(num_layers=layers), DatasetInfo(entities, RELATIONS, arity, facts))
    instances = Instances(facts, training)
    optimizer = Optimizer(model, training, 1000)

    def step(number: int) -> None:
        loss = masked_loss(model, instances.at(number), training)
        loss.backward()
        optimizer.step(number + 200)

    step(0)
    times = [seconds(lambda number=number: step(number)) for number in range(1, 5)]
    return {"milliseconds": 1000 * statistics.median(times) / batch, "bytes": peak_bytes() - before}


def measure(quick: bool) -> dict[str, object]:
    """Every axis, every point in a process of its own."""
    found: dict[str, object] = {"threads": torch.get_num_threads(), "usual": USUAL}
    for axis, values in AXES.items():
        points = []
        for value in values[:2] if quick else values:
            point = {**USUAL, axis: value}
            print(point, file=sys.stderr)
            command = [sys.executable, __file__, "--one", orjson.dumps(point).decode()]
            output = subprocess.run(command, check=True, capture_output=True).stdout
            points.append({axis: value, **orjson.loads(output)})
        found[axis] = points
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="two points an axis")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        show(measure_one(**orjson.loads(options.one)), as_json=True)
    else:
        show(measure(options.quick), options.json)


if __name__ == "__main__":
    main()
