"""What the workers of tests do: functions that other processes can import."""

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from runs.small import small_data
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from training.small import OnStep, loss_of

from nary.inference.batch import Job, predict_file
from nary.models import entity_tables
from nary.models.base import DatasetInfo
from nary.models.gran import Gran, GranSettings
from nary.runs import load_model, resume
from nary.training.batches import TrainingBatches
from nary.training.callbacks import Callback
from nary.training.checkpoint import Checkpoints
from nary.training.distributed import tables, whole
from nary.training.distributed.trainer import WorkerTrainer
from nary.training.row_trainer import RowTrainer
from nary.training.settings import TrainingSettings
from nary.training.trainer import Trainer
from nary.workers import Workers, is_lost

LOSSES: dict[str, dict[str, Any]] = {
    "cross_entropy": {"entity_label_smoothing": 0.4, "relation_label_smoothing": 0.2, "value_weight": 2.0},
    "sampled_softmax": {"entity_label_smoothing": 0.4, "relation_label_smoothing": 0.2, "num_candidates": 5},
}


def train(workers: Workers, folder: Path, name: str, changed: dict[str, Any]) -> tuple[list[float], dict[str, Any]]:
    """The losses of fifty steps of GRAN without dropout, and the weights that the first worker has at the end."""
    info = DatasetInfo.from_dataset(small_data())
    settings = TrainingSettings.model_validate(
        {"batch_size": 17, "max_steps": 50, "precision": "fp32", "learning_rate": 0.01, "shuffle": "instances"}
        | changed
    )
    torch.manual_seed(0)
    architecture = {"num_layers": 1, "num_heads": 2, "hidden_dim": 16, "ffn_dim": 16, "dropout": 0.0}
    model = Gran(GranSettings.model_validate(architecture), info)
    losses: list[float] = []
    arguments = (model, TrainingBatches(info.facts, settings), loss_of(name, info, **LOSSES[name]), settings)
    report = OnStep(lambda step: losses.append(step.loss))
    if workers.size > 1:
        checkpoints = Checkpoints(folder / name, workers=workers)
        WorkerTrainer(*arguments, checkpoints, None, None, [report], workers=workers).fit()
    else:
        (RowTrainer if name == "sampled_softmax" else Trainer)(*arguments, callbacks=[report]).fit()
    return losses, {name: tensor.numpy() for name, tensor in model.state_dict().items()}


def train_all(workers: Workers, folder: Path) -> list[tuple[list[float], dict[str, Any]]]:
    """With each loss; of equal queries, once merged and once not."""
    return [train(workers, folder, name, {"merge_queries": name == "cross_entropy"}) for name in LOSSES]


def resume_run(workers: Workers, folder: Path, kill: dict[int, int]) -> str:
    """Train a run; the worker in ``kill`` is killed after that step."""
    last = kill.get(workers.rank)
    callback: Callback = OnStep(lambda report: report.step == last and os.kill(os.getpid(), signal.SIGKILL))
    try:
        resume(folder, [callback], workers=workers)
    except RuntimeError as error:
        return "lost" if is_lost(error) else repr(error)
    return "done"


def write_whole_file(workers: Workers, path: Path) -> None:
    """Write the untrained weights of GRAN, of which each worker has its share, a few rows at a time."""
    tables.GATHERED_AT_ONCE = 64
    whole.write_whole(tables.ShardedTables(untrained(workers), workers), path, {"step": "1"})


def untrained(workers: Workers) -> Gran:
    """GRAN with its initial weights."""
    torch.manual_seed(0)
    info = replace(DatasetInfo.from_dataset(small_data()), workers=workers)
    return Gran(GranSettings(num_layers=1, hidden_dim=16, ffn_dim=16, tie_embeddings=False), info)


def largest_memory(workers: Workers, folder: Path) -> int:
    """Train a run, then finish it once more; the bytes of the largest memory that an operation has allocated."""
    entity_tables.DRAWN_AT_ONCE = entity_tables.BLOCK = tables.GATHERED_AT_ONCE = 1 << 10
    with Allocations() as allocations:
        for _ in range(2):
            resume(folder, workers=workers)
    return allocations.largest


class Allocations(TorchDispatchMode):
    """Notes the size of the largest memory that an operation does not share with what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        given = {storage.data_ptr() for storage in _storages((args, kwargs))}
        sizes = [storage.nbytes() for storage in _storages(result) if storage.data_ptr() not in given]
        self.largest = max(self.largest, *sizes, 0)
        return result


def _storages(tree: Any) -> Iterator[torch.UntypedStorage]:
    for one in tree_leaves(tree):
        if isinstance(one, Tensor) and one.layout == torch.strided and not one.is_meta:
            yield one.untyped_storage()


def rank_and_predict(workers: Workers, folder: Path, queries: Path, out: Path) -> bytes:
    """Rank the test split of a run and answer a file of queries; the ranks."""
    model = load_model(folder)
    predict_file(model.predictor, Job(queries, out), workers=workers)
    ranks = model.rank("test", workers=workers)[1]
    return b"".join(array.tobytes() for array in vars(ranks).values() if isinstance(array, np.ndarray))
