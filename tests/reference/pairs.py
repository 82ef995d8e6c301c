"""NaLP, NeuInfer and HINGE by their published formulas: whole facts through the whole network, batched, no shortcut.

Each takes a model, for its weights, in evaluation, and facts of one arity [n, 2m+3]; n facts, m qualifiers.
"""

import torch
from torch import Tensor, nn

from nary.models.base import Model
from nary.models.pairs.hinge import Convolution, Hinge
from nary.models.pairs.nalp import NaLP
from nary.models.pairs.neuinfer import NeuInfer


def nalp_scores(model: NaLP, ids: Tensor) -> Tensor:
    """The logits [n]: features of each pair of role and value, then of every ordered two of them, then the least."""
    m, count = (ids.shape[1] - 3) // 2, model.info.num_relations
    roles = torch.cat([ids[:, :1], count + ids[:, :1], 2 * count + ids[:, 3 : 3 + m]], 1)
    values = torch.cat([ids[:, 1:3], ids[:, 3 + m :]], 1)
    raw = torch.cat([model.role[roles], model.entity[values]], 2) @ model.filters.T
    normed = (raw - model.norm.mean) / (model.norm.variance + 1e-3).sqrt()
    features = (normed + model.filter_bias).relu()  # [n, k, f]
    k = m + 2
    first, second = features[:, :, None].expand(-1, -1, k, -1), features[:, None].expand(-1, k, -1, -1)
    whole = torch.cat(model.relate.chunk(2), 1)  # [A | B]
    related = (torch.cat([first, second], 3) @ whole.T + model.relate_bias).relu()  # [n, k, k, g]
    return related.amin((1, 2)) @ model.judge + model.judge_bias


def neuinfer_scores(model: NeuInfer, ids: Tensor) -> Tensor:
    """The probabilities [n]: validity of the triple, mixed with the compatibility of its qualifiers."""
    m = (ids.shape[1] - 3) // 2
    x = torch.cat([model.entity[ids[:, 1]], model.relation[ids[:, 0]], model.entity[ids[:, 2]]], 1)
    z = x
    for layer in (model.first, *model.deeper):
        z = layer(z).relu()
    validity: Tensor = model.validity(z)[:, 0].sigmoid()
    if not m:
        return validity
    pairs = torch.cat([model.relation[ids[:, 3 : 3 + m]], model.entity[ids[:, 3 + m :]]], 2)
    units = model.relate(torch.cat([x[:, None].expand(-1, m, -1), pairs], 2)).relu()
    compatibility = model.compatibility(units.amin(1))[:, 0].sigmoid()
    return model.share * validity + (1 - model.share) * compatibility


def hinge_scores(model: Hinge, ids: Tensor) -> Tensor:
    """The logits [n]: convolutions over the triple, and over it with each qualifier, then the least feature."""
    m = (ids.shape[1] - 3) // 2
    triple = torch.stack([model.entity[ids[:, 1]], model.relation[ids[:, 0]], model.entity[ids[:, 2]]], 1)
    features = [_features(model.triple, triple)]
    for i in range(3, 3 + m):
        pair = torch.stack([model.relation[ids[:, i]], model.entity[ids[:, m + i]]], 1)
        features.append(_features(model.pair, torch.cat([triple, pair], 1)))
    width = features[0].shape[2]
    weight = model.weight.view(width, -1).T  # the published features are [F, P]
    return (torch.stack(features).amin(0) * weight).sum((1, 2)) + model.bias


def _features(own: Convolution, rows: Tensor) -> Tensor:
    """[n, rows, d] -> [n, F, P]."""
    found = nn.functional.conv2d(rows[:, None], own.filters[:, None])
    return nn.functional.batch_norm(found, own.mean, own.variance, own.scale, own.shift).relu()[:, :, 0]


def plain_scores(model: Model, ids: Tensor) -> Tensor:
    """Those of whichever model it is; higher is better."""
    if isinstance(model, NaLP):
        return nalp_scores(model, ids)
    if isinstance(model, NeuInfer):
        return neuinfer_scores(model, ids)
    if isinstance(model, Hinge):
        return hinge_scores(model, ids)
    raise TypeError(model.name)
