"""The rows of the entity tables that a step uses, in place of the tables.

A step looks up the rows of its entities, renumbers its batch to these rows and runs the model as if there were no other
entities. What it costs does not depend on how many there are.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.func import functional_call

from nary.errors import SettingError
from nary.facts.layout import entity_columns
from nary.models.base import Model
from nary.models.batch import Batch
from nary.training.batches import TrainingBatch

_Result = TypeVar("_Result")


class EntityTables:
    """The parameters of a model with a row for each entity."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.first_rows = model.entity_tables()
        if not self.first_rows:
            raise SettingError(
                f"{model.name} with these settings uses all entities in every step",
                "Train it with a loss against all candidates, such as cross_entropy.",
            )
        self.parameters: dict[str, nn.Parameter] = {name: model.get_parameter(name) for name in self.first_rows}

    def places(self, name: str, entities: Tensor) -> Tensor:
        """The rows of a table that a step with these ``entities`` [U] uses: theirs, and those of no entity."""
        first, size = self.first_rows[name], len(self.parameters[name])
        after = torch.arange(first + self.model.info.num_entities, size, device=entities.device)
        return torch.cat([torch.arange(first, device=entities.device), first + entities, after])

    def run(
        self,
        function: Callable[..., _Result],
        *arguments: Any,
        tables: Mapping[str, Tensor],
        num_entities: int,
    ) -> _Result:
        """Call ``function`` while the model has these ``tables`` of ``num_entities`` entities instead of its own."""
        info = self.model.info
        self.model.info = replace(info, num_entities=num_entities)
        try:
            named = {f"model.{name}": table for name, table in tables.items()}
            return functional_call(_Caller(self.model), named, (function, *arguments))
        finally:
            self.model.info = info


class _Caller(nn.Module):
    """Lets ``functional_call``, which replaces the parameters of a module, call any function of the model."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model

    def forward(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        return function(*arguments)


def entities_used(batch: TrainingBatch, *others: Tensor) -> Tensor:
    """All entities of a batch and of ``others``, each once, ascending [U]."""
    asked = batch.targets[batch.batch.asks_entity[batch.rows]]
    inside = [group.ids[:, entity_columns(group.qualifiers)].flatten() for group in batch.batch.groups]
    return torch.unique(torch.cat([*inside, asked, *others]))


def renumber(batch: TrainingBatch, entities: Tensor) -> TrainingBatch:
    """The batch with the places of its entities in ``entities`` [U] as their ids."""
    groups = []
    for group in batch.batch.groups:
        columns = entity_columns(group.qualifiers)
        ids = group.ids.clone()
        ids[:, columns] = torch.searchsorted(entities, ids[:, columns])
        groups.append(replace(group, ids=ids))
    asks_entity = batch.batch.asks_entity[batch.rows]
    targets = torch.where(asks_entity, torch.searchsorted(entities, batch.targets), batch.targets)
    return TrainingBatch(Batch(groups), batch.rows, targets, batch.weights)
