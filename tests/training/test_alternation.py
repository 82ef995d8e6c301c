"""Training in turns: which epoch does what, and that a phase changes nothing but its own parameters."""

from pathlib import Path

import pytest
import torch
from contracts.info import info_of
from hypothesis import given
from hypothesis import strategies as st
from runs.small import small_data
from torch import Tensor, nn

from nary.config import Settings
from nary.models.alternation import Alternation, Phase
from nary.models.base import Kind, Model
from nary.models.batch import Batch
from nary.training.checkpoint import Checkpoints
from nary.training.instances import Instances
from nary.training.loop import StepReport, Training
from nary.training.optimizer import Optimizer
from nary.training.settings import TrainingSettings


def phase_of(epochs: int, rate: float = 0.1, parameters: tuple[nn.Parameter, ...] = ()) -> Phase:
    return Phase(epochs, lambda batch: torch.zeros(()), parameters, rate)


def test_rounds_follow_each_other() -> None:
    first, second = phase_of(2), phase_of(1)
    found = Alternation(3, (first, second))
    a_round = [None, None, None, first, first, second]
    assert [found.at(epoch) for epoch in range(14)] == [*a_round, *a_round, None, None]


@given(st.integers(1, 5), st.lists(st.integers(0, 4), max_size=4), st.integers(0, 100))
def test_a_round_has_every_phase_for_its_epochs(epochs: int, lengths: list[int], start: int) -> None:
    phases = [phase_of(length) for length in lengths]
    found = Alternation(epochs, phases)
    one = [found.at(epoch) for epoch in range(start, start + epochs + sum(lengths))]
    assert one.count(None) == epochs
    assert [one.count(phase) for phase in phases] == lengths


class Two(Model):
    """Two numbers: the objective wants both at zero, the phase wants their sum at ten and may change the second."""

    name = "two"

    def __init__(self) -> None:
        super().__init__(Settings(), info_of())
        self.first, self.second = (nn.Parameter(torch.ones(1)) for _ in range(2))

    def encode(self, batch: Batch) -> Tensor:
        return (self.first + self.second).expand(len(batch), 1)

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        return torch.arange(40.0)[:, None], torch.zeros(40)

    def alternation(self) -> Alternation:
        return Alternation(1, [Phase(1, self.far, [self.second], 0.25)])

    def far(self, batch: Batch) -> Tensor:
        return (self.first + self.second - 10).abs().sum()


SETTINGS = TrainingSettings(
    epochs=4,
    batch_size=32,
    learning_rate=0.01,
    lr_scheduler="exponential",
    lr_gamma=1.0,
    weight_decay=0.0,
    precision="fp32",
)


def steps_of(model: Two, folder: Path) -> list[tuple[float, float, float]]:
    """Rate, and how far each number went, of every step."""
    found, before = [], [1.0, 1.0]

    def note(report: StepReport) -> None:
        now = [model.first.item(), model.second.item()]
        found.append((report.rate, *(after - old for after, old in zip(now, before, strict=True))))
        before[:] = now

    folder.mkdir()
    instances = Instances(small_data().train, SETTINGS)
    Training(model, instances, SETTINGS, Checkpoints(folder), torch.device("cpu"), listener=note).run()
    return found


def test_a_phase_has_its_own_loss_rate_and_parameters(tmp_path: Path) -> None:
    instances = Instances(small_data().train, SETTINGS)
    found = steps_of(Two(), tmp_path / "checkpoints")
    for step, (rate, first, second) in enumerate(found):
        if step * 32 // len(instances) % 2:
            assert (rate, first) == (0.25, 0)
            assert second > 0.1
        else:
            assert rate == 0.01
            assert first == pytest.approx(second, abs=1e-6) != 0  # no gradient of a phase is left over


def test_the_adam_of_a_phase_goes_on_in_the_next_round() -> None:
    model = Two()
    (phase,) = model.alternation().phases
    optimizer = Optimizer(model, SETTINGS, 10, [phase])
    for step, own in enumerate([phase, None, None, phase]):
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        optimizer.step(step, own)
    remembered = [int(inner.state[parameter]["step"]) for inner, parameter in optimizer.state_items]
    assert remembered == [2, 2, 2]  # of the objective: both numbers; of the phase: the second
