"""Cross-entropy of every candidate's share of a softmax as a yes or no of its own."""

from torch import Tensor

from nary.training.judging import judged_loss

_LARGEST = 1 - 1e-7  # of what another candidate may have of the softmax, so that log (1 - p) stays finite


def binary_cross_entropy(
    queries: Tensor, table: Tensor, bias: Tensor, answers: tuple[Tensor, Tensor, Tensor]
) -> Tensor:
    """The loss with -log p for an answer and -log (1 - p) for another candidate; arguments are :func:`judged_loss`'s.

    p is a softmax over all candidates, although each is judged alone: so the published code of GETD does.
    """
    return judged_loss(_judge, queries, table, bias, answers)


def _judge(scores: Tensor, right: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """With h = p * dloss/dp, which is -1 for an answer and p / (1 - p) for another, the gradient is h - p * sum(h)."""
    scores.sub_(scores.logsumexp(1, keepdim=True))
    loss = -scores[right].sum()
    shares = scores.exp_()
    pull = shares.clamp(max=_LARGEST)
    pull[right] = 0
    logs = pull.neg().log1p_()
    loss -= logs.sum()
    pull.div_(logs.exp_())
    pull[right] = -1
    return loss, pull.addcmul_(shares, pull.sum(1, keepdim=True), value=-1)
