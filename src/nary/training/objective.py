"""The objective: smoothed cross-entropy over all entities or all relations, in closed form."""

import torch
from torch import Tensor

from nary.models.batch import Batch
from nary.models.contract import Kind, Model
from nary.training.settings import TrainingSettings


def smoothed_cross_entropy(scores: Tensor, answers: Tensor, smoothing: float) -> Tensor:
    """The sum over a batch [B, C], [B]: the answer has weight 1 - smoothing, the rest is shared by all others.

    No matrix of soft labels is built: the loss is logsumexp(z) - (1-e) z_y - e/(C-1) (sum z - z_y).
    """
    scores = scores.float()
    total = torch.logsumexp(scores, -1).sum()
    answer = scores.gather(1, answers[:, None]).sum()
    if not smoothing or scores.shape[1] == 1:
        return total - answer
    return total - (1 - smoothing) * answer - smoothing / (scores.shape[1] - 1) * (scores.sum() - answer)


def masked_loss(model: Model, batch: Batch, settings: TrainingSettings) -> Tensor:
    """The mean loss over the instances of a batch; entities and relations weigh the same."""
    queries = model.query(batch)
    asks_entity, answers = batch.asks_entity, batch.answers
    loss = queries.new_zeros((), dtype=torch.float32)
    kinds: tuple[tuple[Kind, Tensor, float], ...] = (
        ("entity", asks_entity, settings.entity_smoothing),
        ("relation", ~asks_entity, settings.relation_smoothing),
    )
    for kind, chosen, smoothing in kinds:
        rows = chosen.nonzero()[:, 0]
        if rows.numel():
            table, bias = model.table(kind)
            scores = torch.addmm(bias, queries[rows], table.T)
            loss = loss + smoothed_cross_entropy(scores, answers[rows], smoothing)
    return loss / len(batch)
