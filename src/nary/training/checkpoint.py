"""Checkpoints: everything a resumed run needs to go on exactly, written so that a kill at any moment loses nothing.

A checkpoint is one safetensors file: weights, both moments of the optimiser, and as metadata the step and what the loop
remembers. It is written under a temporary name and renamed; the one before stays until the new one is complete. The
order of the data and the random numbers of a step follow from seed and step, so they need not be kept.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from nary.data.files import atomic_path
from nary.errors import NaryError
from nary.training.optimiser import Optimiser

_SUFFIX = ".safetensors"


class CheckpointError(NaryError):
    """A checkpoint cannot be read, or does not belong to this run."""

    kind = "checkpoint"


@dataclass
class Progressed:
    """How far a run is, and the best validation so far."""

    step: int = 0
    seconds: float = 0.0
    best: float | None = None
    best_step: int = 0
    since_best: int = 0


class Checkpoints:
    """The checkpoints of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, model: nn.Module, optimiser: Optimiser, progressed: Progressed) -> None:
        """Write a checkpoint; older ones but the last go when it is complete."""
        tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
        for number, parameter in enumerate(optimiser.parameters):
            for name, value in optimiser.adam.state.get(parameter, {}).items():
                tensors[f"optimiser.{number}.{name}"] = value
        path = self.folder / f"step-{progressed.step:09d}{_SUFFIX}"
        _write(tensors, vars(progressed), path)
        for old in self._paths()[:-2]:
            with suppress(OSError):
                old.unlink()

    def save_best(self, model: nn.Module, progressed: Progressed) -> None:
        """Keep these weights as the best so far."""
        _write(dict(model.state_dict()), {"step": progressed.step}, self.folder / f"best{_SUFFIX}")

    def restore(self, model: nn.Module, optimiser: Optimiser) -> Progressed:
        """Put the newest checkpoint that can be read into ``model`` and ``optimiser``; start anew if there is none."""
        problem: CheckpointError | None = None
        for path in reversed(self._paths()):
            try:
                tensors, found = _read(path)
            except CheckpointError as error:
                problem = error
                continue
            model.load_state_dict({k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")})
            for number, parameter in enumerate(optimiser.parameters):
                prefix = f"optimiser.{number}."
                state = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
                if state:
                    optimiser.adam.state[parameter] = state
            return Progressed(**found)
        if problem is not None:
            raise problem
        return Progressed()

    def restore_best(self, model: nn.Module) -> None:
        """Put the best weights into ``model``."""
        model.load_state_dict(_read(self.folder / f"best{_SUFFIX}")[0])

    def newest_step(self) -> int:
        """The step of the newest checkpoint, 0 if there is none."""
        return int(self._paths()[-1].stem.removeprefix("step-")) if self._paths() else 0

    def _paths(self) -> list[Path]:
        return sorted(self.folder.glob(f"step-*{_SUFFIX}"))


def _write(tensors: dict[str, Tensor], found: dict[str, Any], path: Path) -> None:
    with atomic_path(path) as temporary:
        save_file(
            {name: tensor.detach().contiguous() for name, tensor in tensors.items()},
            temporary,
            metadata={"progressed": orjson.dumps(found).decode()},
        )
        with temporary.open("rb") as file:
            os.fsync(file.fileno())  # the name must not appear before the content is on the disk


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            return {name: file.get_tensor(name) for name in file.keys()}, orjson.loads(metadata["progressed"])  # noqa: SIM118
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise CheckpointError(
            f"damaged checkpoint: {error}", "Remove it to go on from an earlier one.", str(path)
        ) from None
