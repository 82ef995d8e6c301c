"""The model folder: everything needed to use a model, and nothing that could be executed.

``config.json`` (format version, model and its settings, recipe), ``model.safetensors``, ``vocabulary.json`` with
labels, in ``facts/`` the known facts as Parquet, a file a split; ``metrics.json`` and ``README.md`` are those of
:mod:`nary.inference.reports`. Whatever is wrong with a folder is a :class:`ModelFolderError`, before anything large is
made of it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from nary.config import Settings, validate_settings
from nary.data.dataset import SPLITS, Dataset
from nary.data.files import atomic_path
from nary.errors import NaryError
from nary.facts.storage import load_table_parquet, load_vocabulary, save_table_parquet, save_vocabulary
from nary.models.contract import Model, Sizes
from nary.models.registry import find
from nary.models.weights import write_tensors
from nary.version import __version__

FORMAT = 1
CONFIG = "config.json"
_WEIGHTS = "model.safetensors"


class ModelFolderError(NaryError):
    """A model folder is not one, is damaged, or comes from a newer version."""

    kind = "model"


@dataclass(frozen=True)
class Described:
    """What ``config.json`` says; ``recipe`` holds the tables of the recipe, if the model comes from one."""

    dataset: str
    fingerprint: str
    sizes: Sizes
    settings: Settings
    recipe: dict[str, Any] | None

    @property
    def model(self) -> str:
        """The name of the model."""
        return str(self.settings.name)  # type: ignore[attr-defined]


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Whatever goes wrong in the body is the fault of the file at ``path``."""
    try:
        yield
    except ModelFolderError:
        raise
    except NaryError as error:
        raise ModelFolderError(error.message, error.hint or _AGAIN, error.file or str(path)) from None
    except (OSError, ArithmeticError, LookupError, RuntimeError, SafetensorError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ModelFolderError(f"damaged: {reason}", _AGAIN, str(path)) from None


_AGAIN = "Get the folder again."


def sizes_of(dataset: Dataset) -> Sizes:
    """The sizes a model of ``dataset`` needs."""
    arities = [block.arity for table in dataset.splits.values() for block in table.blocks]
    return Sizes(len(dataset.vocabulary.entities), len(dataset.vocabulary.relations), max(arities))


def save_description(
    folder: Path, dataset: Dataset, settings: Settings, recipe: Mapping[str, Any] | None = None
) -> None:
    """Write all that is known before training into ``folder``, which must not exist."""
    with atomic_path(folder) as temporary:
        (temporary / "facts").mkdir(parents=True)
        config = {
            "format": FORMAT,
            "nary": __version__,
            "dataset": dataset.name,
            "fingerprint": dataset.fingerprint,
            "sizes": asdict(sizes_of(dataset)),
            "model": settings.model_dump(),
            "recipe": None if recipe is None else {name: recipe[name] for name in recipe if name != "model"},
        }
        (temporary / CONFIG).write_bytes(orjson.dumps(config, option=orjson.OPT_INDENT_2))
        save_vocabulary(dataset.vocabulary, temporary / "vocabulary.json")
        for split, table in dataset.splits.items():
            save_table_parquet(table, temporary / "facts" / f"{split}.parquet")


def save_weights(folder: Path, model: Model) -> None:
    """Write the weights of ``model``."""
    write_tensors(model.state_dict(), folder / _WEIGHTS)


def read_description(folder: Path) -> Described:
    """What kind of model is in ``folder``."""
    path = folder / CONFIG
    if not path.is_file():
        raise ModelFolderError(f"{folder} is no model or run folder: it has no {CONFIG}", "nary train makes one.")
    with reading(path):
        config = orjson.loads(path.read_bytes())
        if not isinstance(config, dict) or type(config.get("format")) is not int:
            raise ValueError("it is not the description of a model")
        if config["format"] > FORMAT:
            raise ModelFolderError(
                f"written by a newer version of Nary (format {config['format']}, {config.get('nary')})",
                "Update Nary: pip install --upgrade nary",
                str(path),
            )
        strings = {name: config.get(name) for name in ("dataset", "fingerprint")}
        parts = {name: config.get(name) for name in ("sizes", "model")}
        wrong = [name for name, value in strings.items() if not isinstance(value, str)]
        wrong += [name for name, value in parts.items() if not isinstance(value, dict)]
        if wrong:
            raise ValueError(f"{wrong[0]} is missing or of the wrong kind")
        settings = validate_settings(
            find(str(config["model"].get("name"))).settings, config["model"], "model", str(path)
        )
        recipe = config.get("recipe")
        tables = None if recipe is None else {**recipe, "model": config["model"]}
        return Described(config["dataset"], config["fingerprint"], Sizes(**config["sizes"]), settings, tables)


def load_dataset(folder: Path, described: Described | None = None) -> Dataset:
    """The vocabulary and the known facts in ``folder``; ``described`` if its config.json has been read already."""
    described = described or read_description(folder)
    with reading(folder):
        paths = {split: folder / "facts" / f"{split}.parquet" for split in SPLITS}
        splits = {split: load_table_parquet(path) for split, path in paths.items() if path.is_file()}
        dataset = Dataset(described.dataset, load_vocabulary(folder / "vocabulary.json"), splits)
        if dataset.fingerprint != described.fingerprint:
            raise ModelFolderError("its vocabulary or facts are not those it was made with", _AGAIN, str(folder))
        if described.sizes != sizes_of(dataset):
            raise ModelFolderError("its sizes are not those of its vocabulary and facts", _AGAIN, str(folder / CONFIG))
        _check_ids(dataset)
    return dataset


def _check_ids(dataset: Dataset) -> None:
    sizes = sizes_of(dataset)
    for split, table in dataset.splits.items():
        for block in table.blocks:
            for ids, size in ((block.entities, sizes.entities), (block.relations, sizes.relations)):
                if ids.min() < 0 or ids.max() >= size:
                    raise ValueError(f"a fact in {split} holds an id that is not in the vocabulary")


def load_model(folder: Path, described: Described, dataset: Dataset) -> Model:
    """The model in ``folder``, ready to use."""
    path, sizes = folder / _WEIGHTS, sizes_of(dataset)
    if not path.is_file():
        raise ModelFolderError(
            f"{folder} has no weights yet", "Was the training finished? nary train --resume RUN goes on."
        )
    with reading(path):
        weights = _read_weights(path, described.settings, sizes)
        model = find(described.model).make(described.settings, sizes)
        model.load_state_dict(weights)
    return model.eval()


def _read_weights(path: Path, settings: Settings, sizes: Sizes) -> dict[str, Tensor]:
    """The tensors in the file, once its header and the settings are known to mean the same model."""
    with safe_open(path, framework="pt") as file:
        shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
        expected = _outline(settings, sizes, shapes)
        weights = {name: file.get_tensor(name) for name in shapes}
    for name, tensor in expected.state_dict().items():
        if tensor.dtype != weights[name].dtype:
            raise ValueError(f"{name} is of {weights[name].dtype}, not {tensor.dtype}")
        if not weights[name].isfinite().all():
            raise ValueError(f"{name} holds what is no number")
    return weights


def _outline(settings: Settings, sizes: Sizes, shapes: Mapping[str, tuple[int, ...]]) -> Model:
    """The model of ``settings`` without memory for its weights, which must have these ``shapes``."""
    largest = max((len(shapes), *(side for shape in shapes.values() if 0 not in shape for side in shape)))
    for key, value in settings:
        if isinstance(value, int) and value > largest:  # such a model could not even be outlined
            raise ValueError(f"model.{key} is {value:,}, and the weights are of a smaller model")
    with torch.device("meta"):
        model = find(str(settings.name)).make(settings, sizes)  # type: ignore[attr-defined]
    if strange := set(model.state_dict()) ^ set(shapes):
        raise ValueError(f"{min(strange)} is missing, or not part of this model")
    for name, parameter in model.named_parameters():  # buffers may grow with the facts
        if tuple(parameter.shape) != shapes[name]:
            raise ValueError(f"{name} is of shape {shapes[name]}, not {tuple(parameter.shape)}")
    return model
