"""The objective: smoothed cross-entropy over all entities or all relations."""

from functools import partial

import torch
from torch import Tensor

from nary.models.contract import Kind, Model
from nary.training.binary import binary_cross_entropy
from nary.training.chunks import chunks
from nary.training.corruptions import Corruptions
from nary.training.direct import direct_loss
from nary.training.lesson import Lesson
from nary.training.negatives import logistic_loss, negatives_loss
from nary.training.settings import TrainingSettings
from nary.training.sigmoid import sigmoid_cross_entropy


def loss_of(model: Model, lesson: Lesson, settings: TrainingSettings, corruptions: Corruptions | None = None) -> Tensor:
    """What a step makes smaller, by ``settings.objective``; "logistic" and ``near_negatives`` need ``corruptions``."""
    if settings.objective == "logistic":
        if corruptions is None:
            raise ValueError('"logistic" needs corruptions')
        loss = logistic_loss(model, lesson.batch, corruptions)
    elif settings.objective in ("sampled", "margin"):
        loss = negatives_loss(model, lesson.batch, settings, corruptions)
    else:
        loss = masked_loss(model, lesson, settings)
    extra = model.extra_loss(lesson.batch)
    return loss if extra is None else loss + extra


def masked_loss(model: Model, lesson: Lesson, settings: TrainingSettings) -> Tensor:
    """The mean loss over the instances of a batch; entities and relations weigh the same."""
    queries = model.query(lesson.batch)
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
            scored = (queries[chosen], *model.table(kind), answers)
            if settings.objective == "binary":
                loss = loss + binary_cross_entropy(*scored)
            elif settings.objective == "sigmoid":
                loss = loss + sigmoid_cross_entropy(*scored, smoothing)
            else:
                loss = loss + smoothed_cross_entropy(*scored, smoothing)
    return loss / len(lesson.batch)


def smoothed_cross_entropy(
    queries: Tensor, table: Tensor, bias: Tensor, answers: tuple[Tensor, Tensor, Tensor], smoothing: float
) -> Tensor:
    """The sum of weight * cross-entropy over answers: (row of ``queries`` [B, d], candidate, weight) [K], by row.

    Candidates [C, d], [C] are scored by their product with a query. An answer has the label 1 - smoothing, all other
    candidates share the rest.
    """
    return direct_loss(partial(_loss_and_gradients, answers, smoothing), queries, table, bias)


def _loss_and_gradients(
    answers: tuple[Tensor, Tensor, Tensor],
    smoothing: float,
    queries: Tensor,
    table: Tensor,
    bias: Tensor,
    kind: torch.dtype,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """As :func:`direct_loss` wants it: the scores of a few queries are made and turned into their own gradient.

    What smoothing adds is the same for every candidate but the answer, so it needs no labels: the sums of the
    candidates and of the queries are enough.
    """
    rows, names, weights = answers
    if len(table) == 1:
        smoothing = 0.0
    wrong = smoothing / max(1, len(table) - 1)  # the label of a candidate that is no answer
    right = 1 - smoothing - wrong  # what an answer's label has on top of that
    counts = queries.new_zeros(len(queries)).index_add_(0, rows, weights)
    weighted = counts[:, None] * queries
    all_queries, all_candidates = weighted.sum(0), table.sum(0)
    loss = -wrong * (all_queries @ all_candidates + counts.sum() * bias.sum())
    of_queries = torch.empty_like(queries)
    of_table = (-wrong * all_queries).repeat(len(table), 1)
    of_bias = (-wrong * counts.sum()).repeat(len(table))
    queries, weighted, table = (part.to(kind) for part in (queries, weighted, table))
    for own, found in chunks(len(queries), len(table), rows):
        places, share = (rows[found] - own.start, names[found]), weights[found]
        scores = torch.mm(queries[own], table.T).to(bias.dtype).add_(bias)
        sums = scores.logsumexp(1)
        loss += counts[own] @ sums - right * (share @ scores[places])
        gradient = scores.sub_(sums[:, None]).exp_()  # softmax
        gradient.index_put_(places, -right * share / counts[own][places[0]], accumulate=True)
        of_bias.addmv_(gradient.T, counts[own])
        low = gradient.to(kind)
        of_queries[own] = counts[own, None] * (low @ table - wrong * all_candidates)
        if kind == of_table.dtype:
            of_table.addmm_(low.T, weighted[own])
        else:
            of_table += low.T @ weighted[own]
    return loss, of_queries, of_table, of_bias
