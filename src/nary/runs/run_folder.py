"""The run folder: the recipe, the log, the checkpoints and the model of one training run.

``recipe.toml`` (every setting written out), ``log.txt``, ``metrics.jsonl``, ``checkpoints/`` and ``model/``: everything
a resumed run needs.
"""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import orjson

from nary.config import read_toml
from nary.data.dataset import Dataset
from nary.data.io.mapped import is_mapped
from nary.errors import NaryWarning, OutputError, SettingError
from nary.files.locks import folder_lock
from nary.files.manifest import MANIFEST, record, write_manifest
from nary.files.reading import read_bytes
from nary.files.writing import atomic_path
from nary.inference import folder as model_folder
from nary.recipe import Recipe
from nary.runs.hub import download, is_hub_address
from nary.runs.trained_model import TrainedModel, resolve_device

RECIPE = "recipe.toml"
MODEL = "model"
METRICS = "metrics.jsonl"


class RunFolder:
    """The folder at ``path``, which must hold a run: :meth:`create` makes one."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._descriptor: int | None = None
        if not is_run_folder(self.path):
            raise SettingError(
                f"{path} is not a run folder: it has no {RECIPE}", "nary train DATA --out RUN creates one."
            )
        for part in (self.model_path, self.checkpoints_path):
            if part.is_symlink():  # a stranger's folder must not tell where to write
                raise SettingError(f"{part} is a link", "Put the folder that it leads to in its place.")

    @classmethod
    def create(cls, path: Path, dataset: Dataset, recipe: Recipe) -> "RunFolder":
        """Write everything but weights: recipe, vocabulary and facts."""
        check_free(path)
        with atomic_path(path) as temporary:
            model_folder.save_description(temporary / MODEL, dataset, recipe)
            (temporary / RECIPE).write_text(recipe.as_toml(), encoding="utf-8")
            write_manifest(temporary / MODEL)
            write_manifest(temporary)
        return cls(path)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only process that trains here; an error if another one does."""
        with folder_lock(self.path):
            self._descriptor = os.open(self.path, os.O_RDONLY) if os.name == "posix" else None
            try:
                yield
            finally:
                if self._descriptor is not None:
                    os.close(self._descriptor)
                    self._descriptor = None

    def is_present(self) -> bool:
        """Whether the folder is still the one that was locked, with the recipe and the description in it."""
        try:
            here = self.path.stat()
        except OSError:
            return False
        same = self._descriptor is None or os.path.samestat(here, os.fstat(self._descriptor))
        return same and is_run_folder(self.path) and (self.model_path / model_folder.CONFIG_FILE).is_file()

    def check_present(self) -> None:
        """Raise an error unless the folder is present."""
        if not self.is_present():
            raise OutputError(f"{self.path} was removed, or replaced, during the training")

    def check_files(self) -> None:
        """Compare what a resumed training reads with the manifest; an edited recipe is said, and accepted."""
        model_folder.check_files(self.model_path, weights=False)
        if edits := self.edits():
            warnings.warn(f"{self.path / RECIPE} was edited: {'; '.join(edits)}", NaryWarning, stacklevel=3)
            record(self.path, [RECIPE])

    def edits(self) -> list[str]:
        """How the recipe differs from that in the model folder, which is the one the model was trained with."""
        old, new = model_folder.read_description(self.model_path).recipe.as_tables(), self.recipe.as_tables()
        keys = [(table, key) for table in new for key in {**old.get(table, {}), **new[table]}]
        values = [(f"{table}.{key}", old.get(table, {}).get(key), new[table].get(key)) for table, key in keys]
        return [f"{key} is {after!r}, was {before!r}" for key, before, after in values if before != after]

    def __repr__(self) -> str:
        return f"RunFolder({str(self)!r})"

    def __str__(self) -> str:
        return str(self.path)

    @cached_property
    def recipe(self) -> Recipe:
        """The recipe of the run."""
        return Recipe.from_tables(read_toml(self.path / RECIPE), str(self.path / RECIPE))

    @property
    def model_path(self) -> Path:
        """The model folder of the run."""
        return self.path / MODEL

    @property
    def checkpoints_path(self) -> Path:
        """Where the checkpoints are."""
        return self.path / "checkpoints"

    def load_dataset(self, given: Dataset | None = None) -> Dataset:
        """The dataset of the run: the one ``given`` if it is the same, which may be mapped; else the stored one."""
        if given is not None:
            description = model_folder.read_description(self.model_path)
            if (given.name, given.fingerprint) == (description.dataset, description.fingerprint):
                return given
        return model_folder.load_dataset(self.model_path)

    def records(self) -> list[dict[str, Any]]:
        """What training has logged in ``metrics.jsonl``; a kill may have cut the last line off."""
        path = self.path / METRICS
        if not path.exists():
            return []
        records = []
        with model_folder.reading(path):
            for line in read_bytes(path).splitlines():
                with suppress(orjson.JSONDecodeError):
                    records.append(orjson.loads(line))
        return [record for record in records if isinstance(record, dict) and isinstance(record.get("step"), int)]

    @property
    def seconds(self) -> float | None:
        """The training time, by the last line of the log; None if nothing was timed."""
        times = [record["seconds"] for record in self.records() if "seconds" in record]
        return round(times[-1], 1) if times else None


