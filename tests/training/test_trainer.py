"""The trainer: phases of an alternation, and training in memory."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from contracts.info import info_of
from runs.small import small_data
from torch import Tensor, nn
from training.small import OnStep, loss_of

from nary.config import Settings
from nary.models.alternation import Alternation, Phase
from nary.models.base import DatasetInfo, Kind, Model
from nary.models.batch import Batch
from nary.models.gran import Gran, GranSettings
from nary.training.batches import TrainingBatches
from nary.training.callbacks import Callback, StepReport
from nary.training.checkpoint import Checkpoints
from nary.training.optimizer import Optimizer
from nary.training.settings import TrainingSettings
from nary.training.trainer import Trainer


class Two(Model):
    """Two numbers: the loss wants both at zero, the phase wants their sum at ten and may change the second."""

    name = "two"

    def __init__(self) -> None:
        super().__init__(Settings(), info_of(1, 1, 2))
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


def steps_of(model: Two) -> list[tuple[float, float, float]]:
    """Learning rate, and how far each number went, of every step."""
    steps, before = [], [1.0, 1.0]

    def note(report: StepReport) -> None:
        now = [model.first.item(), model.second.item()]
        steps.append((report.learning_rate, *(after - old for after, old in zip(now, before, strict=True))))
        before[:] = now

    batches = TrainingBatches(small_data().train, SETTINGS)
    Trainer(model, batches, loss_of(), SETTINGS, callbacks=[OnStep(note)]).fit()
    return steps  # type: ignore[return-value]


def test_a_phase_has_its_own_loss_rate_and_parameters() -> None:
    batches = TrainingBatches(small_data().train, SETTINGS)
    for step, (rate, first, second) in enumerate(steps_of(Two())):
        if step * 32 // len(batches) % 2:
            assert (rate, first) == (0.25, 0)
            assert second > 0.1
        else:
            assert rate == 0.01
            assert first == pytest.approx(second, abs=1e-6) != 0  # no gradient of a phase is left over


def test_the_adam_of_a_phase_goes_on_in_the_next_round() -> None:
    model = Two()
    (phase,) = model.alternation().phases
    optimizer = Optimizer(model, SETTINGS, 10, [phase])
    for step, current in enumerate([phase, None, None, phase]):
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        optimizer.step(step, current)
    remembered = [int(inner.state[parameter]["step"]) for inner, parameter in optimizer.state_items]
    assert remembered == [2, 2, 2]  # of the loss: both numbers; of the phase: the second


def trained(
    checkpoints: Checkpoints | None,
    validate: Callable[[], float] | None = None,
    callbacks: Sequence[Callback] = (),
    **changed: Any,
) -> Trainer:
    """A small GRAN, trained."""
    data = small_data()
    settings = TrainingSettings.model_validate(
        {"epochs": 3, "batch_size": 32, "learning_rate": 0.01, "precision": "fp32", **changed}
    )
    torch.manual_seed(0)
    model = Gran(GranSettings(num_layers=1, num_heads=2, hidden_dim=16, ffn_dim=16), DatasetInfo.from_dataset(data))
    batches = TrainingBatches(data.train, settings)
    trainer = Trainer(model, batches, loss_of(), settings, checkpoints, validate=validate, callbacks=callbacks)
    trainer.fit()
    return trainer


def same_weights(one: Trainer, other: Trainer) -> bool:
    return all(torch.equal(*both) for both in zip(one.model.parameters(), other.model.parameters(), strict=True))


def test_without_checkpoints_it_trains_to_the_same_weights(tmp_path: Path) -> None:
    in_memory, on_disk = trained(None), trained(Checkpoints(tmp_path))
    assert same_weights(in_memory, on_disk)
    assert in_memory.state.step == on_disk.state.step == on_disk.num_steps > 0
    assert list(tmp_path.glob("step-*"))


def scripted(scores: list[float]) -> Callable[[], float]:
    """A validation that returns one score after the other."""
    remaining = iter(scores)
    return lambda: next(remaining)


def test_without_checkpoints_it_stops_early_with_the_best_weights(tmp_path: Path) -> None:
    changed = {"epochs": 9, "eval_every": 1, "patience": 2}
    scores = [0.1, 0.3, 0.2, 0.3, 0.9]
    in_memory, on_disk = (
        trained(checkpoints, scripted(scores), **changed) for checkpoints in (None, Checkpoints(tmp_path))
    )
    assert same_weights(in_memory, on_disk)
    state = in_memory.state
    assert (state.best, state.since_best, state.interrupted) == (0.3, 2, False)
    assert state.best_step < state.step < in_memory.num_steps
    assert not same_weights(in_memory, trained(None, **{**changed, "eval_every": 0, "patience": 0}))
