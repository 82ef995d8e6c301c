"""The rows of entity tables in checkpoints of several workers: a file of each, which any number of them can read."""

from collections.abc import Callable, Iterable, Mapping
from math import lcm
from pathlib import Path

import torch
from torch import Tensor

from nary.models.base import Model
from nary.models.weights import read_tensors
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

    ``expected`` has the tensors of this worker, by name; ``first_rows`` says where their entities begin. Weights are
    read into the model itself, so that there are no two copies of them.
    """

    def __init__(
        self, expected: Mapping[str, Tensor], first_rows: Mapping[str, int], num_entities: int, workers: Workers
    ) -> None:
        self.first_rows = first_rows
        self.num_entities = num_entities
        self.workers = workers
        self.rows = {
            name: expected[name] if name.startswith("model.") else torch.empty_like(expected[name])
            for name in first_rows
            if name in expected
        }
        """The rows of this worker, once they are read."""

    def of_worker(self, other: Workers) -> dict[str, Tensor]:
        """What is expected in the file of another worker: shapes and types, with values of no meaning."""
        change = other.num_taken(self.num_entities) - self.workers.num_taken(self.num_entities)
        return {
            name: torch.empty(len(tensor) + change, *tensor.shape[1:], dtype=tensor.dtype, device="meta")
            for name, tensor in self.rows.items()
        }

    def read(self, paths: Iterable[Path], check: Callable[[Path], None]) -> None:
        """Read from the files of all workers, each checked before."""
        paths = list(paths)
        for rank, path in enumerate(paths):
            writer = Workers(rank, len(paths))
            if self._first_shared(writer) is not None:
                check(path)
                self.take(read_tensors(path, self.of_worker(writer)), writer)

    def take(self, tensors: Mapping[str, Tensor], writer: Workers) -> None:
        """Copy the rows of this worker from the tensors of the ``writer``; both have some entities in turn."""
        entity = self._first_shared(writer)
        assert entity is not None
        step = lcm(writer.size, self.workers.size)
        for name, rows in self.rows.items():
            first, source = self.first_rows[name], tensors[name]
            after = first + self.workers.num_taken(self.num_entities)
            places = slice(first + entity // self.workers.size, after, step // self.workers.size)
            rows[:first] = source[:first]
            rows[places] = source[first + entity // writer.size :: step // writer.size][: len(rows[places])]
            rows[after:] = source[len(source) - (len(rows) - after) :]

    def _first_shared(self, writer: Workers) -> int | None:
        """The first entity whose rows both workers have."""
        numbers = range(self.workers.rank, lcm(writer.size, self.workers.size), self.workers.size)
        return next(filter(writer.takes, numbers), None)
