"""Learn the rows of new names from their facts, while all other weights stay as they are.

Each step has a batch of new facts with an element masked, and one of old facts, for whose answers the new names
compete. The query vectors of old facts do not depend on new rows, so they are computed once.
"""

import itertools
from collections.abc import Callable, Collection

import torch
from torch import Tensor

from nary.config import validate_settings
from nary.facts import FactTable, Role
from nary.models.base import Kind, Model
from nary.models.growth import NewRows
from nary.training.batches import TrainingBatches
from nary.training.kernels import Targets
from nary.training.losses import CandidateLoss, Loss
from nary.training.settings import TrainingSettings

_EPOCHS = 2
_MIN_STEPS = 50
_BATCH_SIZE = 128
_OLD_SHARE = 3  # how much, and how many, masked old facts a step has for each new one
_MAX_OLD = 4000  # masked old facts whose query vectors are kept
_RATE = 0.4  # the peak learning rate, in standard deviations of the old rows
_PRIOR = 0.1  # the weight of the prior: a normal distribution around the start, with the deviation of the old rows


def learn_new_rows(
    model: Model, new_rows: NewRows, new: FactTable, old: FactTable, loss: Loss, roles: Collection[Role]
) -> int:
    """Learn ``new_rows`` of ``model`` from the facts ``new``, beside the facts ``old``; the number of steps.

    Elements of ``roles`` are masked. Dropout is off, statistics of norms stay as they are, and :meth:`Model.post_step`
    is not called: it could change other rows.
    """
    model.eval().requires_grad_(False)
    tables = {name: model.get_parameter(name).requires_grad_() for name in new_rows}
    rows = {name: table.detach()[new_rows[name]].requires_grad_() for name, table in tables.items()}
    start = {name: values.detach().clone() for name, values in rows.items()}
    deviations = {name: _deviation(table, new_rows[name]) for name, table in tables.items()}
    optimizer = torch.optim.Adam([{"params": [rows[name]], "deviation": deviations[name]} for name in rows], lr=0.0)
    batches = _batches(new, roles, loss, _BATCH_SIZE)
    steps = max(_MIN_STEPS, batches.num_steps(_EPOCHS))
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        old_loss = _old_loss(model, _batches(old, roles, loss, _MAX_OLD), loss)
        for step in range(steps):
            batch = batches.batch_at(step).to(_device(model))
            (loss(model, batch) + _OLD_SHARE * old_loss()).backward()  # type: ignore[no-untyped-call]
            for name, table in tables.items():
                prior = (rows[name].detach() - start[name]) / (deviations[name] ** 2 * len(batches)) * _PRIOR
                rows[name].grad = prior if table.grad is None else table.grad[new_rows[name]] + prior
                table.grad = None
            for group in optimizer.param_groups:
                group["lr"] = _RATE * group["deviation"] * (1 - step / steps)
            optimizer.step()
            with torch.no_grad():
                for name, table in tables.items():
                    table[new_rows[name]] = rows[name]
    model.requires_grad_(True)
    return steps


def _deviation(table: Tensor, new_rows: Tensor) -> float:
    """The standard deviation of the old rows of a table, never 0; of all if there are no old ones."""
    is_old = torch.ones(len(table), dtype=torch.bool, device=table.device)
    is_old[new_rows] = False
    return max(1e-8, float((table.detach()[is_old] if is_old.any() else table.detach()).std(correction=0)))


def _batches(table: FactTable, roles: Collection[Role], loss: Loss, size: int) -> TrainingBatches:
    """Batches of at most ``size`` masked facts, which do not repeat a fact."""
    columns = {block.arity: sum(role in roles for role in block.roles) for block in table.blocks}
    masks = sum(len(block) * (1 if loss.whole_facts else columns[block.arity]) for block in table.blocks)
    given = {"batch_size": min(size, masks), "shuffle": "instances"}
    settings = validate_settings(TrainingSettings, given, "training")
    return TrainingBatches(table, settings, roles, whole_facts=loss.whole_facts)


def _old_loss(model: Model, batches: TrainingBatches, loss: Loss) -> Callable[[], Tensor]:
    """A function that returns the loss of a sample of masked old facts."""
    count = _OLD_SHARE * _BATCH_SIZE
    if not isinstance(loss, CandidateLoss):
        batches.batch_size = min(count, batches.batch_size)
        steps = itertools.count()
        return lambda: loss(model, batches.batch_at(next(steps)).to(_device(model)))
    kept = batches.batch_at(0).to(_device(model))
    with torch.no_grad():
        queries = model.encode(kept.batch)
    is_entity = kept.batch.asks_entity

    def sample_loss() -> Tensor:
        chosen = torch.randint(len(queries), (count,), device=queries.device)
        total = queries.new_zeros(())
        for kind, of_kind in _by_kind(is_entity[chosen]):
            some = chosen[of_kind]
            targets = Targets(torch.arange(len(some), device=some.device), kept.targets[some], kept.weights[some])
            total = total + loss.candidate_loss(kind, queries[some], *model.candidates(kind), targets)
        return total / count

    return sample_loss


def _by_kind(is_entity: Tensor) -> list[tuple[Kind, Tensor]]:
    """The kinds that are asked for, and which queries ask for them."""
    kinds: list[tuple[Kind, Tensor]] = [("entity", is_entity), ("relation", ~is_entity)]
    return [(kind, chosen) for kind, chosen in kinds if chosen.any()]


def _device(model: Model) -> torch.device:
    return next(model.parameters()).device
