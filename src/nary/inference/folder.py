"""The model folder: everything needed to use a model, and nothing that could be executed.

``config.json`` (format version, model and its settings, recipe), ``model.safetensors``, ``vocabulary.json`` with
labels, ``facts/`` with the known facts as a Parquet file per split, ``metrics.json`` (a list of reports) and
``README.md`` (the model card). Anything wrong with a folder is a :class:`ModelFolderError`, raised before anything
large is allocated.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from nary.config import Settings, validate_settings
from nary.data.dataset import SPLITS, Dataset
from nary.data.files import atomic_path
from nary.errors import NaryError
from nary.evaluation.protocol import Protocol
from nary.evaluation.report import Report
from nary.facts.storage import load_table_parquet, load_vocabulary, save_table_parquet, save_vocabulary
from nary.models.base import DatasetInfo, Model
from nary.models.registry import MODELS
from nary.models.weights import write_tensors
from nary.recipe import Recipe
from nary.version import __version__

FORMAT = 1
CONFIG_FILE = "config.json"
METRICS_FILE = "metrics.json"
CARD_FILE = "README.md"
_WEIGHTS = "model.safetensors"
_SIZES = ("num_entities", "num_relations", "max_arity")


class ModelFolderError(NaryError):
    """A model folder is not one, is damaged, or comes from a newer version."""

    kind = "model"


@dataclass(frozen=True)
class Description:
    """What ``config.json`` says: the recipe of the model, and the dataset it was trained on."""

    dataset: str
    fingerprint: str
    sizes: dict[str, int]
    recipe: Recipe


_AGAIN = "Get the folder again."


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Report what goes wrong in reading and validating the file at ``path`` as damage of that file.

    Only file access and validation belong in the body: a bug in the code of a model must not look like a damaged file.
    """
    try:
        yield
    except ModelFolderError:
        raise
    except NaryError as error:
        raise ModelFolderError(error.message, error.hint or _AGAIN, error.file or str(path)) from None
    except (OSError, ValueError, SafetensorError) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> ModelFolderError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return ModelFolderError(f"damaged: {reason}", _AGAIN, str(path))


def _sizes(info: DatasetInfo) -> dict[str, int]:
    return {name: getattr(info, name) for name in _SIZES}


def save_description(folder: Path, dataset: Dataset, recipe: Recipe) -> None:
    """Write all that is known before training into ``folder``, which must not exist."""
    with atomic_path(folder) as temporary:
        (temporary / "facts").mkdir(parents=True)
        config = {
            "format": FORMAT,
            "nary": __version__,
            "dataset": dataset.name,
            "fingerprint": dataset.fingerprint,
            "sizes": _sizes(recipe.dataset_info(dataset)),
            "recipe": recipe.as_tables(),
        }
        (temporary / CONFIG_FILE).write_bytes(orjson.dumps(config, option=orjson.OPT_INDENT_2))
        save_vocabulary(dataset.vocabulary, temporary / "vocabulary.json")
        for split, table in dataset.splits.items():
            save_table_parquet(table, temporary / "facts" / f"{split}.parquet")


def save_weights(folder: Path, model: Model) -> None:
    """Write the weights of ``model``."""
    write_tensors(model.state_dict(), folder / _WEIGHTS)


def read_description(folder: Path) -> Description:
    """What kind of model is in ``folder``."""
    path = folder / CONFIG_FILE
    if not path.is_file():
        raise ModelFolderError(f"{folder} is no model or run folder: it has no {CONFIG_FILE}", "nary train makes one.")
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
        types = {"dataset": str, "fingerprint": str, "sizes": dict, "recipe": dict}
        for name, expected in types.items():
            if not isinstance(config.get(name), expected):
                raise ValueError(f"{name} is missing or of the wrong type")
        recipe = Recipe.from_tables(config["recipe"], str(path))
        return Description(config["dataset"], config["fingerprint"], config["sizes"], recipe)


def load_dataset(folder: Path, description: Description | None = None) -> Dataset:
    """The vocabulary and the known facts in ``folder``; ``description`` if its config.json has been read already."""
    description = description or read_description(folder)
    with reading(folder):
        paths = {split: folder / "facts" / f"{split}.parquet" for split in SPLITS}
        splits = {split: load_table_parquet(path) for split, path in paths.items() if path.is_file()}
        dataset = Dataset(description.dataset, load_vocabulary(folder / "vocabulary.json"), splits)
        if dataset.fingerprint != description.fingerprint:
            raise ModelFolderError("its vocabulary or facts are not those it was made with", _AGAIN, str(folder))
        if description.sizes != _sizes(description.recipe.dataset_info(dataset)):
            raise ModelFolderError(
                "its sizes are not those of its vocabulary and facts", _AGAIN, str(folder / CONFIG_FILE)
            )
        _check_ids(dataset)
    return dataset


