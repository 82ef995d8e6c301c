"""Dropout from random bytes."""

import torch

from nary.models.layers import Dropout


def test_it_drops_at_its_rate_and_keeps_the_mean() -> None:
    torch.manual_seed(0)
    ones = torch.ones(400_000)
    dropped = Dropout(0.3)(ones)
    assert abs(float((dropped == 0).float().mean()) - 77 / 256) < 0.003  # 0.3 is rounded to 77 of 256
    assert set(dropped.unique().tolist()) == {0.0, float(torch.tensor(256 / 179))}
    assert abs(float(dropped.mean()) - 1) < 0.005


def test_every_byte_of_a_random_word_is_fair() -> None:
    torch.manual_seed(0)
    kept = (Dropout(0.5)(torch.ones(80_000)) > 0).float().view(-1, 8)
    assert (kept.mean(0) - 0.5).abs().max() < 0.02


def test_gradients_flow_through_what_is_kept() -> None:
    x = torch.randn(5, 7, requires_grad=True)
    out = Dropout(0.5)(x)
    out.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad == 0, out == 0)


def test_it_does_nothing_outside_training_or_at_rate_zero() -> None:
    x = torch.randn(11)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x


def test_equal_seeds_drop_equally() -> None:
    x = torch.randn(1000)
    first = torch.manual_seed(3) and Dropout(0.2)(x)
    assert torch.equal(first, torch.manual_seed(3) and Dropout(0.2)(x))
