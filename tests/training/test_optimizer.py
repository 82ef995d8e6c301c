"""The schedule by hand, and a step against Adam written out."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from nary.training.optimizer import Optimizer, learning_rate_at
from nary.training.settings import TrainingSettings

PUBLISHED = TrainingSettings()


def test_the_published_schedule_by_hand() -> None:
    rates = [learning_rate_at(step, 1000, PUBLISHED) for step in (0, 1, 50, 99, 100, 500, 999)]
    assert rates == pytest.approx([0, 5e-6, 2.5e-4, 4.95e-4, 4.5e-4, 2.5e-4, 5e-7], rel=1e-12)


def test_on_jf17k_the_rate_drops_where_the_warm_up_ends() -> None:
    before, after = (learning_rate_at(step, 48_916, PUBLISHED) for step in (4_891, 4_892))
    assert before == pytest.approx(5e-4, rel=2e-4)
    assert after == pytest.approx(4.5e-4, rel=2e-4)


def test_without_the_jump_the_line_starts_at_the_peak() -> None:
    settings = TrainingSettings(warmup_jump=False)
    rates = [learning_rate_at(step, 1000, settings) for step in (0, 50, 100, 550, 999)]
    assert rates == pytest.approx([0, 2.5e-4, 5e-4, 2.5e-4, 5e-4 / 900], rel=1e-12)


def test_without_a_warm_up_it_starts_at_the_peak() -> None:
    assert learning_rate_at(0, 10, TrainingSettings(warmup_ratio=0.0)) == 5e-4


@given(
    steps=st.integers(1, 2000),
    share=st.floats(0, 1, exclude_max=True),
    warmup=st.floats(0, 0.99),
    jump=st.booleans(),
)
def test_the_rate_stays_between_nothing_and_its_peak(steps: int, share: float, warmup: float, jump: bool) -> None:
    rate = learning_rate_at(int(share * steps), steps, TrainingSettings(warmup_ratio=warmup, warmup_jump=jump))
    assert 0 <= rate <= 5e-4 * (1 + 1e-9)


class ByHand:
    """The published update, in double precision."""

    def __init__(self, parameters: list[Tensor], settings: TrainingSettings, steps: int) -> None:
        self.values = [p.detach().double().clone() for p in parameters]
        self.settings, self.steps = settings, steps
        self.first = [torch.zeros_like(v) for v in self.values]
        self.second = [torch.zeros_like(v) for v in self.values]

    def step(self, gradients: list[Tensor], step: int) -> None:
        settings, t = self.settings, step + 1
        norm = math.sqrt(sum(float((g.double() ** 2).sum()) for g in gradients))
        shrink = min(1.0, settings.max_grad_norm / norm) if settings.max_grad_norm else 1.0
        rate = learning_rate_at(step, self.steps, settings)
        for i, gradient in enumerate(gradients):
            g = shrink * gradient.double()
            self.first[i] = 0.9 * self.first[i] + 0.1 * g
            self.second[i] = 0.999 * self.second[i] + 0.001 * g**2
            decayed = settings.weight_decay_on == "all" or g.dim() > 1
            decay = settings.weight_decay * rate * self.values[i] if decayed else 0
            mean = self.first[i] / (1 - 0.9**t)
            if settings.adam_epsilon_on == "uncorrected":
                correction = math.sqrt(1 - 0.999**t)
                size = (self.second[i].sqrt() + settings.adam_epsilon) / correction
            else:
                size = (self.second[i] / (1 - 0.999**t)).sqrt() + settings.adam_epsilon
            self.values[i] = self.values[i] - decay - rate * mean / size


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"max_grad_norm": 0.0},
        {"max_grad_norm": 100.0},
        {"weight_decay_on": "matrices"},
        {"adam_epsilon_on": "corrected"},
        {"weight_decay": 0.0},
        {"adam_epsilon": 1e-3},
    ],
    ids=lambda changed: next(iter(changed.items()), "published"),
)
def test_steps_are_those_of_adam_by_hand(changed: dict[str, Any]) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3), nn.LayerNorm(3))
    settings = TrainingSettings(learning_rate=0.05, **changed)
    optimizer = Optimizer(model, settings, steps=20)
    by_hand = ByHand(optimizer.parameters, settings, steps=20)
    start = [p.detach().clone() for p in optimizer.parameters]
    for step in range(20):
        for number, parameter in enumerate(optimizer.parameters):
            parameter.grad = 10 ** (-number) * torch.randn_like(parameter)
        by_hand.step([p.grad for p in optimizer.parameters if p.grad is not None], step)
        optimizer.step(step)
        assert all(p.grad is None for p in optimizer.parameters)
    for parameter, expected, before in zip(optimizer.parameters, by_hand.values, start, strict=True):
        assert not torch.allclose(parameter, before, atol=1e-3)
        torch.testing.assert_close(parameter.detach().double(), expected, rtol=0, atol=1e-6)


class WithEntities(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.entity_embedding = nn.Parameter(torch.ones(3, 2))
        self.inner = nn.ModuleDict({"entity": nn.Linear(2, 2)})


def test_vectors_of_entities_have_a_rate_of_their_own() -> None:
    steps = {}
    for factor in (1.0, 4.0):
        torch.manual_seed(0)
        model = WithEntities()
        optimizer = Optimizer(
            model, TrainingSettings(warmup_ratio=0.0, weight_decay=0.0, entity_lr_scale=factor), steps=10
        )
        before = [parameter.detach().clone() for parameter in optimizer.parameters]
        for parameter in optimizer.parameters:
            parameter.grad = torch.ones_like(parameter)
        optimizer.step(0)
        steps[factor] = [old - new.detach() for old, new in zip(before, optimizer.parameters, strict=True)]
    torch.testing.assert_close(steps[4.0][0], 4 * steps[1.0][0])
    assert all(torch.equal(one, other) for one, other in zip(steps[1.0][1:], steps[4.0][1:], strict=True))


def test_the_first_step_changes_nothing() -> None:
    model = nn.Linear(2, 2)
    before = model.weight.detach().clone()
    optimizer = Optimizer(model, PUBLISHED, steps=100)
    for parameter in optimizer.parameters:
        parameter.grad = torch.ones_like(parameter)
    optimizer.step(0)
    assert torch.equal(model.weight, before)


def test_an_exponential_rate_falls_after_each_epoch() -> None:
    settings = TrainingSettings(learning_rate=0.1, epochs=4, lr_scheduler="exponential", lr_gamma=0.5)
    assert [learning_rate_at(step, 8, settings) for step in range(8)] == [
        0.1,
        0.1,
        0.05,
        0.05,
        0.025,
        0.025,
        0.0125,
        0.0125,
    ]


@pytest.mark.parametrize(("name", "twin"), [("adagrad", torch.optim.Adagrad), ("sgd", torch.optim.SGD)])
def test_other_optimizers_step_as_torch_does(name: str, twin: type[torch.optim.Optimizer]) -> None:
    torch.manual_seed(0)
    mine, theirs = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    theirs.load_state_dict(mine.state_dict())
    settings = TrainingSettings.model_validate(
        {
            "optimizer": name,
            "learning_rate": 0.1,
            "epochs": 3,
            "lr_scheduler": "exponential",
            "lr_gamma": 1.0,
            "weight_decay": 0.0,
            "max_grad_norm": 0.0,
        }
    )
    ours, other = Optimizer(mine, settings, 3), twin(theirs.parameters(), lr=0.1)  # type: ignore[call-arg]
    for step in range(3):
        x = torch.randn(5, 3)
        for model in (mine, theirs):
            model(x).square().sum().backward()
        ours.step(step)
        other.step()
        other.zero_grad()
    torch.testing.assert_close(list(mine.parameters()), list(theirs.parameters()))
