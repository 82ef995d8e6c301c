"""Cross-entropy of every candidate's share of a softmax as a yes or no of its own."""

from functools import partial

import torch
from torch import Tensor

from nary.training.chunks import chunks
from nary.training.direct import direct_loss

_LARGEST = 1 - 1e-7  # of what another candidate may have of the softmax, so that log (1 - p) stays finite


def binary_cross_entropy(
    queries: Tensor, table: Tensor, bias: Tensor, answers: tuple[Tensor, Tensor, Tensor]
) -> Tensor:
    """The sum over queries [B, d] of the mean over candidates [C, d], [C]: -log p of an answer, -log (1 - p) of others.

    ``answers`` are rows of ``queries``, ascending, and candidates [K]; their weights do not matter. p is a softmax over
    all candidates, although each is judged alone: so the published code of GETD does.
    """
    return direct_loss(partial(_loss_and_gradients, answers[:2]), queries, table, bias)


def _loss_and_gradients(
    answers: tuple[Tensor, Tensor], queries: Tensor, table: Tensor, bias: Tensor, kind: torch.dtype
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """As :func:`direct_loss` wants it: the scores of a few queries are made and turned into their own gradient.

    With h = p * dloss/dp, which is -1 for an answer and p / (1 - p) for another candidate, the gradient by a query's
    scores is h - p * sum(h).
    """
    candidates = len(table)
    places = torch.unique(answers[0] * candidates + answers[1])  # a fact that is there twice is no better an answer
    rows, names = places // candidates, places % candidates
    loss = bias.new_zeros(())
    of_queries, of_table, of_bias = torch.empty_like(queries), torch.zeros_like(table), torch.zeros_like(bias)
    low_queries, low_table = queries.to(kind), table.to(kind)
    for own, found in chunks(len(queries), candidates, rows):
        right = rows[found] - own.start, names[found]
        scores = torch.mm(low_queries[own], low_table.T).to(table.dtype).add_(bias)
        scores.sub_(scores.logsumexp(1, keepdim=True))
        loss -= scores[right].sum()
        shares = scores.exp_()
        pull = shares.clamp(max=_LARGEST)
        pull[right] = 0
        logs = pull.neg().log1p_()
        loss -= logs.sum()
        pull.div_(logs.exp_())
        pull[right] = -1
        gradient = pull.addcmul_(shares, pull.sum(1, keepdim=True), value=-1)
        of_bias += gradient.sum(0)
        low = gradient.to(kind)
        of_queries[own] = low @ low_table
        of_table += low.T @ low_queries[own]
    return loss / candidates, of_queries / candidates, of_table.div_(candidates), of_bias / candidates
