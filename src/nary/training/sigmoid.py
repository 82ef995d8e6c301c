"""Cross-entropy of every candidate's probability as a yes or no of its own."""

from functools import partial

import torch
from torch import Tensor

from nary.training.judging import judged_loss


def sigmoid_cross_entropy(
    queries: Tensor, table: Tensor, bias: Tensor, answers: tuple[Tensor, Tensor, Tensor], smoothing: float
) -> Tensor:
    """The loss with the cross-entropy of sigmoid(score); arguments are :func:`judged_loss`'s.

    Smoothing s gives answers the label 1 - s + 1 / C and all others 1 / C, as the published code of STARE does: it adds
    1 / C, not s / C.
    """
    return judged_loss(partial(_judge, smoothing), queries, table, bias, answers)


def _judge(smoothing: float, scores: Tensor, right: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    loss = torch.nn.functional.softplus(scores).sum() - (1 - smoothing) * scores[right].sum()
    wrong = 0.0
    if smoothing:
        wrong = 1 / scores.shape[1]
        loss -= wrong * scores.sum()
    gradient = scores.sigmoid_().sub_(wrong)
    gradient[right] -= 1 - smoothing
    return loss, gradient
