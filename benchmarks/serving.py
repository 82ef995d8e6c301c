"""How fast `nary serve` answers: one client, many clients, and searching while typing.

    python benchmarks/serving.py [--data jf17k] [--layers 12] [--requests 10000] [--clients 32] [--json]

The model has random weights, which take as long as trained ones. ``latency_ratio`` compares the median time of
/api/predict for one client with that of ``predict`` in this process, ``throughput_ratio`` the answers a second of many
clients at once with those of one. All clients keep their connection. /api/search runs over generated labels.
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
from collections.abc import Callable, Iterator, Sequence
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
from nary.runs import Run, load_run

COMMAND = [sys.executable, "-c", "from nary.apps.cli.main import main; main()"]
TURNS = 3
LABELS = 100_000
SYLLABLES = ("ba", "cor", "den", "fi", "gal", "hu", "jor", "ka", "lem", "mo", "nis", "ora", "pel", "qui", "ros", "tan")


class Client:
    """One kept connection to the server."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def predict(self, query: str) -> bool:
        """Ask a query; whether it was answered."""
        body = orjson.dumps({"fact": query, "k": 10})
        return self._answered("POST", "/api/predict", body)

    def search(self, text: str) -> bool:
        """Search; whether it was answered."""
        return self._answered("GET", f"/api/search?q={quote(text)}", None)

    def _answered(self, method: str, path: str, body: bytes | None) -> bool:
        try:
            self._connection.request(method, path, body, {"Content-Type": "application/json"})
            answer = self._connection.getresponse()
            answer.read()
        except OSError:
            self._connection.close()  # the next request connects again
            return False
        return answer.status == 200


@contextmanager
def serving(folder: Path) -> Iterator[int]:
    """A server for the model in ``folder``; its port."""
    with (
        (folder.parent / f"{folder.name}.log").open("w") as log,
        subprocess.Popen(
            [*COMMAND, "serve", str(folder), "--port", "0"], stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            yield int(re.findall(r":(\d+)/", process.stdout.readline())[0])
        finally:
            process.terminate()


def random_model(dataset: Dataset, settings: GranSettings, folder: Path) -> None:
    """Write the folder of a model that has learned nothing."""
    torch.manual_seed(0)
    Run(dataset, Gran(settings, DatasetInfo.from_dataset(dataset)), settings).save(folder)


def labeled(count: int) -> Dataset:
    """A few facts over very many entities, each with a label of its own."""
    chance = random.Random(0)
    labels = {
        f"Q{i}": " ".join("".join(chance.choices(SYLLABLES, k=3)).capitalize() for _ in range(2)) for i in range(count)
    }
    vocabulary = Vocabulary.of(labels, ["near"], labels)
    facts = [Fact(f"Q{i}", "near", f"Q{i + 1}") for i in range(100)]
    return Dataset("labeled", vocabulary, {"train": FactTable.from_facts(facts, vocabulary)})


def queries_of(dataset: Dataset, count: int) -> list[str]:
    """Test facts with an element missing at random."""
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
    """Ask all queries, divided among clients at once: answers a second, and how many failed."""

    def ask(own: Sequence[str]) -> int:
        with closing(Client(port)) as client:
            return sum(not client.predict(query) for query in own)

    start = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        failures = sum(pool.map(ask, [queries[i::clients] for i in range(clients)]))
    return len(queries) / (time.perf_counter() - start), failures


def measure(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Start the servers and ask them."""
    dataset = load(options.data)
    random_model(dataset, GranSettings(num_layers=options.layers), folder / "model")
    random_model(labeled(LABELS), GranSettings(num_layers=1, num_heads=1, hidden_dim=8, ffn_dim=8), folder / "labels")
    queries = queries_of(dataset, options.requests)
    few = queries[: options.single]
    run = load_run(folder / "model")
    here, over_http, alone, together, failures = [], [], [], [], 0
    with serving(folder / "model") as port:
        for turn in range(TURNS):
            here.append(median_ms(lambda query: run.predict(query, 10), few))
            with closing(Client(port)) as client:
                over_http.append(median_ms(client.predict, few))
            for found, clients, asked in ((alone, 1, few), (together, options.clients, queries[turn::TURNS])):
                per_second, failed = flood(port, asked, clients)
                found.append(per_second)
                failures += failed
    labels = list(load_run(folder / "labels").dataset.vocabulary.labels.values())
    chance = random.Random(1)
    typed = [label[: chance.randint(1, 8)] if i % 2 else label[2:7] for i, label in enumerate(labels[: options.single])]
    with serving(folder / "labels") as port, closing(Client(port)) as client:
        search = median_ms(client.search, typed)
    return {
        "data": options.data,
        "num_layers": options.layers,
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
    parser.add_argument("--requests", type=int, default=10_000, help="asked by many clients at once")
    parser.add_argument("--single", type=int, default=300, help="asked by one client")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options, Path(folder))
    if options.json:
        print(orjson.dumps(found).decode())
        return
    for name, value in found.items():
        print(f"{name:28} {value:,.3f}" if isinstance(value, float) else f"{name:28} {value}")


if __name__ == "__main__":
    main()
