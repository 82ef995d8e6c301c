"""Time and memory of the tools on very many facts, and what a training process holds of them.

    python benchmarks/streaming.py [--facts 10000000] [--entities 10000000] [--folder DIR] [--input FILE] [--json]

Facts are generated as JSON Lines (or taken from ``--input``), converted to a mapped dataset and to Parquet, counted and
checked, each by a command of its own; ``seconds`` are those of the processor, ``bytes`` the peak memory of the process.
Then a process opens the dataset, as it was and mapped, and makes training batches; ``held_bytes`` is the memory that it
has then for itself: that of mapped files, which other processes share and the system can take back, does not count.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

STEPS, BATCH_SIZE = 100, 1024


def run(*arguments: object) -> dict[str, float]:
    """A command of Nary in a process of its own."""
    command = [sys.executable, "-m", "nary", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return {"seconds": usage.ru_utime + usage.ru_stime, "bytes": usage.ru_maxrss * 1024}


def batches(data: Path) -> dict[str, float]:
    """What a training process holds, measured in a process of its own."""
    command = [sys.executable, __file__, "--batches", data]
    figures: dict[str, float] = orjson.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return figures


def print_batches(data: Path) -> None:
    """Open a dataset, make batches, and print the memory above the imports."""
    from nary.data.io.reader import read
    from nary.training.batches import TrainingBatches
    from nary.training.settings import TrainingSettings

    before, start = _held(), time.process_time()
    dataset = read(data)
    opened = time.process_time()
    training = TrainingBatches(dataset.train, TrainingSettings(batch_size=BATCH_SIZE))
    training.batch_at(0)
    first = time.process_time()
    middle = training.num_steps(1) // 2
    for step in range(middle, middle + STEPS):
        training.batch_at(step)
    figures = {
        "open_seconds": opened - start,
        "first_batch_seconds": first - opened,
        "batch_milliseconds": 1000 * (time.process_time() - first) / STEPS,
        "held_bytes": _held() - before,
    }
    print(orjson.dumps(figures).decode())


def _held() -> int:
    return 1024 * int(Path("/proc/self/status").read_text().partition("RssAnon:")[2].split()[0])


def measure(facts: int, entities: int, given: Path | None, folder: Path) -> Iterator[tuple[str, Mapping[str, float]]]:
    """What was done, and its figures."""
    source, mapped = given or folder / "facts.jsonl", folder / "mapped"
    if given is None:
        yield "generate", run("generate", source, "--facts", facts, "--entities", entities)
    yield "convert to mapped", run("convert", source, mapped, "--to", "mapped")
    yield "mapped files", {"bytes": sum(path.stat().st_size for path in mapped.rglob("*") if path.is_file())}
    yield "convert mapped to Parquet", run("convert", mapped, folder / "facts.parquet")
    for name, data in (("mapped", mapped), ("JSON Lines", source)):
        yield f"stats, {name}", run("stats", data)
        yield f"check, {name}", run("check", data)
        yield f"batches, {name}", batches(data)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=10_000_000)
    parser.add_argument("--entities", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="where to write, for a while")
    parser.add_argument("--input", type=Path, help="a file of facts to use instead of generating one")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--batches", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.batches:
        print_batches(options.batches)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        rows = {}
        for what, figures in measure(options.facts, options.entities, options.input, Path(name)):
            print(what, orjson.dumps(figures).decode(), file=sys.stderr)  # all together take long
            rows |= {f"{what}: {key}": value for key, value in figures.items()}
    from common import show  # not before: the peak of a process counts the memory of the one that starts it

    show({**rows, "load": os.getloadavg()[0]}, options.json)


if __name__ == "__main__":
    main()
