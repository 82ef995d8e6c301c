"""Checkpoints: what they hold, and which are kept. Resuming whole runs is tested with the runs."""

from pathlib import Path

import pytest
import torch
from torch import nn

from nary.training.checkpoint import CheckpointError, Checkpoints, MemoryCheckpoints, TrainState
from nary.training.optimizer import Optimizer
from nary.training.settings import TrainingSettings

SETTINGS = TrainingSettings(warmup_ratio=0.0)


def stepped(steps: int) -> tuple[nn.Module, Optimizer]:
    """A small model after so many steps."""
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = Optimizer(model, SETTINGS, 10)
    for step in range(steps):
        model(torch.ones(1, 3)).square().sum().backward()
        optimizer.step(step)
    return model, optimizer


def test_weights_optimizer_and_state_come_back(tmp_path: Path) -> None:
    model, optimizer = stepped(3)
    state = TrainState(3, 1.5, 0.25, 2, 1)
    Checkpoints(tmp_path).save(model, optimizer, state)
    other, fresh = stepped(0)
    assert Checkpoints(tmp_path).restore(other, fresh) == state
    assert torch.equal(model.weight, other.weight)  # type: ignore[arg-type]
    for (one, mine), (two, theirs) in zip(optimizer.state_items, fresh.state_items, strict=True):
        assert one.state[mine].keys() == two.state[theirs].keys()
        assert all(torch.equal(one.state[mine][key], two.state[theirs][key]) for key in one.state[mine])


def test_the_newest_two_are_kept_and_the_newest_is_taken(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    assert checkpoints.restore(*stepped(0)) == TrainState()
    for step in (1, 2, 3):
        checkpoints.save(*stepped(step), TrainState(step))
    assert [path.stem for path in sorted(tmp_path.iterdir())] == ["step-000000002", "step-000000003"]
    assert checkpoints.restore(*stepped(0)).step == 3


def test_a_damaged_one_gives_way_to_the_one_before(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    for step in (1, 2):
        checkpoints.save(*stepped(step), TrainState(step))
    newest = tmp_path / "step-000000002.safetensors"
    newest.write_bytes(newest.read_bytes()[:-10])
    assert checkpoints.restore(*stepped(0)).step == 1
    (tmp_path / "step-000000001.safetensors").write_bytes(b"")
    with pytest.raises(CheckpointError, match="damaged checkpoint"):
        checkpoints.restore(*stepped(0))


@pytest.mark.parametrize("in_memory", [True, False])
def test_the_best_weights_come_back(in_memory: bool, tmp_path: Path) -> None:
    checkpoints = MemoryCheckpoints() if in_memory else Checkpoints(tmp_path)
    model, optimizer = stepped(1)
    best = model.weight.detach().clone()  # type: ignore[operator]
    checkpoints.save_best(model, TrainState(1))
    model(torch.ones(1, 3)).square().sum().backward()
    optimizer.step(1)
    assert not torch.equal(model.weight, best)  # type: ignore[arg-type]
    checkpoints.restore_best(model)
    assert torch.equal(model.weight, best)  # type: ignore[arg-type]


def test_in_memory_nothing_is_resumed() -> None:
    checkpoints = MemoryCheckpoints()
    checkpoints.save(*stepped(2), TrainState(2))
    assert checkpoints.restore(*stepped(0)) == TrainState()
