"""Training by rows: a step looks up and updates only the rows of the entity tables that it uses."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from nary.models.alternation import Phase
from nary.training.batches import TrainingBatch
from nary.training.optimizer import Optimizer, decay_and_lr_scale
from nary.training.row_optimizer import RowOptimizer
from nary.training.rows import EntityTables, entities_used, renumber
from nary.training.runtime import precision
from nary.training.sampled_softmax import SampledSoftmaxLoss
from nary.training.settings import TrainingSettings
from nary.training.trainer import Trainer


class UsedRows(NamedTuple):
    """Rows of a table that a step uses: their numbers [n], and their values [n, ...] with a gradient."""

    places: Tensor
    values: Tensor


class TableOptimizer(Optimizer):
    """Updates the rows of the entity tables in ``used``, and all other parameters as usual."""

    def __init__(self, tables: EntityTables, settings: TrainingSettings, steps: int) -> None:
        super().__init__(tables.model, settings, steps, without=tables.parameters)
        self.tables = tables
        self.row_optimizer = RowOptimizer(list(tables.parameters.values()), settings)
        self.used: dict[str, UsedRows] = {}

    @property
    def state_items(self) -> list[tuple[torch.optim.Optimizer, Tensor]]:
        """Each optimizer with each of its parameters, always in the same order."""
        return super().state_items + [(self.row_optimizer, table) for table in self.tables.parameters.values()]

    def expected_state(self, inner: torch.optim.Optimizer, parameter: Tensor) -> dict[str, Tensor]:
        """What ``inner`` keeps for a parameter."""
        return inner.state[parameter] if inner is self.row_optimizer else super().expected_state(inner, parameter)

    def step(self, step: int, phase: Phase | None = None) -> None:
        """Update the parameters and clear all gradients."""
        self._clip([*self.parameters, *(used.values for used in self.used.values())])  # other rows have no gradient
        self._step(step)
        self.inner.zero_grad(set_to_none=True)
        for name, (places, values) in self.used.items():
            table = self.tables.parameters[name]
            decay, lr_scale = decay_and_lr_scale(name, table, self.settings)
            if values.grad is not None:
                self.row_optimizer.update(step, table, places, values.grad, lr_scale * self.learning_rate(step), decay)
        self.used = {}


class RowTrainer(Trainer):
    """A trainer for losses with a sample of the entities (``Loss.by_rows``)."""

    loss: SampledSoftmaxLoss
    optimizer: TableOptimizer

    def _make_optimizer(self, phases: Sequence[Phase]) -> Optimizer:
        self.tables = EntityTables(self.model)
        return TableOptimizer(self.tables, self.settings, self.num_steps)

    def _backward(self, batch: TrainingBatch, phase: Phase | None) -> float:
        sample = self.loss.sample(batch)
        entities = entities_used(batch, sample.ids)
        used = {name: self._look_up(name, entities) for name in self.tables.parameters}
        local = sample._replace(ids=torch.searchsorted(entities, sample.ids))
        with precision(self.settings.precision, self.device):
            loss = self.tables.run(
                self.loss,
                self.model,
                renumber(batch, entities),
                local,
                tables={name: rows.values for name, rows in used.items()},
                num_entities=len(entities),
            )
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.used = used
        return loss.item()

    def _look_up(self, name: str, entities: Tensor) -> UsedRows:
        places = self.tables.places(name, entities)
        return UsedRows(places, self.tables.parameters[name].detach().index_select(0, places).requires_grad_())
