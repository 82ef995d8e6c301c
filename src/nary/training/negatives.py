"""Learning from corrupted facts: each with the masked element, or one of any slot, replaced by another."""

import torch
from torch import Tensor, nn

from nary.models.base import Model
from nary.models.batch import Batch, Group
from nary.training.corruptions import Corruptions
from nary.training.settings import TrainingSettings


def negatives_loss(
    model: Model, batch: Batch, settings: TrainingSettings, corruptions: Corruptions | None = None
) -> Tensor:
    """The mean loss over the facts of a batch; ``near_negatives`` come from ``corruptions``."""
    parts, facts = [], 0
    candidates = [_candidates(group, model, settings, corruptions) for group in batch.groups]
    corrupted = [_corrupted(group, found).flatten(0, 1) for group, found in zip(batch.groups, candidates, strict=True)]
    for group, found in zip(batch.groups, model.group_scores(corrupted), strict=True):
        scores = found.view(len(group.columns), -1)  # [n, 1 + k]: the fact, its corruptions
        if settings.loss == "margin":
            parts.append((settings.margin - scores[:, :1] + scores[:, 1:]).clamp(min=0).sum())
            facts += len(group.columns)
        else:
            losses = _sampled_softmax(scores, group)
            parts.append(losses.sum())
            facts += len(losses)
    return torch.stack(parts).sum() / facts


def logistic_loss(model: Model, batch: Batch, corruptions: Corruptions) -> Tensor:
    """The mean of softplus(-score) over the facts of a batch and of softplus(score) over their corruptions."""
    facts = [group.ids for group in batch.groups]
    both = [torch.cat(pair) for pair in zip(facts, corruptions.of(facts), strict=True)]
    parts = [
        torch.cat([-scores[: len(true)], scores[len(true) :]])
        for true, scores in zip(facts, model.group_scores(both), strict=True)
    ]
    return nn.functional.softplus(torch.cat(parts).float()).mean()


def _candidates(group: Group, model: Model, settings: TrainingSettings, corruptions: Corruptions | None) -> Tensor:
    """Random entities or relations for the masked column of each fact [n, k]."""
    shape = (len(group.columns), settings.negatives)
    random = torch.randint(model.info.num_entities, shape, device=group.ids.device)
    if corruptions is not None:
        rows = group.asks_entity.nonzero()[:, 0]
        near = corruptions.near(group.ids[rows], group.columns[rows], random[rows])
        chosen = torch.rand(near.shape, device=near.device) < settings.near_negatives
        random[rows] = torch.where(chosen, near, random[rows])
    if group.asks_entity.all():
        return random
    relations = torch.randint(model.info.num_relations, shape, device=group.ids.device)
    return torch.where(group.asks_entity[:, None], random, relations)


def _corrupted(group: Group, candidates: Tensor) -> Tensor:
    """Each fact, and the fact with ``candidates`` [n, k] at the masked column [n, 1 + k, 2m+3]."""
    filled = torch.cat([group.answers[:, None], candidates], 1)
    columns = group.columns[:, None, None].expand(-1, filled.shape[1], 1)
    return group.ids[:, None].repeat(1, filled.shape[1], 1).scatter(2, columns, filled[..., None])


def _sampled_softmax(scores: Tensor, group: Group) -> Tensor:
    """The cross-entropy of each fact against all corruptions of it in the batch, whichever element they replace."""
    facts, numbers = torch.unique(group.ids, dim=0, return_inverse=True)
    above = scores[:, 1:].logsumexp(1) - scores[:, 0]  # [n]
    largest = above.new_zeros(len(facts)).scatter_reduce(0, numbers, above.detach(), "amax")  # at least 0, for the fact
    total = above.new_zeros(len(facts)).index_add(0, numbers, (above - largest[numbers]).exp())
    return largest + (total + (-largest).exp()).log()
