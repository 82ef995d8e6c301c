"""Latency and throughput of `nary serve`: one client, many clients, and name completion.

    python benchmarks/serving.py [--data jf17k] [--layers 12] [--requests 10000] [--clients 32] [--json]

The model has random weights, which cost as much time as trained ones. ``latency_ratio`` is the median time of
/api/predict for one client over that of ``predict`` in this process, ``throughput_ratio`` the requests per second of
many concurrent clients over those of one. Clients keep their connection. /api/search runs over generated labels.
"""

import argparse
import http.client
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import orjson
import torch

from nary.data.dataset import Dataset
from nary.data.load import load
from nary.facts import Fact, FactTable, Vocabulary
from nary.models.base import DatasetInfo
from nary.models.gran import Gran, GranSettings
from nary.recipe import Recipe
from nary.runs import TrainedModel, load_model

COMMAND = [sys.executable, "-c", "from nary.apps.cli.main import main; main()"]
TURNS = 3
LABELS = 100_000
SYLLABLES = ("ba", "cor", "den", "fi", "gal", "hu", "jor", "ka", "lem", "mo", "nis", "ora", "pel", "qui", "ros", "tan")


class Client:
    """A client with a persistent connection."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def predict(self, query: str) -> bool:
        """Send a query; return whether it was answered."""
        body = orjson.dumps({"fact": query, "k": 10})
        return self._succeeds("POST", "/api/predict", body)

    def search(self, text: str) -> bool:
        """Search for a name; return whether it was answered."""
        return self._succeeds("GET", f"/api/search?q={quote(text)}", None)

    def _succeeds(self, method: str, path: str, body: bytes | None) -> bool:
        try:
            self._connection.request(method, path, body, {"Content-Type": "application/json"})
            response = self._connection.getresponse()
            response.read()
        except OSError:
            self._connection.close()  # the next request connects again
            return False
        return response.status == 200


@contextmanager
def serving(folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[int]:
    """Serve the model in ``folder``, with other variables if given; yields the port."""
    with (
        (folder.parent / f"{folder.name}.log").open("w") as log,
        subprocess.Popen(
            [*COMMAND, "serve", str(folder), "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            yield int(re.findall(r":(\d+)/", process.stdout.readline())[0])
        finally:
            process.terminate()


def random_model(dataset: Dataset, settings: GranSettings, folder: Path) -> None:
    """Write the folder of an untrained model."""
    torch.manual_seed(0)
    recipe = Recipe.from_tables({"data": {"name": dataset.name}, "model": settings.model_dump()})
    TrainedModel(Gran(settings, DatasetInfo.from_dataset(dataset)), dataset, recipe).save(folder)


def labeled(count: int) -> Dataset:
    """A few facts over very many entities, each with its own label."""
    chance = random.Random(0)
    labels = {
        f"Q{i}": " ".join("".join(chance.choices(SYLLABLES, k=3)).capitalize() for _ in range(2)) for i in range(count)
    }
    vocabulary = Vocabulary.of(labels, ["near"], labels)
    facts = [Fact(f"Q{i}", "near", f"Q{i + 1}") for i in range(100)]
    return Dataset("labeled", vocabulary, {"train": FactTable.from_facts(facts, vocabulary)})


def queries_of(dataset: Dataset, count: int) -> list[str]:
    """Test facts with a random element missing."""
    chance = random.Random(0)
    facts = list(dataset.test.facts(dataset.vocabulary))
    chosen = chance.choices(facts, k=count)
    return [str(fact.query(chance.choice(list(fact.elements())))) for fact in chosen]


def median_ms(work: Callable[[str], object], texts: Sequence[str]) -> float:
    """The median time of ``work`` in milliseconds, after a few calls to warm up."""
    for text in texts[:10]:
        work(text)
    times = []
    for text in texts:
        start = time.perf_counter()
        work(text)
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def flood(port: int, queries: Sequence[str], clients: int) -> tuple[float, int]:
    """Send all queries from concurrent clients; return requests per second and the number of failures."""

    def send(part: Sequence[str]) -> int:
        with closing(Client(port)) as client:
            return sum(not client.predict(query) for query in part)

    start = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        failures = sum(pool.map(send, [queries[i::clients] for i in range(clients)]))
    return len(queries) / (time.perf_counter() - start), failures


def measure(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Start the servers and measure them."""
    dataset = load(options.data)
    random_model(dataset, GranSettings(num_layers=options.layers), folder / "model")
    random_model(labeled(LABELS), GranSettings(num_layers=1, num_heads=1, hidden_dim=8, ffn_dim=8), folder / "labels")
    queries = queries_of(dataset, options.requests)
    few = queries[: options.single]
    model = load_model(folder / "model")
    here, over_http, alone, together, failures = [], [], [], [], 0
    with serving(folder / "model") as port:
        for turn in range(TURNS):
            here.append(median_ms(lambda query: model.predict(query, 10), few))
            with closing(Client(port)) as client:
                over_http.append(median_ms(client.predict, few))
            for rates, clients, asked in ((alone, 1, few), (together, options.clients, queries[turn::TURNS])):
                per_second, failed = flood(port, asked, clients)
                rates.append(per_second)
                failures += failed
    labels = list(load_model(folder / "labels").dataset.vocabulary.labels.values())
    chance = random.Random(1)
    typed = [label[: chance.randint(1, 8)] if i % 2 else label[2:7] for i, label in enumerate(labels[: options.single])]
    with serving(folder / "labels") as port, closing(Client(port)) as client:
        search = median_ms(client.search, typed)
    return {
        "data": options.data,
        "layers": options.layers,
        "threads": torch.get_num_threads(),
        "in_process_p50_ms": statistics.median(here),
        "http_p50_ms": statistics.median(over_http),
        "latency_ratio": statistics.median(over_http) / statistics.median(here),
        "requests_per_second_1": statistics.median(alone),
        f"requests_per_second_{options.clients}": statistics.median(together),
        "throughput_ratio": statistics.median(together) / statistics.median(alone),
        "requests": TURNS * len(few) + len(queries),
        "failures": failures,
        "labels": LABELS,
        "search_p50_ms": search,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="jf17k")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--requests", type=int, default=10_000, help="sent by many concurrent clients")
    parser.add_argument("--single", type=int, default=300, help="sent by one client")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = measure(options, Path(folder))
    if options.json:
        print(orjson.dumps(results).decode())
        return
    for name, value in results.items():
        print(f"{name:28} {value:,.3f}" if isinstance(value, float) else f"{name:28} {value}")


if __name__ == "__main__":
    main()
