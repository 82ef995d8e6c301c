"""A table of ten million entities on one machine: train, save, rank a sample, and answer a query from the saved model.

    python benchmarks/large.py [--json] [--entities 10000000] [--width 128] [--folder DIR]

GRAN with 2 layers on random facts of arity 4, 512 instances a batch, the sampled softmax with 1,024 candidates. Times
are those of the processor; ``bytes`` is the memory of the process at its peak, ``predict_bytes`` that of ``nary predict``.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson
from common import peak_bytes, show
from growth import RELATIONS, random_facts
from scaling import StepTimes

from nary.data.dataset import Dataset
from nary.facts import Vocabulary
from nary.models.base import DatasetInfo
from nary.models.gran import Gran, GranSettings
from nary.recipe import Recipe
from nary.runs import TrainedModel
from nary.training.batches import TrainingBatches
from nary.training.losses import make_loss
from nary.training.row_trainer import RowTrainer

QUERIES = 2  # facts, each with an entity asked for at four places


def measure(entities: int, width: int, folder: Path) -> dict[str, object]:
    """All figures."""
    recipe = Recipe.from_tables({"model": {"name": "gran"}, "data": {"name": "random"}}).with_overrides(
        {
            "model.num_layers": 2,
            "model.hidden_dim": width,
            "model.ffn_dim": 2 * width,
            "training.batch_size": 512,
            "training.precision": "fp32",
            "loss.name": "sampled_softmax",
            "evaluation.positions": ["subject", "object", "value"],
        }
    )
    facts = random_facts(entities, 4, 5000)
    info = DatasetInfo(entities, RELATIONS, 4, facts)
    figures: dict[str, object] = {"entities": entities, "width": width}

    start = time.process_time()
    assert isinstance(recipe.model, GranSettings)
    module = Gran(recipe.model, info)
    figures["initial_seconds"] = time.process_time() - start
    times = StepTimes()
    loss = make_loss(recipe.loss, info)
    batches = TrainingBatches(facts, recipe.training)
    RowTrainer(module, batches, loss, recipe.training, callbacks=[times]).fit()
    figures["step_milliseconds"] = 1000 * statistics.median(times.seconds)
    figures["training_bytes"] = peak_bytes()

    names = Vocabulary(tuple(f"e{i:08d}" for i in range(entities)), tuple(f"r{i:03d}" for i in range(RELATIONS)))
    model = TrainedModel(module, Dataset("random", names, {"train": facts}), recipe)
    start = time.process_time()
    ranked = len(model.rank(random_facts(entities, 4, QUERIES))[1])
    figures["rank_seconds_a_query"] = (time.process_time() - start) / ranked
    start = time.process_time()
    model.save(folder / "model")
    figures["save_seconds"] = time.process_time() - start
    figures["bytes"] = peak_bytes()
    del model, module, loss

    question = f"{names.entities[1]} | {names.relations[2]} | ?"
    start = time.perf_counter()
    command = [sys.executable, "-m", "nary", "predict", str(folder / "model"), question, "--json"]
    ended = subprocess.run(command, capture_output=True, check=False)
    if ended.returncode:
        sys.exit(ended.stderr.decode())
    answer = orjson.loads(ended.stdout)
    figures["predict_seconds"] = time.perf_counter() - start
    figures["predict_bytes"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return {**figures, "answers": len(answer["answers"]), "load": os.getloadavg()[0]}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--entities", type=int, default=10_000_000)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--folder", type=Path, help="where to write the model, which is removed again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        show(measure(options.entities, options.width, Path(folder)), options.json)


if __name__ == "__main__":
    main()
