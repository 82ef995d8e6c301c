"""The share of a worker in a batch: worker w of W takes the instances w, w + W, w + 2 W, ..."""

from dataclasses import replace

import torch
from torch import Tensor

from nary.models.batch import Batch
from nary.training.batches import TrainingBatch
from nary.training.kernels import Targets
from nary.workers import Workers


def share_of(batch: TrainingBatch, workers: Workers) -> TrainingBatch:
    """The instances of this worker with their targets. A batch is ordered by arity, so shares cost about the same."""
    groups, start = [], 0
    for group in batch.batch.groups:
        chosen = slice((workers.rank - start) % workers.size, None, workers.size)
        start += len(group.columns)
        hidden, partial = (None if flags is None else flags[chosen] for flags in (group.hidden, group.partial))
        ids, columns = group.ids[chosen], group.columns[chosen]
        if len(columns):
            groups.append(replace(group, ids=ids, columns=columns, hidden=hidden, partial=partial))
    mine = batch.rows % workers.size == workers.rank
    rows = batch.rows[mine] // workers.size
    return TrainingBatch(Batch(groups), rows, batch.targets[mine], batch.weights[mine])


def order_by_worker(targets: Targets, chosen: Tensor, size: int) -> tuple[Targets, list[int]]:
    """The targets of the ``chosen`` [B] instances once these are ordered by worker, and how many each worker has.

    The row of a target is a place among the chosen instances, before and after.
    """
    worker = chosen.nonzero()[:, 0] % size
    places = torch.empty_like(worker)
    places[worker.argsort(stable=True)] = torch.arange(len(worker), device=worker.device)
    rows, order = places[targets.rows].sort(stable=True)
    counts: list[int] = torch.bincount(worker, minlength=size).tolist()
    return Targets(rows, targets.candidates[order], targets.weights[order]), counts
