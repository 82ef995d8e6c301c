"""Entity tables spread over workers: of W workers, worker w has the rows of the entities w, w + W, w + 2 W, ...

Neighbors in the vocabulary are often alike, so that rows in turn give all workers the same work. A table may also have
rows of no entity, before or after those of the entities. They are few, and every worker has them.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from nary.models.base import Model
from nary.training.rows import EntityTables
from nary.workers import Workers


class ShardedTables(EntityTables):
    """The entity tables of a model, of which this worker keeps its rows from now on."""

    def __init__(self, model: Model, workers: Workers) -> None:
        super().__init__(model)
        self.workers = workers
        self.num_entities = model.info.num_entities
        self.num_local = rows_of_worker(self.num_entities, workers)
        for name, parameter in self.parameters.items():
            parameter.data = cut_rows(parameter.data, self.first_rows[name], self.num_entities, workers)

    def split(self, name: str, rows: Tensor, count: int) -> Sequence[Tensor]:
        """The parts of some rows of a table: those before the entities, those of ``count`` entities, those after."""
        first = self.first_rows[name]
        return rows.split_with_sizes([first, count, len(rows) - first - count])

    def entity_rows(self, name: str) -> Tensor:
        """The rows of entities that this worker has."""
        return self.split(name, self.parameters[name].detach(), self.num_local)[1]

    def local_places(self, name: str, entities: Tensor) -> Tensor:
        """The places of rows here: those of entities [n] that this worker has, and those of no entity."""
        first, size = self.first_rows[name], len(self.parameters[name])
        places = torch.arange(size, device=entities.device)
        return torch.cat([places[:first], first + entities // self.workers.size, places[first + self.num_local :]])

    def whole(self, name: str, everywhere: bool = False) -> Tensor:
        """A table with the rows of all workers; without ``everywhere`` only that of the first worker has all."""
        before, rows, after = self.split(name, self.parameters[name].detach(), self.num_local)
        everyone = [Workers(rank, self.workers.size) for rank in range(self.workers.size)]
        counts = [rows_of_worker(self.num_entities, worker) for worker in everyone]
        if everywhere:
            parts = list(self.workers.concatenate(rows, counts).split_with_sizes(counts))
        else:
            parts = self.workers.to_first(rows, counts)
        table = rows.new_empty(sum(map(len, parts)), *rows.shape[1:])
        for rank, part in enumerate(parts):
            table[rank :: self.workers.size] = part
        return torch.cat([before, table, after])


def rows_of_worker(num_entities: int, workers: Workers) -> int:
    """How many of the entities a worker has."""
    return len(range(workers.rank, num_entities, workers.size))


def cut_rows(table: Tensor, first: int, num_entities: int, workers: Workers) -> Tensor:
    """The rows of a worker from a whole table, whose entities begin at row ``first``."""
    before, rows, after = table.split_with_sizes([first, num_entities, len(table) - first - num_entities])
    return torch.cat([before, rows[workers.rank :: workers.size], after])


class RowExchange:
    """Brings the rows of entities from the workers that have them, and their gradients back.

    ``entities`` [U] are those that this worker asks for, each once.
    """

    def __init__(self, tables: ShardedTables, entities: Tensor) -> None:
        self.tables = tables
        self.workers = tables.workers
        owner = entities % self.workers.size
        self.order = owner.argsort(stable=True)
        self._asked = torch.bincount(owner, minlength=self.workers.size).tolist()
        self._given = self.workers.exchange_sizes(self._asked)
        wanted = self.workers.exchange(entities[self.order], self._asked, self._given)
        self.entities, self._place = wanted.unique(return_inverse=True)  # type: ignore[no-untyped-call]
        """Those of this worker that any worker asks for, each once [R]."""

    def look_up(self) -> dict[str, Tensor]:
        """The rows [U, ...] of the entities in each table."""
        places = (self.entities // self.workers.size)[self._place]
        tables = {name: self.tables.entity_rows(name) for name in self.tables.parameters}
        sent = torch.cat([rows.index_select(0, places).view(len(places), -1) for rows in tables.values()], 1)
        received = self.workers.exchange(sent, self._given, self._asked)
        return _unpack(received[self.order.argsort()], tables)

    def give_back(self, gradients: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """From gradients of the rows that were looked up: those of the rows of this worker [R, ...], added up."""
        sent = torch.cat([gradient.view(len(gradient), -1) for gradient in gradients.values()], 1)[self.order]
        received = self.workers.exchange(sent, self._asked, self._given)
        total = received.new_zeros(len(self.entities), received.shape[1]).index_add_(0, self._place, received)
        return _unpack(total, gradients)


def _unpack(rows: Tensor, tables: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Rows of several tables side by side [n, k] as rows of each [n, ...]."""
    widths = [table[:1].numel() for table in tables.values()]
    parts = zip(tables.items(), rows.split_with_sizes(widths, 1), strict=True)
    return {name: part.reshape(len(rows), *table.shape[1:]) for (name, table), part in parts}
