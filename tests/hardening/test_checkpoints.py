"""Checkpoints of a stranger: every tensor and every number is checked before it is used."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from runs.small import PATIENCE, small_data, small_recipe, start, train_in
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from nary.files.manifest import write_manifest
from nary.runs import resume
from nary.training.callbacks import Callback, StepReport
from nary.training.checkpoint import CheckpointError
from nary.training.trainer import Trainer

Change = Callable[[dict[str, Tensor]], dict[str, Tensor]]


class StopAt(Callback):
    """Ends the process of training in the middle, as a kill does, but with a checkpoint."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_step(self, trainer: Trainer, report: StepReport) -> None:
        if report.step == self.step:
            trainer.checkpoints.save(trainer.model, trainer.optimizer, trainer.state)
            raise KeyboardInterrupt


@pytest.fixture
def halfway(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The run folder of a training that was stopped after its sixth step."""
    data = small_data()
    recipe = small_recipe(data, **getattr(request, "param", {}))
    with pytest.raises(KeyboardInterrupt):
        train_in(tmp_path / "run", data, recipe, StopAt(6))
    return tmp_path / "run"


def newest(run: Path) -> Path:
    return max((run / "checkpoints").glob("step-*"))


def rewrite(path: Path, change: Change = dict, state: str | None = None) -> None:
    """Replace the checkpoint at ``path`` by one with other tensors, or with another state, and right checksums."""
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = file.metadata() or {}
    save_file(change(tensors), path, metadata if state is None else {"state": state})
    write_manifest(path.parent)


def one_number_each(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: torch.zeros(1) if "exp_avg" in name else tensor for name, tensor in tensors.items()}


def test_memory_corruption_from_a_strangers_run_folder(halfway: Path) -> None:
    """Moments of one number each made the fused optimizer write past their ends and the process crash."""
    rewrite(newest(halfway), one_number_each)
    process = start("train", "--resume", halfway)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "is of shape (1,), not" in err
    assert "Traceback" not in err


def changed(suffix: str, value: Callable[[Tensor], Tensor]) -> Change:
    """Another value for the first tensor whose name ends in ``suffix``."""

    def change(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        name = next(name for name in tensors if name.endswith(suffix))
        return {**tensors, name: value(tensors[name])}

    return change


def without(suffix: str) -> Change:
    return lambda tensors: {name: tensor for name, tensor in tensors.items() if not name.endswith(suffix)}


@pytest.mark.parametrize("halfway", [{"training__optimizer": name} for name in ("adam", "adagrad")], indirect=True)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed("step", lambda _: torch.zeros(2)), r"step is of shape \(2,\), not \(\)"),
        (changed("step", lambda step: step.double()), r"is of torch.float64, not torch.float32"),
        (changed("step", lambda step: step * torch.nan), "holds what is no number"),
        (without("step"), "step is missing"),
        (changed("embedding", lambda table: table[:-1].clone()), "is of shape"),
        (changed("embedding", lambda table: table.half()), "is of torch.float16"),
        (without("embedding"), "is missing"),
        (lambda tensors: {**tensors, "optimizer.0.extra": torch.zeros(1)}, "extra is missing, or not part"),
        (lambda tensors: {**tensors, "optimizer.99.step": torch.zeros(())}, "or not part"),
        (lambda tensors: {**tensors, "other": torch.zeros(3)}, "or not part"),
    ],
)
def test_every_tensor_of_a_checkpoint_is_checked(halfway: Path, change: Change, message: str) -> None:
    rewrite(newest(halfway), change)
    with pytest.raises(CheckpointError, match=message):
        resume(halfway)


@pytest.mark.parametrize(
    "state",
    [
        "",
        "[]",
        "{}",
        '{"step": 7}',
        '{"step": -6}',
        '{"step": "6"}',
        '{"step": 6, "seconds": "long"}',
        '{"step": 6, "best": [1]}',
        "[" * 100_000,
    ],
)
def test_the_state_in_a_checkpoint_is_checked(halfway: Path, state: str) -> None:
    rewrite(newest(halfway), state=state)
    with pytest.raises(CheckpointError, match="damaged checkpoint, or not one of this run"):
        resume(halfway)