def is_run_folder(path: Path) -> bool:
    """Whether ``path`` holds a run."""
    return (path / RECIPE).is_file()


def check_free(path: Path) -> None:
    """Refuse to create a run where something else is."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        resumable = ", or go on with nary train --resume" if is_run_folder(path) else ""
        raise OutputError(f"{path} exists and is not an empty folder", f"Choose another --out{resumable}.")


def free_path(dataset: str, model: str) -> Path:
    """A path under ``runs/`` for a new run, named after dataset and model."""
    names = (f"{dataset}-{model}" + (f"-{number}" if number > 1 else "") for number in count(1))
    return next(path for name in names if not (path := Path("runs") / name).exists())


def model_path_of(path: str | Path) -> Path:
    """The model folder that a run folder, a model folder or an address on the hub means."""
    if is_hub_address(path):
        return download(str(path))
    return RunFolder(path).model_path if is_run_folder(Path(path)) else Path(path)


def verified_folders(path: Path) -> list[Path]:
    """The folders with a manifest that make up a run, a model or a dataset, the whole last; also new ones of a run."""
    inner = {manifest.parent for manifest in path.rglob(MANIFEST)}
    if is_run_folder(path):
        run = RunFolder(path)
        inner |= {part for part in (run.model_path, run.checkpoints_path) if part.is_dir()}
    elif not is_mapped(path):
        model_folder.read_description(path)
    return [*sorted(inner - {path}, key=lambda part: (-len(part.parts), part)), path]


def load_model(path: str | Path, device: str = "auto", verify: bool = True) -> TrainedModel:
    """Load a trained model from a run folder, a model folder or the Hugging Face Hub.

    Args:
        path: The folder, or an address such as ``"hf://owner/name"`` or ``"hf://owner/name@revision"``.
        device: Where to compute: ``"auto"`` takes an accelerator if there is one.
        verify: Compare all files with their checksums in the manifest; a file that was changed is an error.

    """
    target = resolve_device(device)
    folder = model_path_of(path)
    if verify:
        model_folder.check_files(folder)
    description = model_folder.read_description(folder)
    if verify and is_run_folder(Path(path)) and (edits := RunFolder(path).edits()):
        warnings.warn(
            f"{Path(path) / RECIPE} was edited after training: {'; '.join(edits)}; "
            "the model is used as it was trained, and nary train --resume applies the changes",
            NaryWarning,
            stacklevel=2,
        )
    dataset = model_folder.load_dataset(folder, description)
    module = model_folder.load_module(folder, description.recipe, dataset).to(target)
    reports = model_folder.load_reports(folder)
    digest = model_folder.weights_digest(folder)
    return TrainedModel(module, dataset, description.recipe, reports, digest, description.updates)