def _check_ids(dataset: Dataset) -> None:
    num_entities, num_relations = len(dataset.vocabulary.entities), len(dataset.vocabulary.relations)
    for split, table in dataset.splits.items():
        for block in table.blocks:
            for ids, size in ((block.entities, num_entities), (block.relations, num_relations)):
                if ids.min() < 0 or ids.max() >= size:
                    raise ValueError(f"a fact in {split} holds an id that is not in the vocabulary")


def load_module(folder: Path, recipe: Recipe, dataset: Dataset) -> Model:
    """The model in ``folder``, ready to use, on the CPU."""
    path, info = folder / _WEIGHTS, recipe.dataset_info(dataset)
    if not path.is_file():
        raise ModelFolderError(
            f"{folder} has no weights yet", "Has training finished? nary train --resume RUN continues it."
        )
    with reading(path):
        shapes = _read_shapes(path)
    if shapes or _has_weights(recipe.model_name, info):
        with reading(path):
            _check_settings(recipe.model, shapes)
    outline = _outline(path, recipe, info)
    with reading(path):
        weights = _read_weights(path, outline, shapes)
    model = MODELS.get(recipe.model_name)(recipe.model, info)
    model.load_state_dict(weights)
    return model.eval()


def _read_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """The shapes of the tensors, from the header of the file."""
    with safe_open(path, framework="pt") as file:
        return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118


def _check_settings(settings: Settings, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse settings of a model that is larger than its weights, and perhaps too large even to be outlined."""
    largest = max((len(shapes), *(side for shape in shapes.values() if 0 not in shape for side in shape)))
    for key, value in settings:
        if isinstance(value, int) and value > largest:
            raise ValueError(f"model.{key} is {value:,}, and the weights are of a smaller model")


def _has_weights(model_name: str, info: DatasetInfo) -> bool:
    """Whether models of that name have weights; if not, their integer settings are thresholds, not sizes."""
    model = MODELS.get(model_name)
    with torch.device("meta"):
        return bool(model(model.settings_class(), info).state_dict())


def _outline(path: Path, recipe: Recipe, info: DatasetInfo) -> Model:
    """The model without memory for its weights."""
    try:
        with torch.device("meta"):
            return MODELS.get(recipe.model_name)(recipe.model, info)
    except NaryError as error:  # settings that do not go together
        raise ModelFolderError(error.message, error.hint or _AGAIN, error.file or str(path)) from None


def _read_weights(path: Path, outline: Model, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Tensor]:
    """The tensors in the file, once its header is known to fit the model."""
    expected = outline.state_dict()
    if strange := set(expected) ^ set(shapes):
        raise ValueError(f"{min(strange)} is missing, or not part of this model")
    for name, tensor in expected.items():
        if tuple(tensor.shape) != shapes[name]:
            raise ValueError(f"{name} is of shape {shapes[name]}, not {tuple(tensor.shape)}")
    with safe_open(path, framework="pt") as file:
        weights = {name: file.get_tensor(name) for name in shapes}
    for name, tensor in expected.items():
        if tensor.dtype != weights[name].dtype:
            raise ValueError(f"{name} is of {weights[name].dtype}, not {tensor.dtype}")
        if not weights[name].isfinite().all():
            raise ValueError(f"{name} holds what is no number")
    return weights


class _StoredReport(Settings):
    """A report as ``metrics.json`` holds it."""

    dataset: str
    split: str
    protocol: Protocol
    metrics: dict[str, dict[str, int | float]]
    notes: list[str]


def load_reports(folder: Path) -> list[Report]:
    """The reports in ``metrics.json``: the newest for each split and protocol; none if there is no such file.

    A metric that a report lacks, because it is older than the metric, is absent.
    """
    path = folder / METRICS_FILE
    if not path.exists():
        return []
    with reading(path):
        content = orjson.loads(path.read_bytes())
        if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
            raise ValueError("it is no list of reports")
        stored = [validate_settings(_StoredReport, one, "report") for one in content]
    return [Report(one.dataset, one.split, one.protocol, one.metrics, one.notes) for one in stored]


def save_reports(folder: Path, reports: Sequence[Report]) -> None:
    """Write ``metrics.json``."""
    content = orjson.dumps([report.as_dict() for report in reports], option=orjson.OPT_INDENT_2)
    with atomic_path(folder / METRICS_FILE) as temporary:
        temporary.write_bytes(content)


def with_report(reports: Sequence[Report], report: Report) -> list[Report]:
    """``reports`` with ``report`` instead of an older one for the same split and protocol."""

    def key(one: Report) -> object:
        return one.split, one.protocol.as_dict()

    return [*(old for old in reports if key(old) != key(report)), report]


def save_card(folder: Path, text: str, before: str | None = None) -> None:
    """Write the model card; with ``before``, only if the card is still that text, so that edits are kept."""
    path = folder / CARD_FILE
    if before is not None and path.is_file() and path.read_bytes() != before.encode():
        return
    with atomic_path(path) as temporary:
        temporary.write_bytes(text.encode())
