"""Time reading facts against a minimal loop in plain Python, alternating in one run.

    python benchmarks/reading.py [--facts 1000000] [--entities 100000] [--rounds 3] [--json]

Part one reads generated JSON Lines into a FactTable, against parsing the same lines with orjson alone; memory is the
peak above the imports, measured in a separate process. It does the same in the JSON format of GRAN. Part two loads
jf17k by name (it needs NARY_DATA_HOME), with checksums, first without and then with the cached table, against reading
its bytes and splitting its lines.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import orjson

from nary.data.io.reader import read
from nary.data.io.writer import write
from nary.data.load import load
from nary.data.synthetic import generate


def seconds(work: Callable[[], object]) -> float:
    """Time ``work``."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def parse_bare(path: Path) -> None:
    """Parse every line and discard it."""
    loads = orjson.loads
    with path.open("rb") as file:
        for line in file:
            loads(line)


def split_bare(folder: Path) -> None:
    """Read and split every line of jf17k."""
    for name in ("train.txt", "test.txt"):
        [line.split("\t") for line in (folder / name).read_text().split("\n")]


def peak_bytes(path: Path) -> int:
    """Measure the peak memory of reading ``path``, above the imports, in a separate process."""
    return int(subprocess.run([sys.executable, __file__, "--peak", path], check=True, capture_output=True).stdout)


def print_peak(path: Path) -> None:
    """Print the peak memory; :func:`peak_bytes` runs this in a subprocess."""
    before = _high_water()
    read(path)
    print(_high_water() - before)


def _high_water() -> int:
    # not getrusage, whose peak includes that of the parent process
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def measure_json(format: str, facts: int, entities: int, rounds: int) -> dict[str, float]:
    """Part one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "facts.json"
        write(generate(facts, entities), path, format=format)
        times = [(seconds(lambda: parse_bare(path)), seconds(lambda: read(path))) for _ in range(rounds)]
        return {
            "facts": facts,
            "bare_seconds": statistics.median(bare for bare, _ in times),
            "seconds": statistics.median(ours for _, ours in times),
            "ratio": statistics.median(ours / bare for bare, ours in times),
            "bytes_per_fact": peak_bytes(path) / facts,
        }


def measure_by_name(rounds: int) -> dict[str, float]:
    """Part two."""
    folder = Path(os.environ["NARY_DATA_HOME"]) / "jf17k"
    times = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            os.environ["NARY_CACHE_HOME"] = cache
            bare = seconds(lambda: split_bare(folder))
            times.append((bare, seconds(lambda: load("jf17k")), seconds(lambda: load("jf17k"))))
    return {
        "bare_seconds": statistics.median(bare for bare, _, _ in times),
        "seconds": statistics.median(cold for _, cold, _ in times),
        "cached_seconds": statistics.median(cached for _, _, cached in times),
        "ratio": statistics.median(cold / bare for bare, cold, _ in times),
        "cached_ratio": statistics.median(cached / bare for bare, _, cached in times),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=1_000_000)
    parser.add_argument("--entities", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--peak", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        print_peak(options.peak)
        return
    parts = {
        name: measure_json(format, options.facts, options.entities, options.rounds)
        for name, format in (("json_lines", "jsonl"), ("gran", "gran"))
    }
    if "NARY_DATA_HOME" in os.environ:
        parts["jf17k"] = measure_by_name(options.rounds)
    if options.json:
        print(orjson.dumps(parts).decode())
        return
    for part, figures in parts.items():
        print(part)
        for name, value in figures.items():
            print(f"  {name:16} {value:,.3f}")


if __name__ == "__main__":
    main()
