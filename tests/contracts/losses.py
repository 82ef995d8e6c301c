"""The training loss of a model on one batch; the only place where tests of models know how losses are made."""

from typing import Any

import torch
from torch import Tensor

from nary.models.base import Model
from nary.models.batch import Batch
from nary.training.corruptions import Corruptions
from nary.training.lesson import Lesson
from nary.training.objective import loss_of
from nary.training.settings import TrainingSettings


def loss_on(model: Model, batch: Batch, answers: tuple[Tensor, Tensor] | None = None, **training: Any) -> Tensor:
    """The loss, with settings such as ``loss="bce"``.

    ``answers`` are rows of the batch [K] and ids [K] where queries have other answers than those they mask.
    """
    settings = TrainingSettings.model_validate(training)
    lesson = Lesson.of(batch)
    if answers is not None:
        lesson = Lesson(batch, *answers, torch.ones(len(answers[0])))
    corruptions = None
    if model.info.facts.blocks:
        corruptions = Corruptions(model.info.facts, model.info, settings, torch.device("cpu"))
    return loss_of(model, lesson, settings, corruptions)
