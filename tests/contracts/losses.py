"""The training loss of a model on one batch; the only place where tests of models know how losses are made."""

from typing import Any

import torch
from torch import Tensor

from nary.models.base import Model
from nary.models.batch import Batch
from nary.training.batches import TrainingBatch
from nary.training.settings import LOSSES


def loss_on(
    model: Model,
    batch: Batch,
    targets: tuple[Tensor, Tensor] | None = None,
    loss: str = "cross_entropy",
    **settings: Any,
) -> Tensor:
    """The loss of that name with its settings, such as ``entity_label_smoothing=0.1``.

    ``targets`` are rows of the batch [K] and ids [K], for queries with other answers than those they mask.
    """
    loss_class = LOSSES.get(loss)
    training_batch = TrainingBatch.from_batch(batch)
    if targets is not None:
        training_batch = TrainingBatch(batch, *targets, torch.ones(len(targets[0])))
    return loss_class(loss_class.settings_class(**settings), model.info)(model, training_batch)
