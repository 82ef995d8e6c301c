"""Learn the rows of new names from their facts, while all other weights stay as they are.

Each step has a batch of new facts with an element masked, and one of old facts, for whose answers the new names
compete. The query vectors of old facts do not depend on new rows, so they are computed once.
"""

from collections.abc import Callable, Collection

import torch
from torch import Tensor

from nary.config import validate_settings
from nary.facts import FactTable, Role
from nary.models.base import Model
from nary.models.growth import NewRows
from nary.models.new_names import NewNames
from nary.training.batches import TrainingBatch, TrainingBatches
from nary.training.losses import CrossEntropyLoss, Loss
from nary.training.new_candidates import NewCandidateLoss, QueryTargets
from nary.training.runtime import keep_freed_memory
from nary.training.settings import TrainingSettings

_MIN_STEPS = 35
_MIN_VISITS = 20  # masked facts with a new name, in the mean over the new names
_BATCH_SIZE = 256
_OLD_BATCH_SIZE = 128
_MAX_OLD_WEIGHT = 10  # of their mean loss, beside that of the new ones; less if there are fewer times as many
_MAX_OLD = 2000  # masked old facts whose query vectors are kept
_RATE = 0.4  # the peak learning rate, in standard deviations of the old rows
_PRIOR = 0.1  # the weight of the prior: a normal distribution around the start, with the deviation of the old rows
_MAX_CANDIDATES = 2000  # old ones, and new ones, that a step scores: samples if there are more
_BETAS = 0.5, 0.999

StepLoss = Callable[[int], Tensor]
"""The loss of a step."""


def learn_new_rows(
    model: Model,
    names: NewNames,
    new_rows: NewRows,
    new: FactTable,
    old: FactTable,
    loss: Loss,
    roles: Collection[Role],
) -> int:
    """Learn ``new_rows`` of ``model`` from ``new`` facts, beside ``old`` ones; the number of steps.

    Elements of ``roles`` are masked. Dropout is off, statistics of norms stay as they are, and :meth:`Model.post_step`
    is not called: it could change other rows.
    """
    keep_freed_memory()
    model.eval().requires_grad_(False)
    batches = _batches(new, roles, loss, _BATCH_SIZE)
    visits = names.per_name(new) * len(batches) / len(new)  # in a pass
    passes = max(1, _MIN_VISITS / visits) if visits else 1
    steps = max(_MIN_STEPS, round(passes * len(batches)) // batches.batch_size)
    old_weight = min(_MAX_OLD_WEIGHT, len(old) / len(new))
    tables = [_LearnedRows(model.get_parameter(name), rows, len(batches)) for name, rows in new_rows.items()]
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        if isinstance(loss, CrossEntropyLoss):
            candidate_loss = NewCandidateLoss(model, loss.settings, names, _MAX_CANDIDATES)
            kept = _batches(old, roles, loss, _MAX_OLD).batch_at(0)
            step_loss = _cross_entropy_per_step(model, batches, kept, old_weight, loss, candidate_loss)
        else:
            of_old = _batches(old, roles, loss, _OLD_BATCH_SIZE)
            step_loss = _loss_per_step(model, batches, of_old, old_weight, loss)
        for step in range(steps):
            step_loss(step).backward()  # type: ignore[no-untyped-call]
            for table in tables:
                table.update(step, 1 - step / steps)
    model.requires_grad_(True)
    return steps


class _LearnedRows:
    """The new rows of a table, learned by Adam: that of torch imports a compiler, which takes longer than learning."""

    def __init__(self, table: Tensor, rows: Tensor, num_instances: int) -> None:
        self.table, self.rows = table.requires_grad_(), rows
        self.start = table.detach()[rows]
        self.first, self.second = torch.zeros_like(self.start), torch.zeros_like(self.start)
        self.deviation = _deviation(table.detach(), rows)
        self.prior = _PRIOR / (self.deviation**2 * num_instances)

    @torch.no_grad()
    def update(self, step: int, rate: float) -> None:
        """Update the rows with the gradient of the table, and drop that."""
        values = self.table[self.rows]
        gradient = self.prior * (values - self.start)
        if self.table.grad is not None:
            gradient += self.table.grad[self.rows]
        self.table.grad = None
        self.first.lerp_(gradient, 1 - _BETAS[0])
        self.second.lerp_(gradient.square(), 1 - _BETAS[1])
        first, second = (
            moment / (1 - beta ** (step + 1)) for moment, beta in zip((self.first, self.second), _BETAS, strict=True)
        )
        self.table[self.rows] = values - rate * _RATE * self.deviation * first / (second.sqrt() + 1e-8)


def _deviation(table: Tensor, new_rows: Tensor) -> float:
    """The standard deviation of the old rows of a table, never 0; of all if there are no old ones."""
    is_old = torch.ones(len(table), dtype=torch.bool, device=table.device)
    is_old[new_rows] = False
    return max(1e-8, float((table[is_old] if is_old.any() else table).std(correction=0)))


def _batches(table: FactTable, roles: Collection[Role], loss: Loss, size: int) -> TrainingBatches:
    """Batches of at most ``size`` masked facts, which do not repeat a fact."""
    columns = {block.arity: sum(role in roles for role in block.roles) for block in table.blocks}
    masks = sum(len(block) * (1 if loss.whole_facts else columns[block.arity]) for block in table.blocks)
    given = {"batch_size": min(size, masks), "shuffle": "instances"}
    settings = validate_settings(TrainingSettings, given, "training")
    return TrainingBatches(table, settings, roles, whole_facts=loss.whole_facts)


def _loss_per_step(model: Model, new: TrainingBatches, old: TrainingBatches, old_weight: float, loss: Loss) -> StepLoss:
    """The loss of a batch of new facts, and that of one of old facts times ``old_weight``."""
    device = _device(model)
    return lambda step: (
        loss(model, new.batch_at(step).to(device)) + old_weight * loss(model, old.batch_at(step).to(device))
    )


def _cross_entropy_per_step(
    model: Model,
    new: TrainingBatches,
    old: TrainingBatch,
    old_weight: float,
    cross_entropy: CrossEntropyLoss,
    loss: NewCandidateLoss,
) -> StepLoss:
    """The same for cross-entropy over all candidates, with the query vectors of a sample of ``old`` facts kept."""
    device = _device(model)
    kept = old.to(device)
    kept_targets = QueryTargets.of(kept, cross_entropy)
    with torch.no_grad():
        kept_queries = model.encode(kept.batch)
        kept_sums = loss.old_log_sums(kept_queries, kept_targets, exact=True)
    kept_targets = kept_targets._replace(weights=kept_targets.weights * (old_weight * len(kept_sums) / _OLD_BATCH_SIZE))

    def step_loss(step: int) -> Tensor:
        batch = new.batch_at(step).to(device)
        queries, targets = model.encode(batch.batch), QueryTargets.of(batch, cross_entropy)
        log_sums = loss.old_log_sums(queries, targets)
        chosen = torch.randint(len(kept_sums), (_OLD_BATCH_SIZE,), device=device)
        both = QueryTargets(
            *(torch.cat([one, other[chosen]]) for one, other in zip(targets, kept_targets, strict=True))
        )
        return loss(torch.cat([queries, kept_queries[chosen]]), both, torch.cat([log_sums, kept_sums[chosen]]))

    return step_loss


def _device(model: Model) -> torch.device:
    return next(model.parameters()).device
