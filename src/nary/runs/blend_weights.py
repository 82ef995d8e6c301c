"""The weights of a blend, by the MRR that they give on valid queries.

A fixed set of mixes is tried, among them each part alone. The one with the best MRR would be chosen by chance where
valid queries are few, so the weights are a mean over all mixes, each counted by how likely it is the best: the mixes
that are better on many queries have nearly all of it, and without queries all mixes are alike. Queries of a relation
count together with those of its role, and these with average queries for the same kind of candidates.

The numbers below were chosen by cross-validation on halves of the valid facts of nobel, jf17k-4, wikipeople-3 and a
generated company graph: better there than the best mix, and than equal weights where one part is much the best.
"""

import math
from collections.abc import Mapping
from itertools import combinations, product
from typing import NamedTuple

import torch
from torch import Tensor

from nary.facts import Role
from nary.models.blend.model import weight_row
from nary.runs.blend_sample import Sample

_REACH = 5
"""Weights differ by up to a factor of 2 ** 5."""
_LATTICE_PARTS = 3
_RANDOM_MIXES = 500
"""With more parts than :data:`_LATTICE_PARTS`, a lattice would be too large."""
_AVERAGE_OF_KIND = 300
"""How many average queries for the same kind of candidates are added to those of a role."""
_OF_ROLE, _OF_RELATION = 0.05, 1.0
"""How much one more right answer at rank 1 counts for a mix, in logarithms: in its role, and in its relation."""
_CHUNK = 1 << 24
_STEPS = 30
_LOWEST, _HIGHEST = 1 / 64, 64.0


class Weights(NamedTuple):
    """The parameters of a blend; see :class:`nary.models.blend.model.Blend`."""

    weight: Tensor
    temperature: Tensor


def fit_weights(samples: Mapping[Role, Sample], default: Weights, *, partial: bool = False) -> Weights:
    """The weights for the best MRR on ``samples``, whose facts are all whole or all ``partial``.

    All other weights are those of ``default``.
    """
    weight, temperature = default.weight.detach().clone(), default.temperature.detach().clone()
    tried = {role: _try_mixes(sample) for role, sample in samples.items()}
    for role, sample in samples.items():
        row, parts = weight_row(role, partial), sample.predicting
        alike = [one.gains for other, one in tried.items() if _alike(samples, role, other)]
        weight[row], temperature[row] = 0.0, 1.0
        weight[row, :, parts] = _choose(sample, tried[role], torch.cat(alike).mean(0), weight.shape[1])
        temperature[row, parts] = 1 / tried[role].inverse
    return Weights(weight, temperature)


def _alike(samples: Mapping[Role, Sample], role: Role, other: Role) -> bool:
    """Whether two roles have the same candidates and the same parts that predict them."""
    same_parts = torch.equal(samples[role].predicting, samples[other].predicting)
    return role.is_entity == other.is_entity and same_parts


def alone(weights: Weights, role: Role, part: int) -> Weights:
    """The same weights, but for ``role`` in whole facts all weight is on one part."""
    weight = weights.weight.clone()
    weight[weight_row(role)] = 0.0
    weight[weight_row(role), :, part] = 1.0
    return Weights(weight, weights.temperature)


class _Tried(NamedTuple):
    """Mixes of the p parts that predict a role, tried on Q queries."""

    mixes: Tensor
    """[n, p]"""
    inverse: Tensor
    """1 / the temperature of each part [p]."""
    gains: Tensor
    """1 / rank of the answer of each query [Q, n]."""


def _try_mixes(sample: Sample) -> _Tried:
    margins = sample.margins[..., sample.predicting]
    inverse = torch.stack([_inverse_temperature(margin, sample.counts) for margin in margins.unbind(-1)])
    tried = mixes(len(inverse))
    gains = _reciprocal_ranks(margins, sample.counts, tried * inverse)
    gains[:, : len(inverse)] = 1 / sample.ranks[:, sample.predicting]  # of the parts alone they are known exactly
    return _Tried(tried, inverse, gains)


def _choose(sample: Sample, tried: _Tried, average: Tensor, size: int) -> Tensor:
    """The weights of the parts that predict a role [size, p], one row a relation.

    ``average`` [n] is the MRR of each mix for the same kind of candidates.
    """
    chosen = _mean_mixes(tried, average, sample.relation, size)
    factors = chosen[sample.relation] * tried.inverse
    mixed = (sample.margins[..., sample.predicting] * factors[:, None]).sum(-1)
    return chosen * _inverse_temperature(mixed, sample.counts)


def mixes(parts: int) -> Tensor:
    """The mixes that are tried [n, parts]; each adds up to 1. The first are the parts alone."""
    if parts <= _LATTICE_PARTS:
        steps = [2.0**step for step in range(-_REACH, _REACH + 1)]
        rows = []
        for number in range(1, parts + 1):
            for members in combinations(range(parts), number):
                for ratios in product(steps, repeat=number - 1):
                    row = [0.0] * parts
                    for member, ratio in zip(members, (1.0, *ratios), strict=True):
                        row[member] = ratio
                    rows.append(row)
        tried = torch.tensor(rows)
    else:
        generator = torch.Generator().manual_seed(0)
        powers = (2 * torch.rand(_RANDOM_MIXES, parts, generator=generator) - 1) * _REACH / 2
        absent = torch.rand(_RANDOM_MIXES, parts, generator=generator) < 1 / parts
        random = torch.where(absent, 0.0, 2.0**powers)
        tried = torch.cat([torch.eye(parts), torch.ones(1, parts), random[random.sum(1) > 0]])
    return tried / tried.sum(1, keepdim=True)


def _reciprocal_ranks(margins: Tensor, counts: Tensor, factors: Tensor) -> Tensor:
    """1 / rank [Q, n] of the answer of each query under each mix; the answer is the first candidate."""
    size = max(1, _CHUNK // (counts.shape[1] * len(factors)))
    parts = []
    for margin, count in zip(torch.split(margins[:, 1:], size), torch.split(counts[:, 1:], size), strict=True):
        mixed = margin @ factors.T  # [q, K, n]
        above = (mixed > 0).float() + 0.5 * (mixed == 0)
        parts.append(1 / (1 + torch.einsum("qk,qkn->qn", count, above)))
    return torch.cat(parts)


def _mean_mixes(tried: _Tried, average: Tensor, relation: Tensor, size: int) -> Tensor:
    """The mean mix of each relation [size, p]."""
    of_role = tried.gains.sum(0) + _AVERAGE_OF_KIND * average
    of_relation = torch.zeros(size, tried.gains.shape[1]).index_add(0, relation, tried.gains)
    return (_OF_ROLE * of_role + _OF_RELATION * of_relation).softmax(1) @ tried.mixes


def _inverse_temperature(margins: Tensor, counts: Tensor) -> Tensor:
    """The factor of ``margins`` [Q, K] under which the first candidates are most probable.

    The negative log likelihood is convex in it: Newton steps, limited to a factor of e, find its minimum.
    """
    log_counts, factor = counts.log(), 1.0
    for _ in range(_STEPS):
        probabilities = (factor * margins + log_counts).softmax(1)
        mean = (probabilities * margins).sum(1)
        slope = float(mean.mean())
        curvature = float(((probabilities * margins.square()).sum(1) - mean.square()).mean())
        step = max(-1.0, min(1.0, -slope / max(curvature * factor, 1e-9)))
        before, factor = factor, max(_LOWEST, min(_HIGHEST, factor * math.exp(step)))
        if abs(math.log(factor / before)) < 1e-4:
            break
    return torch.tensor(factor)
