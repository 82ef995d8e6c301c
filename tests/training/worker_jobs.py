"""What the workers of tests do: functions that other processes can import."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import torch
from runs.small import small_data
from training.small import OnStep, loss_of

from nary.inference.batch import Job, predict_file
from nary.models.base import DatasetInfo
from nary.models.gran import Gran, GranSettings
from nary.runs import load_model, resume
from nary.training.batches import TrainingBatches
from nary.training.callbacks import Callback
from nary.training.distributed.trainer import WorkerTrainer
from nary.training.row_trainer import RowTrainer
from nary.training.settings import TrainingSettings
from nary.training.trainer import Trainer
from nary.workers import Workers, is_lost

LOSSES: dict[str, dict[str, Any]] = {
    "cross_entropy": {"entity_label_smoothing": 0.4, "relation_label_smoothing": 0.2, "value_weight": 2.0},
    "sampled_softmax": {"entity_label_smoothing": 0.4, "relation_label_smoothing": 0.2, "num_candidates": 5},
}


def train(workers: Workers, name: str, changed: dict[str, Any]) -> tuple[list[float], dict[str, Any]]:
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
        WorkerTrainer(*arguments, None, None, None, [report], workers=workers).fit()
    else:
        (RowTrainer if name == "sampled_softmax" else Trainer)(*arguments, callbacks=[report]).fit()
    return losses, {name: tensor.numpy() for name, tensor in model.state_dict().items()}


def train_all(workers: Workers) -> list[tuple[list[float], dict[str, Any]]]:
    """With each loss; of equal queries, once merged and once not."""
    return [train(workers, name, {"merge_queries": name == "cross_entropy"}) for name in LOSSES]


def resume_run(workers: Workers, folder: Path, kill: dict[int, int]) -> str:
    """Train a run; the worker in ``kill`` is killed after that step."""
    last = kill.get(workers.rank)
    callback: Callback = OnStep(lambda report: report.step == last and os.kill(os.getpid(), signal.SIGKILL))
    try:
        resume(folder, [callback], workers=workers)
    except RuntimeError as error:
        return "lost" if is_lost(error) else repr(error)
    return "done"


def rank_and_predict(workers: Workers, folder: Path, queries: Path, out: Path) -> bytes:
    """Rank the test split of a run and answer a file of queries; the ranks."""
    model = load_model(folder)
    predict_file(model.predictor, Job(queries, out), workers=workers)
    ranks = model.rank("test", workers=workers)[1]
    return b"".join(array.tobytes() for array in vars(ranks).values() if isinstance(array, np.ndarray))
