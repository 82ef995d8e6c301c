"""Checkpoints: everything that resuming exactly needs, written so that a kill at any point loses nothing.

A checkpoint is one safetensors file: weights, the optimizer state, and the :class:`TrainState` as metadata. It is
written under a temporary name and renamed; the previous one stays until the new one is complete. The order of the data
and the random numbers of a step follow from seed and step, so they are not stored.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from nary.errors import NaryError
from nary.models.weights import write_tensors
from nary.training.optimizer import Optimizer

_SUFFIX = ".safetensors"


class CheckpointError(NaryError):
    """A checkpoint cannot be read, or does not belong to this run."""

    kind = "checkpoint"


@dataclass
class TrainState:
    """How far a training is, and its best validation so far."""

    step: int = 0
    seconds: float = 0.0
    best: float | None = None
    best_step: int = 0
    since_best: int = 0
    """Validations since the best one."""
    interrupted: bool = False
    """Whether Ctrl-C ended the training before its last step."""


class Checkpoints:
    """The checkpoints of a training in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, model: nn.Module, optimizer: Optimizer, state: TrainState) -> None:
        """Write a checkpoint, then remove all but the newest two."""
        tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
        for number, (inner, parameter) in enumerate(optimizer.state_items):
            for name, value in inner.state.get(parameter, {}).items():
                if value is not None:  # optional state that this optimizer does not use
                    tensors[f"optimizer.{number}.{name}"] = value
        path = self.folder / f"step-{state.step:09d}{_SUFFIX}"
        write_tensors(tensors, path, _metadata(vars(state)))
        for old in self._paths()[:-2]:
            with suppress(OSError):
                old.unlink()

    def save_best(self, model: nn.Module, state: TrainState) -> None:
        """Store the weights as the best so far."""
        path = self.folder / f"best{_SUFFIX}"
        write_tensors(model.state_dict(), path, _metadata({"step": state.step}))

    def restore(self, model: nn.Module, optimizer: Optimizer) -> TrainState:
        """Load the newest readable checkpoint into ``model`` and ``optimizer``; a new state if there is none."""
        self._clear()
        damage: CheckpointError | None = None
        for path in reversed(self._paths()):
            try:
                tensors, state = _read(path)
            except CheckpointError as error:
                damage = error
                continue
            _load(model, _with_prefix("model.", tensors), path)
            for number, (inner, parameter) in enumerate(optimizer.state_items):
                if moments := _with_prefix(f"optimizer.{number}.", tensors):
                    inner.state[parameter] = {k: v.to(parameter.device) for k, v in moments.items()}
            return TrainState(**state)
        if damage is not None:
            raise damage
        return TrainState()

    def restore_best(self, model: nn.Module) -> None:
        """Load the best weights into ``model``."""
        path = self.folder / f"best{_SUFFIX}"
        _load(model, _read(path)[0], path)

    def newest_step(self) -> int:
        """The step of the newest readable checkpoint, 0 if there is none."""
        for path in reversed(self._paths()):
            with suppress(CheckpointError):
                return int(_read(path)[1]["step"])
        return 0

    def _clear(self) -> None:
        """Remove half-written files that a kill has left behind."""
        for path in self.folder.glob(".tmp-*"):
            with suppress(OSError):
                path.unlink()

    def _paths(self) -> list[Path]:
        return sorted(self.folder.glob(f"step-*{_SUFFIX}"))


class MemoryCheckpoints(Checkpoints):
    """Only the best weights, in memory: for a training that writes nothing and is not resumed."""

    def __init__(self) -> None:
        self._best: dict[str, Tensor] = {}

    def save(self, model: nn.Module, optimizer: Optimizer, state: TrainState) -> None:
        """Do nothing."""

    def save_best(self, model: nn.Module, state: TrainState) -> None:
        """Copy the weights as the best so far."""
        self._best = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    def restore(self, model: nn.Module, optimizer: Optimizer) -> TrainState:
        """A new state."""
        return TrainState()

    def restore_best(self, model: nn.Module) -> None:
        """Load the best weights into ``model``."""
        model.load_state_dict(self._best)

    def newest_step(self) -> int:
        """Always 0."""
        return 0


def _metadata(state: dict[str, Any]) -> dict[str, str]:
    return {"state": orjson.dumps(state).decode()}


def _with_prefix(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _load(model: nn.Module, weights: dict[str, Tensor], path: Path) -> None:
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise CheckpointError(
            f"not a checkpoint of this run: {str(error).splitlines()[0]}", "Remove it to start again.", str(path)
        ) from None


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            return {name: file.get_tensor(name) for name in file.keys()}, orjson.loads(metadata["state"])  # noqa: SIM118
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise CheckpointError(
            f"damaged checkpoint: {error}", "Remove it to go on from an earlier one.", str(path)
        ) from None
