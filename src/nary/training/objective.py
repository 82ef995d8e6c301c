"""The objective: which loss a recipe asks for."""

import torch
from torch import Tensor

from nary.models.base import Kind, Model
from nary.training.binary import binary_cross_entropy
from nary.training.corruptions import Corruptions
from nary.training.lesson import Lesson
from nary.training.negatives import logistic_loss, negatives_loss
from nary.training.settings import TrainingSettings
from nary.training.sigmoid import sigmoid_cross_entropy
from nary.training.softmax import smoothed_cross_entropy


def loss_of(model: Model, lesson: Lesson, settings: TrainingSettings, corruptions: Corruptions | None = None) -> Tensor:
    """What a step makes smaller, by ``settings.loss``; "corruption_bce" and ``near_negatives`` need ``corruptions``."""
    if settings.loss == "corruption_bce":
        if corruptions is None:
            raise ValueError('"corruption_bce" needs corruptions')
        loss = logistic_loss(model, lesson.batch, corruptions)
    elif settings.loss in ("sampled_cross_entropy", "margin"):
        loss = negatives_loss(model, lesson.batch, settings, corruptions)
    else:
        loss = masked_loss(model, lesson, settings)
    extra = model.extra_loss(lesson.batch)
    return loss if extra is None else loss + extra


def masked_loss(model: Model, lesson: Lesson, settings: TrainingSettings) -> Tensor:
    """The mean loss over the instances of a batch; entities and relations weigh the same."""
    queries = model.encode(lesson.batch)
    asks_entity = lesson.batch.asks_entity
    loss = queries.new_zeros((), dtype=torch.float32)
    kinds: tuple[tuple[Kind, Tensor, float], ...] = (
        ("entity", asks_entity, settings.entity_smoothing),
        ("relation", ~asks_entity, settings.relation_smoothing),
    )
    for kind, chosen, smoothing in kinds:
        if chosen.any():
            own = chosen[lesson.rows]
            rows = (chosen.cumsum(0) - 1)[lesson.rows[own]]
            answers = (rows, lesson.answers[own], lesson.weights[own])
            scored = (queries[chosen], *model.candidates(kind), answers)
            if settings.loss == "softmax_bce":
                loss = loss + binary_cross_entropy(*scored)
            elif settings.loss == "bce":
                loss = loss + sigmoid_cross_entropy(*scored, smoothing)
            else:
                loss = loss + smoothed_cross_entropy(*scored, smoothing)
    return loss / len(lesson.batch)
