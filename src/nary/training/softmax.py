"""Cross-entropy of a softmax over all candidates, with smoothed labels."""

from functools import partial

import torch
from torch import Tensor

from nary.models.layers import empty_aligned
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
    all_queries, all_candidates = counts @ queries, table.sum(0)
    loss = -wrong * (all_queries @ all_candidates + counts.sum() * bias.sum())
    of_queries = torch.empty_like(queries)
    of_table = (-wrong * all_queries).repeat(len(table), 1)
    of_bias = (-wrong * counts.sum()).repeat(len(table))
    cast_queries, cast_table = queries.to(kind), table.to(kind)
    for own, found in chunks(len(queries), len(table), rows):
        places, share = (rows[found] - own.start, names[found]), weights[found]
        room = empty_aligned(cast_queries[own], len(table))
        scores = torch.mm(cast_queries[own], cast_table.T, out=room).to(bias.dtype).add_(bias)
        highest = scores.amax(1)
        loss -= right * (share @ scores[places])
        # The softmax is this divided by its sums; they go into factors of the queries, which are far fewer.
        gradient = scores.sub_(highest[:, None]).exp_()
        sums = gradient.sum(1)
        loss += counts[own] @ (sums.log() + highest)
        gradient.index_put_(places, -right * share * (sums / counts[own])[places[0]], accumulate=True)
        factors = counts[own] / sums
        of_bias.addmv_(gradient.T, factors)
        low, weighted = gradient.to(kind), (factors[:, None] * queries[own]).to(kind)
        of_queries[own] = factors[:, None] * (low @ cast_table) - wrong * counts[own, None] * all_candidates
        if kind == of_table.dtype:
            of_table.addmm_(low.T, weighted)
        else:
            of_table += low.T @ weighted
    return loss, of_queries, of_table, of_bias
