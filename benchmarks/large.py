"""A table of ten million entities on one machine: train, save, rank a sample, and answer queries from the saved model.

    python benchmarks/large.py [--json] [--entities 10000000] [--width 128] [--folder DIR]

GRAN with 2 layers on random facts of arity 3, 512 instances a batch, the sampled softmax with 1,024 candidates. Times
are those of the processor. ``bytes`` is the memory of the training process at its peak, ``predict_bytes`` that of
``nary predict`` and ``serve_bytes`` that of ``nary serve``, which include the weights that are mapped into memory: the
system can drop these pages again. ``serve_anonymous_bytes`` is what it cannot drop. ``start_seconds`` are those until
the server answers.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import Request, urlopen

import numpy as np
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

QUERIES = 2  # facts, each with an entity asked for at three places
QUESTIONS = 16  # to the server


def train(entities: int, width: int, folder: Path) -> dict[str, object]:
    """Train, rank and save."""
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
    facts = random_facts(entities, 3, 5000)
    info = DatasetInfo(entities, RELATIONS, 3, facts)
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
    ranked = len(model.rank(random_facts(entities, 3, QUERIES))[1])
    figures["rank_seconds_a_query"] = (time.process_time() - start) / ranked
    start = time.process_time()
    model.save(folder / "model")
    figures["save_seconds"] = time.process_time() - start
    figures["bytes"] = peak_bytes()
    return figures


def predict(entities: int, folder: Path) -> dict[str, object]:
    """A query answered by a process that loads the saved model."""
    command = [sys.executable, "-m", "nary", "predict", str(folder / "model"), "e00000001 | r002 | ?", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    answers = orjson.loads(process.stdout.read())["answers"]
    _, _, usage = os.wait4(process.pid, 0)
    assert all(answer["name"] < f"e{entities:08d}" for answer in answers)
    return {"predict_seconds": usage.ru_utime + usage.ru_stime, "predict_bytes": usage.ru_maxrss * 1024}


def serve(entities: int, folder: Path) -> dict[str, object]:
    """Queries and searches answered by a server that loads the saved model."""
    command = [sys.executable, "-m", "nary", "serve", str(folder / "model"), "--port", "0", "--json"]
    process = subprocess.Popen([*command, "--timeout", "600"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        address = orjson.loads(process.stdout.readline())["address"]
        figures: dict[str, object] = {"start_seconds": processor_seconds(process.pid)}
        names = [f"e{i:08d}" for i in np.random.default_rng(0).integers(entities, size=QUESTIONS)]
        queries = [orjson.dumps({"fact": f"{name} | r002 | ?"}) for name in names]

        def measure(figure: str, requests: list[tuple[str, bytes | None]], clients: int = 1) -> None:
            start = processor_seconds(process.pid)
            with ThreadPoolExecutor(clients) as pool:
                list(pool.map(lambda request: ask(address + request[0], request[1]), requests))
            figures[figure] = 1000 * (processor_seconds(process.pid) - start) / len(requests)

        measure("answer_milliseconds", [("api/predict", query) for query in queries])
        measure("answer_milliseconds_of_16_at_once", [("api/predict", query) for query in queries], QUESTIONS)
        typed = [name[:end] for name in names for end in range(1, len(name) + 1)]
        measure("search_milliseconds", [(f"api/search?q={text}", None) for text in typed])
        measure("search_inside_milliseconds", [(f"api/search?q={name[3:]}", None) for name in names])
        status = dict(line.split(":", 1) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines())
        for name, field in (("serve_bytes", "VmHWM"), ("serve_anonymous_bytes", "RssAnon")):
            figures[name] = int(status[field].split()[0]) * 1024
        return figures
    finally:
        process.terminate()
        process.wait()


def processor_seconds(process: int) -> float:
    """The processor time that a process has had so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ask(address: str, content: bytes | None = None) -> bytes:
    """What the server answers."""
    request = Request(address, content, {"Content-Type": "application/json"})
    with urlopen(request, timeout=600) as response:
        return response.read()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--entities", type=int, default=10_000_000)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--folder", type=Path, help="where to write the model, which is removed again")
    parser.add_argument("--train", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        show(train(options.entities, options.width, options.folder), as_json=True)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        # A process of its own: memory is counted by the process, and a child begins with that of its parent.
        sizes = ["--entities", str(options.entities), "--width", str(options.width)]
        command = [sys.executable, __file__, "--train", *sizes, "--folder", name]
        figures = orjson.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        figures |= predict(options.entities, Path(name))
        figures |= serve(options.entities, Path(name))
    show({**figures, "load": os.getloadavg()[0]}, options.json)


if __name__ == "__main__":
    main()
