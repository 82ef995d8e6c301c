"""The rows of entity tables in checkpoints of several workers: a file of each, which any number of them can read."""

from collections.abc import Callable, Iterable, Mapping
from math import gcd
from pathlib import Path

import torch
from torch import Tensor

from nary.models.base import Model
from nary.models.weights import read_tensors
from nary.training.distributed.tables import cut_rows, rows_of_worker
from nary.training.optimizer import Optimizer
from nary.workers import Workers

SHARDS = "rows-*.safetensors"
"""The files of workers, as a pattern."""


def shard_name(step: int, workers: Workers) -> str:
    """The file of a worker in the checkpoint of a step."""
    return f"rows-{step:09d}-{workers.rank + 1}-of-{workers.size}.safetensors"


def shard_names(step: int, size: int) -> list[str]:
    """The files of all workers."""
    return [shard_name(step, Workers(rank, size)) for rank in range(size)]


def step_of_shard(name: str) -> str:
    """The digits of the step in the name of a file of a worker."""
    return name.split("-")[1]


def entity_tensors(model: Model, optimizer: Optimizer) -> dict[str, int]:
    """The tensors of a checkpoint with a row for each entity, and where their entities begin."""
    tables = model.entity_tables()
    first_rows = {id(model.get_parameter(name)): first for name, first in tables.items()}
    names = {f"model.{name}": first for name, first in tables.items()}
    for number, (inner, parameter) in enumerate(optimizer.state_items):
        if id(parameter) in first_rows:
            for name, value in optimizer.expected_state(inner, parameter).items():
                if value.dim():
                    names[f"optimizer.{number}.{name}"] = first_rows[id(parameter)]
    return names


class ShardReader:
    """Reads the rows of a worker from what any number of workers have written.

    ``expected`` has the tensors of this worker, by name; ``first_rows`` says where their entities begin.
    """

    def __init__(
        self, expected: Mapping[str, Tensor], first_rows: Mapping[str, int], num_entities: int, workers: Workers
    ) -> None:
        self.expected = {name: expected[name] for name in first_rows if name in expected}
        self.first_rows = first_rows
        self.num_entities = num_entities
        self.workers = workers

    def of_worker(self, other: Workers) -> dict[str, Tensor]:
        """What is expected in the file of another worker: shapes and types, with values of no meaning."""
        change = rows_of_worker(self.num_entities, other) - rows_of_worker(self.num_entities, self.workers)
        return {
            name: torch.empty(len(tensor) + change, *tensor.shape[1:], dtype=tensor.dtype, device="meta")
            for name, tensor in self.expected.items()
        }

    def cut(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """The rows of this worker from the whole tables of a process without others; other tensors stay."""
        cut = {
            name: cut_rows(tensors[name], self.first_rows[name], self.num_entities, self.workers)
            for name in self.expected
        }
        return {**tensors, **cut}

    def read(self, paths: Iterable[Path], check: Callable[[Path], None]) -> dict[str, Tensor]:
        """The rows of this worker from the files of all workers, each checked before."""
        paths = list(paths)
        entities = torch.arange(self.workers.rank, self.num_entities, self.workers.size)
        tensors = {name: torch.empty(tensor.shape, dtype=tensor.dtype) for name, tensor in self.expected.items()}
        for rank, path in enumerate(paths):
            if (rank - self.workers.rank) % gcd(len(paths), self.workers.size):
                continue  # it has no row of this worker
            check(path)
            shard = read_tensors(path, self.of_worker(Workers(rank, len(paths))))
            here = (entities % len(paths) == rank).nonzero()[:, 0]
            source = entities[here] // len(paths)
            for name, tensor in tensors.items():
                first, after = self.first_rows[name], self.first_rows[name] + len(entities)
                tensor[:first] = shard[name][:first]
                tensor[first + here] = shard[name][first + source]
                tensor[after:] = shard[name][len(shard[name]) - (len(tensor) - after) :]
        return tensors
