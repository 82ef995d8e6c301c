"""Checkpoints: everything that resuming exactly needs, written so that a kill at any point loses nothing.

A checkpoint is one safetensors file: weights, the optimizer state, and the :class:`TrainState` as metadata. It is
written under a temporary name and renamed; the previous one stays until the new one is complete. The order of the data
and the random numbers of a step follow from seed and step, so they are not stored.

Of several workers each also writes a file with its rows of the entity tables. Any number of workers, or a process
without others, can go on from there.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter
from safetensors import SafetensorError
from torch import Tensor, nn

from nary.errors import NaryError, NaryWarning
from nary.files.manifest import (
    Entry,
    FolderUpdate,
    IntegrityError,
    check_file,
    digest,
    read_manifest,
    updating,
    write_manifest,
)
from nary.files.writing import atomic_path, remove, reporting, temporary_path
from nary.models.base import Model
from nary.models.weights import read_metadata, read_shapes, read_tensors, write_tensors
from nary.training.distributed.shards import SHARDS, ShardReader, entity_tensors, shard_name, shard_names, step_of_shard
from nary.training.distributed.tables import ShardedTables
from nary.training.distributed.whole import write_whole
from nary.training.optimizer import Optimizer
from nary.workers import ALONE, Workers

_SUFFIX = ".safetensors"
_BEST = f"best{_SUFFIX}"
_MAX_WORKERS = 100_000


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


_STATE = TypeAdapter(TrainState)


class Checkpoints:
    """The checkpoints of a training in a folder, which all ``workers`` can reach.

    ``verify`` compares those that are loaded with their checksums; ``check`` is called before anything is written, and
    may raise an error.
    """

    def __init__(
        self,
        folder: Path,
        verify: bool = True,
        check: Callable[[], None] = lambda: None,
        workers: Workers = ALONE,
    ) -> None:
        self.folder = folder
        self._verify = verify
        self._check_place = check
        self._workers = workers

    def save(self, model: nn.Module, optimizer: Optimizer, state: TrainState) -> None:
        """Write a checkpoint, then remove all but it and the one before."""
        tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
        for number, (inner, parameter) in enumerate(optimizer.state_items):
            for name, value in inner.state.get(parameter, {}).items():
                if value is not None:  # optional state that this optimizer does not use
                    tensors[f"optimizer.{number}.{name}"] = value
        shards = self._save_rows(model, optimizer, state, tensors)
        if not self._workers.is_first:
            return
        name = f"{_stem(state)}{_SUFFIX}"
        with self._updating() as update:
            write_tensors(tensors, update.path(name), _metadata(vars(state), self._workers.size))
            for shard, entry in shards.items():
                update.add(shard, entry)
            kept = [name, *[path.name for path in self._paths() if path.name < name][-1:]]
            for path in self._paths():
                if path.name not in kept:
                    update.remove(path.name)
            self._remove_rows(update, kept)

    def _remove_rows(self, update: FolderUpdate, kept: list[str]) -> None:
        """Remove the files of workers that belong to no checkpoint."""
        listed = read_manifest(self.folder) or {}
        for path in self.folder.glob(SHARDS):
            belongs = path.name in listed and any(step_of_shard(path.name) in one for one in kept)
            if not belongs and path.name not in update.added:
                update.remove(path.name)

    def _save_rows(
        self, model: nn.Module, optimizer: Optimizer, state: TrainState, tensors: dict[str, Tensor]
    ) -> dict[str, Entry]:
        """Write the rows of this worker, which leave ``tensors``; the files of all workers, at the first one."""
        if self._workers.size == 1 or not isinstance(model, Model):
            return {}
        if self._workers.is_first:
            self._make_folder()
        self._workers.wait()
        name = shard_name(state.step, self._workers)
        rows = {tensor: tensors.pop(tensor) for tensor in entity_tensors(model, optimizer) if tensor in tensors}
        with atomic_path(self.folder / name) as temporary:
            write_tensors(rows, temporary)
            entry = digest(temporary)
        entries = self._workers.bytes_to_first(orjson.dumps([entry.size, entry.sha256]))
        names = shard_names(state.step, self._workers.size)
        return {name: Entry(*orjson.loads(content)) for name, content in zip(names, entries, strict=False)}

    def save_best(self, model: nn.Module, state: TrainState, written: Path | None = None) -> None:
        """Store the weights as the best so far; of several workers they are ``written`` already."""
        if not self._workers.is_first:
            return
        with self._updating() as update:
            if written is None:
                write_tensors(model.state_dict(), update.path(_BEST), _metadata({"step": state.step}))
            else:
                written.replace(update.path(_BEST))

    @contextmanager
    def whole(self, tables: ShardedTables, state: TrainState) -> Iterator[Path]:
        """The weights of all workers in a file, which is there until the end of the block."""
        if self._workers.is_first:
            self._make_folder()
        name = temporary_path(self.folder / _BEST).name if self._workers.is_first else ""
        path = self.folder / self._workers.from_first(name.encode()).decode()
        try:
            with reporting(path):
                write_whole(tables, path, _metadata({"step": state.step}))
            yield path
        finally:
            if self._workers.is_first:
                remove(path)

    def restore(self, model: nn.Module, optimizer: Optimizer) -> TrainState:
        """Load the newest usable checkpoint into ``model`` and ``optimizer``; a new state if there is none.

        A damaged one gives way to the one before, with a warning.
        """
        damage: CheckpointError | None = None
        for path in self._candidates():
            error = None
            try:
                self._check(path)
                state = _read_state(path)
                tensors = self._read(path, model, optimizer)
            except CheckpointError as one:
                error = one
            (damaged,) = self._workers.any(error is not None)
            if damaged:
                damage = damage or error or CheckpointError("damaged: another worker cannot read it", None, str(path))
                continue
            if damage is not None:
                warnings.warn(f"{damage.file}: {damage.message}; going on from {path.name}", NaryWarning, stacklevel=2)
            model.load_state_dict(_with_prefix("model.", tensors))
            for number, (inner, parameter) in enumerate(optimizer.state_items):
                if moments := _with_prefix(f"optimizer.{number}.", tensors):
                    inner.state[parameter] = {k: v.to(parameter.device) for k, v in moments.items()}
            return state
        if damage is not None:
            raise damage
        return TrainState()

    def _candidates(self) -> list[Path]:
        """The checkpoints, newest first, as the first worker sees them."""
        names = sorted({path.name for path in (*self._paths(), *self._listed())}, reverse=True)
        return [self.folder / name for name in orjson.loads(self._workers.from_first(orjson.dumps(names)))]

    def _read(self, path: Path, model: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
        """The tensors of a checkpoint, of which this worker keeps its rows, whoever has written it."""
        size = _num_workers(path)
        if (size == 1 and self._workers.size == 1) or not isinstance(model, Model):
            return _read(path, _expected(path, model, optimizer))
        paths = [self.folder / name for name in shard_names(_read_state(path).step, size)] if size > 1 else []
        expected = _expected(path, model, optimizer, paths[:1])
        reader = ShardReader(expected, entity_tensors(model, optimizer), model.info.num_entities, self._workers)
        if size == 1:
            tensors = _read(path, {**expected, **reader.of_worker(ALONE)})
            reader.take(tensors, ALONE)
        else:
            tensors = _read(path, {name: tensor for name, tensor in expected.items() if name not in reader.rows})
            with _reading(path):
                reader.read(paths, self._check)
        return tensors | reader.rows

    def restore_best(self, model: nn.Module) -> None:
        """Load the best weights into ``model``."""
        model.load_state_dict(self.best(model.state_dict()))

    def best(self, expected: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The best weights, of the names, shapes and types of ``expected``, mapped into memory."""
        path = self.folder / _BEST
        self._check(path)
        return _read(path, expected)

    def _updating(self) -> AbstractContextManager[FolderUpdate]:
        self._make_folder()
        return updating(self.folder)

    def _make_folder(self) -> None:
        self._check_place()
        if not self.folder.is_dir():
            with reporting(self.folder):
                self.folder.mkdir()
            write_manifest(self.folder)

    def _check(self, path: Path) -> None:
        """Refuse a checkpoint that is not as it was written."""
        if self._verify and (entries := read_manifest(self.folder)) is not None:
            with _reading(path):
                check_file(path, entries.get(path.name))

    def _listed(self) -> list[Path]:
        """The checkpoints that should be there."""
        entries = (read_manifest(self.folder) or {}) if self._verify else {}
        pending = {name for name, entry in entries.items() if entry.before == ""}
        return [self.folder / name for name in entries if name.startswith("step-") and name not in pending]

    def _paths(self) -> list[Path]:
        return sorted(self.folder.glob(f"step-*{_SUFFIX}"))


