"""Entity tables spread over workers: of W workers, worker w has the rows of the entities w, w + W, w + 2 W, ...

Neighbors in the vocabulary are often alike, so that rows in turn give all workers the same work. A table may also have
rows of no entity, before or after those of the entities. They are few, and every worker has them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from nary.models.base import Model
from nary.training.rows import EntityTables
from nary.workers import ALONE, Workers

GATHERED_AT_ONCE = 1 << 24  # numbers at the first worker


class ShardedTables(EntityTables):
    """The entity tables of a model, of which this worker has its rows; those of a whole model are cut."""

    def __init__(self, model: Model, workers: Workers) -> None:
        super().__init__(model)
        self.workers = workers
        self.num_entities = model.info.num_entities
        self.num_local = workers.num_taken(self.num_entities)
        for name, parameter in self.parameters.items():
            if len(parameter) >= self.first_rows[name] + self.num_entities:  # it was not built for this worker
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

    def outline(self) -> dict[str, Tensor]:
        """All weights of the model by name, with the tables of all workers: shapes and types, without values."""
        outline = {}
        for name, tensor in self.model.state_dict().items():
            shape = list(tensor.shape)
            if name in self.parameters:
                shape[0] += self.num_entities - self.num_local
            outline[name] = torch.empty(shape, dtype=tensor.dtype, device="meta")
        return outline

    def blocks(self, name: str) -> Iterator[Tensor]:
        """The rows of the whole table in order, a block at a time; all workers take part, the first one has them."""
        before, rows, after = self.split(name, self.parameters[name].detach(), self.num_local)
        everyone = [Workers(rank, self.workers.size) for rank in range(self.workers.size)]
        counts = [worker.num_taken(self.num_entities) for worker in everyone]
        size = max(1, GATHERED_AT_ONCE // (self.workers.size * max(1, rows[:1].numel())))
        yield before
        for start in range(0, max(counts), size):
            part = slice(start, start + size)
            parts = self.workers.to_first(rows[part], [len(range(count)[part]) for count in counts])
            block = rows.new_empty(sum(map(len, parts)), *rows.shape[1:])
            for rank, of_worker in enumerate(parts):
                block[rank :: self.workers.size] = of_worker
            yield block
        yield after

    def replace_by(self, weights: Mapping[str, Tensor]) -> None:
        """Give the model all ``weights``, with the tables of all workers, in place of its own."""
        for name, parameter in self.model.named_parameters():
            parameter.data = weights[name].to(parameter.device)
        self.model.info = replace(self.model.info, workers=ALONE)


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
