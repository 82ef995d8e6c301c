"""What the benchmarks share: time, peak, memory, the model and its plain twin, and how to print."""

import argparse
import resource
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import orjson
import torch

from nary.data.dataset import Dataset
from nary.models.base import DatasetInfo
from nary.models.gran import Gran, GranSettings
from nary.reproduction.records import hardware

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from reference.gran import ReferenceConfig, ReferenceGran


def parser(description: str | None, data: str = "jf17k") -> argparse.ArgumentParser:
    """The options that all of them have."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", default=data)
    options.add_argument("--layers", type=int, default=12)
    options.add_argument("--width", type=int, default=256)
    options.add_argument("--dropout", type=float, default=0.2)
    options.add_argument("--precision", choices=("auto", "fp32", "bf16"), default="auto")
    options.add_argument("--json", action="store_true")
    return options


def settings_of(options: argparse.Namespace) -> GranSettings:
    """GRAN as the options want it."""
    return GranSettings(
        num_layers=options.layers, hidden_dim=options.width, ffn_dim=2 * options.width, dropout=options.dropout
    )


def plain_twin(data: Dataset, settings: GranSettings) -> ReferenceGran:
    """The plain padded implementation of the same size."""
    info = DatasetInfo.from_dataset(data)
    return ReferenceGran(
        ReferenceConfig(
            entities=info.num_entities,
            relations=info.num_relations,
            max_arity=info.max_arity,
            layers=settings.num_layers,
            heads=settings.num_heads,
            width=settings.hidden_dim,
            inner=settings.ffn_dim,
            dropout=settings.dropout,
        )
    )


def random_gran(data: Dataset, settings: GranSettings) -> Gran:
    """Our implementation, with random weights."""
    return Gran(settings, DatasetInfo.from_dataset(data))


def seconds(work: Callable[[], object]) -> float:
    """How long ``work`` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cpu_seconds(work: Callable[[], object]) -> float:
    """How much processor time ``work`` takes in this process; other processes matter less to it than to the clock."""
    start = time.process_time()
    work()
    return time.process_time() - start


def peak_flops(kind: torch.dtype) -> float:
    """What the machine reaches on a product of two large matrices."""
    matrix = torch.randn(2048, 2048).to(kind)
    return 2 * 2048**3 / min(seconds(lambda: matrix @ matrix) for _ in range(5))


def peak_bytes() -> int:
    """The largest memory this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def show(figures: Mapping[str, object], as_json: bool) -> None:
    """Print the figures, and on what they were measured."""
    figures = {**figures, "hardware": hardware()}
    if as_json:
        print(orjson.dumps(figures).decode())
        return
    for name, value in figures.items():
        print(f"{name:28} {value:,.3f}" if isinstance(value, float) else f"{name:28} {value}")