class MemoryCheckpoints(Checkpoints):
    """Only the best weights, in memory: for a training that writes nothing and is not resumed."""

    def __init__(self) -> None:
        self._workers = ALONE
        self._best: dict[str, Tensor] = {}

    def save(self, model: nn.Module, optimizer: Optimizer, state: TrainState) -> None:
        """Do nothing."""

    def save_best(self, model: nn.Module, state: TrainState, written: Path | None = None) -> None:
        """Copy the weights as the best so far."""
        self._best = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    def restore(self, model: nn.Module, optimizer: Optimizer) -> TrainState:
        """A new state."""
        return TrainState()

    def restore_best(self, model: nn.Module) -> None:
        """Load the best weights into ``model``."""
        model.load_state_dict(self._best)


def _stem(state: TrainState) -> str:
    return f"step-{state.step:09d}"


def _metadata(state: dict[str, Any], num_workers: int = 1) -> dict[str, str]:
    workers = {"workers": str(num_workers)} if num_workers > 1 else {}
    return {"state": orjson.dumps(state).decode(), **workers}


def _with_prefix(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, SafetensorError, KeyError, ValueError, IntegrityError) as error:
        reason = error.message if isinstance(error, IntegrityError) else error
        raise CheckpointError(
            f"damaged checkpoint, or not one of this run: {reason}", "Remove it to start again.", str(path)
        ) from None


def _read_state(path: Path) -> TrainState:
    with _reading(path):
        state = _STATE.validate_json(read_metadata(path)["state"], strict=True)
        if state.step < 0 or path.stem != _stem(state):
            raise ValueError(f"it holds step {state.step}")
        return state


def _num_workers(path: Path) -> int:
    """How many workers have written a checkpoint."""
    with _reading(path):
        count = int(read_metadata(path).get("workers", 1))
        if not 1 <= count <= _MAX_WORKERS:
            raise ValueError(f"it says that {count} workers have written it")
        return count


def _expected(path: Path, model: nn.Module, optimizer: Optimizer, shards: Iterable[Path] = ()) -> dict[str, Tensor]:
    """The tensors of a checkpoint. Parameters whose phase of training has not begun have no optimizer state."""
    expected = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    with _reading(path):
        names = {name for file in (path, *shards) for name in read_shapes(file)}
    for number, (inner, parameter) in enumerate(optimizer.state_items):
        prefix = f"optimizer.{number}."
        if any(name.startswith(prefix) for name in names):
            kept = optimizer.expected_state(inner, parameter)
            expected |= {f"{prefix}{name}": tensor for name, tensor in kept.items()}
    return expected


def _read(path: Path, expected: Mapping[str, Tensor]) -> dict[str, Tensor]:
    with _reading(path):
        return read_tensors(path, expected)
