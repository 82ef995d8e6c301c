"""The run folder: the recipe, the log, the checkpoints and the model of one training run.

``recipe.toml`` (every setting written out), ``log.txt``, ``metrics.jsonl``, ``checkpoints/`` and ``model/``: everything
a resumed run needs.
"""

from contextlib import suppress
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import orjson

from nary.config import read_toml
from nary.data.dataset import Dataset
from nary.data.files import atomic_path
from nary.errors import OutputError, SettingError
from nary.inference import folder as model_folder
from nary.recipe import Recipe
from nary.runs.trained_model import TrainedModel, resolve_device

RECIPE = "recipe.toml"
MODEL = "model"
METRICS = "metrics.jsonl"


class RunFolder:
    """The folder at ``path``, which must hold a run: :meth:`create` makes one."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not is_run_folder(self.path):
            raise SettingError(
                f"{path} is not a run folder: it has no {RECIPE}", "nary train DATA --out RUN creates one."
            )

    @classmethod
    def create(cls, path: Path, dataset: Dataset, recipe: Recipe) -> "RunFolder":
        """Write everything but weights: recipe, vocabulary and facts."""
        check_free(path)
        with atomic_path(path) as temporary:
            model_folder.save_description(temporary / MODEL, dataset, recipe)
            (temporary / RECIPE).write_text(recipe.as_toml(), encoding="utf-8")
        return cls(path)

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

    def load_dataset(self) -> Dataset:
        """The dataset of the run, from the model folder."""
        return model_folder.load_dataset(self.model_path)

    def records(self) -> list[dict[str, Any]]:
        """What training has logged in ``metrics.jsonl``; a kill may have cut the last line off."""
        path = self.path / METRICS
        records = []
        for line in path.read_bytes().splitlines() if path.is_file() else []:
            with suppress(orjson.JSONDecodeError):
                records.append(orjson.loads(line))
        return records


def is_run_folder(path: Path) -> bool:
    """Whether ``path`` holds a run."""
    return (path / RECIPE).is_file()


def check_free(path: Path) -> None:
    """Refuse to create a run where something else is."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise OutputError(f"{path} exists and is not an empty folder", "Choose another --out, or use --resume.")


def free_path(dataset: str, model: str) -> Path:
    """A path under ``runs/`` for a new run, named after dataset and model."""
    names = (f"{dataset}-{model}" + (f"-{number}" if number > 1 else "") for number in count(1))
    return next(path for name in names if not (path := Path("runs") / name).exists())


def model_path_of(path: str | Path) -> Path:
    """The model folder that a run folder or a model folder means."""
    return Path(path) / MODEL if is_run_folder(Path(path)) else Path(path)


def load_model(path: str | Path, device: str = "auto") -> TrainedModel:
    """Load a trained model from a run folder or a model folder.

    ``device`` is where it computes: ``"auto"`` takes an accelerator if there is one.
    """
    target = resolve_device(device)
    folder = model_path_of(path)
    description = model_folder.read_description(folder)
    dataset = model_folder.load_dataset(folder, description)
    recipe = RunFolder(path).recipe if is_run_folder(Path(path)) else description.recipe
    module = model_folder.load_module(folder, recipe, dataset).to(target)
    return TrainedModel(module, dataset, recipe, model_folder.load_reports(folder))
