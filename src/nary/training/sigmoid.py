"""Cross-entropy of every candidate's probability as a yes or no of its own."""

from functools import partial

import torch
from torch import Tensor

from nary.training.chunks import chunks
from nary.training.direct import direct_loss


def sigmoid_cross_entropy(
    queries: Tensor, table: Tensor, bias: Tensor, answers: tuple[Tensor, Tensor, Tensor], smoothing: float
) -> Tensor:
    """The sum over queries [B, d] of the mean over candidates [C, d], [C] of the cross-entropy of sigmoid(score).

    ``answers`` are rows of ``queries``, ascending, and candidates [K]; their weights do not matter. Smoothing s gives
    answers the label 1 - s + 1 / C and all others 1 / C, as the published code of STARE does: it adds 1 / C, not s / C.
    """
    return direct_loss(partial(_loss_and_gradients, answers[:2], smoothing), queries, table, bias)


def _loss_and_gradients(
    answers: tuple[Tensor, Tensor], smoothing: float, queries: Tensor, table: Tensor, bias: Tensor, kind: torch.dtype
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """As :func:`direct_loss` wants it: the scores of a few queries are made and turned into their own gradient."""
    candidates = len(table)
    places = torch.unique(answers[0] * candidates + answers[1])  # a fact that is there twice is no better an answer
    rows, names = places // candidates, places % candidates
    wrong = 1 / candidates if smoothing else 0.0
    loss = -wrong * (queries.sum(0) @ table.sum(0) + len(queries) * bias.sum())
    of_queries, of_table, of_bias = torch.empty_like(queries), torch.zeros_like(table), torch.zeros_like(bias)
    low_queries, low_table = queries.to(kind), table.to(kind)
    for own, found in chunks(len(queries), candidates, rows):
        right = rows[found] - own.start, names[found]
        scores = torch.mm(low_queries[own], low_table.T).to(table.dtype).add_(bias)
        loss += torch.nn.functional.softplus(scores).sum() - (1 - smoothing) * scores[right].sum()
        gradient = scores.sigmoid_().sub_(wrong)
        gradient[right] -= 1 - smoothing
        of_bias += gradient.sum(0)
        low = gradient.to(kind)
        of_queries[own] = low @ low_table
        of_table += low.T @ low_queries[own]
    return loss / candidates, of_queries / candidates, of_table.div_(candidates), of_bias / candidates
