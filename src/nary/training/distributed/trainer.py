"""The training loop of a worker."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from nary.errors import SettingError
from nary.models.alternation import Phase
from nary.models.base import Model
from nary.models.weights import map_tensors
from nary.training.batches import TrainingBatch
from nary.training.distributed.loss import AllQueries, sharded_cross_entropy
from nary.training.distributed.shares import order_by_worker, share_of
from nary.training.distributed.tables import RowExchange, ShardedTables
from nary.training.losses import CrossEntropyLoss, Loss, split_targets
from nary.training.optimizer import Optimizer
from nary.training.row_trainer import TableOptimizer, UsedRows
from nary.training.rows import entities_used, renumber
from nary.training.runtime import precision
from nary.training.sampled_softmax import Sample, SampledSoftmaxLoss
from nary.training.trainer import Trainer
from nary.workers import Workers

_FACTOR = 0x9E3779B97F4A7C15  # any large odd number: the seeds of workers differ in many bits


class WorkerTrainer(Trainer):
    """Trains with a share of each batch and a share of the rows of the entity tables.

    Checkpoints must be in a folder that all workers can reach. To validate, all map the weights from a file there; so
    does the first worker at the end, and has the whole model then. ``validate`` must rank the same at all workers.
    """

    loss: CrossEntropyLoss | SampledSoftmaxLoss
    may_insist = False  # a launcher repeats the signals that a terminal has sent already

    def __init__(self, *arguments: Any, workers: Workers) -> None:
        super().__init__(*arguments)
        self.workers = workers

    def _make_optimizer(self, phases: Sequence[Phase]) -> Optimizer:
        self.tables = ShardedTables(self.model, self.workers)
        if isinstance(self.loss, SampledSoftmaxLoss):
            return TableOptimizer(self.tables, self.settings, self.num_steps)
        return Optimizer(self.model, self.settings, self.num_steps)

    def _agree(self, *flags: bool) -> tuple[bool, ...]:
        return self.workers.any(*flags)

    def _backward(self, batch: TrainingBatch, phase: Phase | None) -> float:
        sample = self.loss.sample(batch) if isinstance(self.loss, SampledSoftmaxLoss) else None
        torch.manual_seed(torch.initial_seed() ^ (self.workers.rank * _FACTOR % (1 << 64)))  # for dropout
        share = share_of(batch, self.workers)
        entities = entities_used(share, *([] if sample is None else [sample.ids]))
        exchange = RowExchange(self.tables, entities)
        used = {name: self._with_others(name, rows) for name, rows in exchange.look_up().items()}
        local = renumber(share, entities)
        with precision(self.settings.precision, self.device):
            if sample is None:
                loss = self._exact_loss(batch, local, used, len(entities))
            else:
                sample = sample._replace(ids=torch.searchsorted(entities, sample.ids))
                loss = self._sampled_loss(local, sample, used, len(entities))
            loss = loss / len(batch.batch)
        loss.backward()  # type: ignore[no-untyped-call]
        return self._share_gradients(exchange, used, loss.detach())

    def _with_others(self, name: str, rows: Tensor) -> Tensor:
        """Rows that were looked up as a table: between those of no entity, with a gradient."""
        before, _, after = self.tables.split(name, self.tables.parameters[name].detach(), self.tables.num_local)
        return torch.cat([before, rows, after]).requires_grad_()

    def _sampled_loss(self, share: TrainingBatch, sample: Sample, used: dict[str, Tensor], count: int) -> Tensor:
        """The summed loss of a share, by the rows of all entities that it needs."""
        loss: Tensor = self.tables.run(self.loss, self.model, share, sample, tables=used, num_entities=count)
        return loss * len(share.batch)

    def _exact_loss(self, batch: TrainingBatch, share: TrainingBatch, used: dict[str, Tensor], count: int) -> Tensor:
        """The summed loss of a share: relations are candidates everywhere, entities where their rows are."""
        assert isinstance(self.loss, CrossEntropyLoss)
        queries, loss = self.tables.run(self._encode, share, tables=used, num_entities=count)
        for kind, chosen, targets in split_targets(batch, self.loss.target_weights(batch)):
            if kind == "entity":
                candidates, bias = self.tables.run(
                    self.model.candidates, kind, tables={}, num_entities=self.tables.num_local
                )
                ordered, sizes = order_by_worker(targets, chosen, self.workers.size)
                everyone = AllQueries(sizes, ordered, self.tables.num_entities)
                smoothing = self.loss.settings.smoothing(kind)
                asked = queries[share.batch.asks_entity]
                loss = loss + sharded_cross_entropy(self.workers, asked, candidates, bias, everyone, smoothing)
        return loss

    def _encode(self, share: TrainingBatch) -> tuple[Tensor, Tensor]:
        """The query vectors of a share, and its loss without that of entities."""
        assert isinstance(self.loss, CrossEntropyLoss)
        queries = self.model.encode(share.batch)
        loss = queries.new_zeros((), dtype=torch.float32)
        for kind, chosen, targets in split_targets(share, self.loss.target_weights(share)):
            if kind == "relation":
                loss = loss + self.loss.candidate_loss(kind, queries[chosen], *self.model.candidates(kind), targets)
        extra = self.model.extra_loss(share.batch)
        return queries, loss if extra is None else loss + len(share.batch) * extra

    def _share_gradients(self, exchange: RowExchange, used: dict[str, Tensor], loss: Tensor) -> float:
        """Add up the gradients of all workers where the weights are; returns the loss of the whole batch."""
        count = len(exchange.order)
        parts = {name: self.tables.split(name, _gradient(values), count) for name, values in used.items()}
        rows = exchange.give_back({name: entities for name, (_, entities, _) in parts.items()})
        replicated = [one for one in self.optimizer.parameters if id(one) not in self._table_ids()]
        others = [part for before, _, after in parts.values() for part in (before, after)]
        total = self._add_up(replicated, others, loss)
        squares = loss.new_zeros(())
        for name, (before, _, after) in parts.items():
            table, places = self.tables.parameters[name], self.tables.local_places(name, exchange.entities)
            gradient = torch.cat([before, rows[name], after])
            if isinstance(self.optimizer, TableOptimizer):
                values = torch.empty_like(gradient)
                values.grad = gradient
                self.optimizer.used[name] = UsedRows(places, values)
                squares += rows[name].square().sum()
            else:
                table.grad = _gradient(table).index_add_(0, places, gradient)
                squares += self.tables.split(name, table.grad, self.tables.num_local)[1].square().sum()
        self.workers.reduce_(squares)
        for part in [*others, *(one.grad for one in replicated if one.grad is not None)]:
            squares += part.square().sum()
        self.optimizer.whole_norm = squares.sqrt()
        return total

    def _table_ids(self) -> set[int]:
        return {id(table) for table in self.tables.parameters.values()}

    def _add_up(self, parameters: Sequence[Tensor], others: Sequence[Tensor], loss: Tensor) -> float:
        """Add up the gradients of parameters, and ``others`` in place, over all workers; returns the summed loss.

        A parameter without a gradient at any worker is left without.
        """
        has = torch.tensor([float(one.grad is not None) for one in parameters], device=loss.device)
        gradients = [_gradient(one) for one in parameters]
        flat = torch.cat([part.flatten() for part in (*gradients, *others, has, loss)])
        pieces = self.workers.reduce_(flat).split_with_sizes(
            [part.numel() for part in (*gradients, *others, has, loss)]
        )
        for parameter, gradient, piece, count in zip(parameters, gradients, pieces, pieces[-2].tolist(), strict=False):
            parameter.grad = piece.view_as(gradient) if count else None
        for part, piece in zip(others, pieces[len(gradients) :], strict=False):
            part.copy_(piece.view_as(part))
        return pieces[-1].item()

    def _validate(self) -> None:
        with self.checkpoints.whole(self.tables, self.state) as self._written:
            weights = map_tensors(self._written)
            tables = {name: weights[name].to(self.device) for name in self.tables.parameters}
            self.tables.run(super()._validate, tables=tables, num_entities=self.tables.num_entities)

    def _save_best(self) -> None:
        self.checkpoints.save_best(self.model, self.state, self._written)

    def _complete(self) -> None:
        if self.state.best is None:
            with self.checkpoints.whole(self.tables, self.state) as path:
                if self.workers.is_first:
                    self.tables.replace_by(map_tensors(path))
        elif self.workers.is_first:
            self.tables.replace_by(self.checkpoints.best(self.tables.outline()))


def _gradient(tensor: Tensor) -> Tensor:
    return torch.zeros_like(tensor) if tensor.grad is None else tensor.grad


def check_workers(model: Model, loss: Loss, batch_size: int, workers: Workers) -> None:
    """Refuse what several workers cannot train so that they learn what one learns."""
    if type(loss) not in (CrossEntropyLoss, SampledSoftmaxLoss):
        raise SettingError(
            f"several workers cannot train with the loss {loss.name}",
            "Use cross_entropy or sampled_softmax, or train without workers.",
        )
    normalizes = set(model.state_dict()) != {name for name, _ in model.named_parameters()}
    if normalizes or model.alternation() is not None or not model.entity_tables():
        reason = "it normalizes over the whole batch" if normalizes else "each step needs all entities, or has phases"
        raise SettingError(
            f"several workers cannot train {model.name} with these settings: {reason}",
            "Train it without workers, with other settings, or choose another --model.",
        )
    if workers.size > min(batch_size, model.info.num_entities):
        raise SettingError(
            f"{workers.size} workers cannot share a batch of {batch_size} and {model.info.num_entities} entities",
            "Use fewer workers, or a larger training.batch_size.",
        )
