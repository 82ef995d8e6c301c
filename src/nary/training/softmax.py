"""Cross-entropy of a softmax over all candidates, with smoothed labels."""

from functools import partial

import torch
from torch import Tensor

from nary.training.chunks import chunks
from nary.training.direct import direct_loss


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
