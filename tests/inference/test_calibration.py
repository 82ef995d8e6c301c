"""The temperature: by hand where it can be solved, and the law that no other one is better."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from nary.inference.calibration import fit_temperature


def _loss(scores: Tensor, answers: Tensor, temperature: float) -> float:
    return float(torch.nn.functional.cross_entropy(scores / temperature, answers))


@pytest.mark.parametrize(("gap", "right"), [(1.0, 3), (4.0, 3), (0.2, 3), (2.0, 2)])
def test_by_hand(gap: float, right: int) -> None:
    # two candidates, the first always ahead by `gap` and right in `right` of 4 queries: sigmoid(gap / T) = right / 4
    scores = torch.tensor([[gap, 0.0]] * 4)
    answers = torch.tensor([0] * right + [1] * (4 - right))
    share = right / 4
    expected = 64.0 if right == 2 else gap / math.log(share / (1 - share))  # a coin: as unsure as possible
    assert fit_temperature(scores, answers) == pytest.approx(expected, rel=1e-2)


def test_scores_that_tell_nothing_or_the_wrong_thing_give_the_highest_temperature() -> None:
    assert fit_temperature(torch.tensor([[3.0, 0.0]] * 5), torch.ones(5, dtype=torch.int64)) == 64


def test_scores_that_are_always_right_give_the_lowest() -> None:
    assert fit_temperature(torch.tensor([[3.0, 0.0]] * 5), torch.zeros(5, dtype=torch.int64)) < 0.2


@given(st.integers(0, 10_000), st.floats(0.2, 5))
def test_no_temperature_nearby_is_better_and_scaling_scores_scales_it(seed: int, factor: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(200, 7, generator=generator)
    answers = torch.multinomial((scores * 1.5).softmax(-1), 1, generator=generator)[:, 0]
    found = fit_temperature(scores, answers)
    best = _loss(scores, answers, found)
    assert all(best <= _loss(scores, answers, found * other) + 1e-6 for other in (0.8, 0.95, 1.05, 1.25))
    assert fit_temperature(scores * factor, answers) == pytest.approx(found * factor, rel=1e-2)
