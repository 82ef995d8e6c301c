"""Several workers learn what one process learns."""

from functools import partial
from typing import Any

import pytest
import torch
from runs.small import small_data
from training.processes import run_workers
from training.small import OnStep, loss_of

from nary.models.base import DatasetInfo
from nary.models.gran import Gran, GranSettings
from nary.training.batches import TrainingBatches
from nary.training.distributed.trainer import WorkerTrainer
from nary.training.row_trainer import RowTrainer
from nary.training.settings import TrainingSettings
from nary.training.trainer import Trainer
from nary.workers import ALONE, Workers

LOSSES: dict[str, dict[str, Any]] = {
    "cross_entropy": {"entity_label_smoothing": 0.4, "relation_label_smoothing": 0.2, "value_weight": 2.0},
    "sampled_softmax": {"entity_label_smoothing": 0.4, "relation_label_smoothing": 0.2, "num_candidates": 5},
}


def train(name: str, workers: Workers = ALONE, **changed: Any) -> tuple[list[float], dict[str, torch.Tensor]]:
    """The losses of fifty steps of GRAN without dropout, and the weights that the first worker has at the end."""
    info = DatasetInfo.from_dataset(small_data())
    settings = TrainingSettings.model_validate(
        {"batch_size": 17, "max_steps": 50, "precision": "fp32", "learning_rate": 0.01, "shuffle": "instances"} | changed
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


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("name", LOSSES)
def test_workers_learn_what_one_process_learns(name: str, size: int, merged: bool) -> None:
    losses, weights = train(name, merge_queries=merged)
    results = run_workers(size, lambda workers: train(name, workers, merge_queries=merged))
    for of_worker, _ in results:
        assert of_worker == pytest.approx(losses, abs=1e-5)
    for part, tensor in results[0][1].items():
        assert tensor == pytest.approx(weights[part], abs=2e-4), part
