"""Losses that judge every candidate by itself, as an answer or none."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from nary.models.layers import empty_aligned
from nary.training.chunks import chunks
from nary.training.direct import direct_loss

Judge = Callable[[Tensor, tuple[Tensor, Tensor]], tuple[Tensor, Tensor]]
"""From scores [b, C], which it may overwrite, and the places of the answers in them: the sum of their losses, and its
gradient by the scores."""


def judged_loss(
    judge: Judge, queries: Tensor, table: Tensor, bias: Tensor, answers: tuple[Tensor, Tensor, Tensor]
) -> Tensor:
    """The sum over queries [B, d] of the mean over candidates [C, d], [C] of what ``judge`` finds.

    ``answers`` are rows of ``queries``, ascending, and candidates [K]; their weights do not matter.
    """
    return direct_loss(partial(_loss_and_gradients, judge, answers[:2]), queries, table, bias)


def _loss_and_gradients(
    judge: Judge, answers: tuple[Tensor, Tensor], queries: Tensor, table: Tensor, bias: Tensor, kind: torch.dtype
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """As :func:`direct_loss` wants it: the scores of a few queries are made and turned into their own gradient."""
    candidates = len(table)
    places = torch.unique(answers[0] * candidates + answers[1])  # a fact that is there twice is no better an answer
    rows, names = places // candidates, places % candidates
    loss = bias.new_zeros(())
    of_queries, of_table, of_bias = torch.empty_like(queries), torch.zeros_like(table), torch.zeros_like(bias)
    low_queries, low_table = queries.to(kind), table.to(kind)
    for own, found in chunks(len(queries), candidates, rows):
        room = empty_aligned(low_queries[own], candidates)
        scores = torch.mm(low_queries[own], low_table.T, out=room).to(table.dtype).add_(bias)
        part, gradient = judge(scores, (rows[found] - own.start, names[found]))
        loss += part
        of_bias += gradient.sum(0)
        low = gradient.to(kind)
        of_queries[own] = low @ low_table
        of_table += low.T @ low_queries[own]
    return loss / candidates, of_queries / candidates, of_table.div_(candidates), of_bias / candidates
