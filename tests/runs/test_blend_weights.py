"""The weights of a blend: hand-worked samples, the parts alone, and relations with few and many queries."""

import math

import pytest
import torch

from nary.facts import Role
from nary.models.blend.model import ROLES
from nary.runs.blend_sample import Sample
from nary.runs.blend_weights import Weights, fit_weights, mixes

_OBJECT = ROLES.index(Role.OBJECT)


def sample_of(*queries: tuple[int, list[list[float]]]) -> Sample:
    """Queries given as their relation and, for each part, how much higher each other candidate scores."""
    relations = torch.tensor([relation for relation, _ in queries])
    others = torch.tensor([margins for _, margins in queries]).transpose(1, 2)  # [Q, K - 1, P]
    margins = torch.cat([torch.zeros(len(queries), 1, others.shape[2]), others], 1)
    ranks = 1 + (others > 0).sum(1) + 0.5 * (others == 0).sum(1)
    return Sample(relations, margins, torch.ones(margins.shape[:2]), ranks)


def fit(sample: Sample, relations: int = 2) -> Weights:
    parts = sample.ranks.shape[1]
    default = Weights(torch.ones(len(ROLES), relations + 1, parts), torch.ones(len(ROLES), parts))
    return fit_weights({Role.OBJECT: sample}, default)


def mrr(sample: Sample, weights: Weights) -> float:
    factors = weights.weight[_OBJECT][sample.relation] / weights.temperature[_OBJECT]
    mixed = (sample.margins[:, 1:] * factors[:, None]).sum(-1)
    return float((1 / (1 + (mixed > 0).sum(1) + 0.5 * (mixed == 0).sum(1))).mean())


def test_two_half_right_parts_are_right_together() -> None:
    # Each part excludes one of two wrong candidates and slightly prefers the other one.
    sample = sample_of(*[(0, [[0.2, -2.0], [-2.0, 0.2]])] * 4)
    assert mrr(sample, fit(sample)) == 1
    assert sample.ranks.tolist() == [[2, 2]] * 4


def test_a_misleading_part_does_no_harm() -> None:
    sample = sample_of(*[(0, [[-1.0, -1.0], [5.0, 5.0]])] * 4, *[(0, [[-0.1, -3.0], [5.0, 5.0]])] * 4)
    assert mrr(sample, fit(sample)) == 1


def test_relations_have_weights_of_their_own() -> None:
    first, second = (0, [[-1.0], [3.0]]), (1, [[3.0], [-1.0]])
    many = sample_of(*[first] * 40, *[second] * 30)
    assert mrr(many, fit(many)) == 1
    for number in (1, 3, 9, 27):
        weight = fit(sample_of(*[first] * 40, *[second] * number)).weight[_OBJECT]
        of_first, of_second, common = (weight[:, 1] / weight.sum(1)).tolist()  # the shares of the second part
        assert of_first < common < of_second


def test_scores_become_as_sure_as_they_are_right() -> None:
    # A candidate that is 1 higher or lower is right in three of four cases: odds of 3 need a factor of log 3.
    sample = sample_of(*[(0, [[-1.0], [-1.0]])] * 75, *[(0, [[1.0], [1.0]])] * 25)
    weights = fit(sample)
    factor = (weights.weight[_OBJECT, 0] / weights.temperature[_OBJECT]).sum()
    assert float(factor) == pytest.approx(math.log(3), rel=1e-3)
    assert weights.temperature[_OBJECT].tolist() == pytest.approx([1 / math.log(3)] * 2, rel=1e-3)


def test_other_roles_and_parts_that_cannot_predict_are_left_alone() -> None:
    sample = sample_of((0, [[-1.0], [2.0], [0.0]]))
    sample = sample._replace(ranks=torch.tensor([[1.0, 2.0, torch.inf]]))
    weights = fit(sample)
    assert (weights.weight[_OBJECT, :, 2] == 0).all()
    assert (weights.weight[ROLES.index(Role.SUBJECT)] == 1).all()


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
def test_mixes_include_each_part_alone(parts: int) -> None:
    tried = mixes(parts)
    torch.testing.assert_close(tried.sum(1), torch.ones(len(tried)))
    assert torch.equal(tried[:parts], torch.eye(parts))
    assert len(tried) < 1000
    assert torch.equal(tried, mixes(parts))


@pytest.mark.parametrize("scale", [0.1, 0.5, 2.0, 7.0])
@pytest.mark.parametrize("parts", [2, 3, 4])
def test_the_scale_of_a_part_means_nothing(parts: int, scale: float) -> None:
    values = torch.randn(200, parts, 5, generator=torch.Generator().manual_seed(parts)) - 1
    values += torch.randn(200, 1, 5, generator=torch.Generator().manual_seed(9))  # all parts err together
    mixed = []
    for factor in (1.0, scale):
        scaled = values * torch.tensor([factor, *[1.0] * (parts - 1)])[:, None]
        sample = sample_of(*[(number % 2, scaled[number].tolist()) for number in range(200)])
        weights = fit(sample)
        assert weights.temperature[_OBJECT].log2().abs().max() < 6
        mixed.append(weights.weight[_OBJECT])
    torch.testing.assert_close(*mixed, rtol=1e-2, atol=1e-2)
