"""The model folder: everything needed to use a model, and nothing that could be executed.

``config.json`` (format version, model and its settings), ``model.safetensors``, ``vocabulary.json`` with labels, and in
``facts/`` the known facts as Parquet, a file a split.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
from safetensors import SafetensorError
from safetensors.torch import load_file

from nary.config import Settings, validated
from nary.data.dataset import SPLITS, Dataset
from nary.data.files import atomic_path
from nary.errors import NaryError
from nary.facts.storage import load_table_parquet, load_vocabulary, save_table_parquet, save_vocabulary
from nary.models.contract import Model, Sizes
from nary.models.registry import find
from nary.models.weights import write_tensors
from nary.version import __version__

FORMAT = 1
_WEIGHTS = "model.safetensors"


class ModelFolderError(NaryError):
    """A model folder is not one, is damaged, or comes from a newer version."""

    kind = "model"


@dataclass(frozen=True)
class Described:
    """What ``config.json`` says."""

    dataset: str
    fingerprint: str
    model: str
    settings: Settings


def sizes_of(dataset: Dataset) -> Sizes:
    """The sizes a model of ``dataset`` needs."""
    arities = [block.arity for table in dataset.splits.values() for block in table.blocks]
    return Sizes(len(dataset.vocabulary.entities), len(dataset.vocabulary.relations), max(arities))


def save_description(folder: Path, dataset: Dataset, settings: Settings) -> None:
    """Write all but the weights into ``folder``, which must not exist."""
    with atomic_path(folder) as temporary:
        (temporary / "facts").mkdir(parents=True)
        config = {
            "format": FORMAT,
            "nary": __version__,
            "dataset": dataset.name,
            "fingerprint": dataset.fingerprint,
            "sizes": asdict(sizes_of(dataset)),
            "model": settings.model_dump(),
        }
        (temporary / "config.json").write_bytes(orjson.dumps(config, option=orjson.OPT_INDENT_2))
        save_vocabulary(dataset.vocabulary, temporary / "vocabulary.json")
        for split, table in dataset.splits.items():
            save_table_parquet(table, temporary / "facts" / f"{split}.parquet")


def save_weights(folder: Path, model: Model) -> None:
    """Write the weights of ``model``."""
    write_tensors(model.state_dict(), folder / _WEIGHTS)


def read_description(folder: Path) -> Described:
    """What kind of model is in ``folder``."""
    path = folder / "config.json"
    if not path.is_file():
        raise ModelFolderError(f"{folder} is no model or run folder: it has no config.json", "nary train makes one.")
    try:
        config = orjson.loads(path.read_bytes())
        if config["format"] > FORMAT:
            raise ModelFolderError(
                f"written by a newer version of Nary (format {config['format']}, {config['nary']})",
                "Update Nary: pip install --upgrade nary",
                str(path),
            )
        name = config["model"]["name"]
        settings = validated(find(name).settings, config["model"], "model", str(path))
        return Described(config["dataset"], config["fingerprint"], name, settings)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelFolderError(f"damaged: {type(error).__name__} {error}", "Get the folder again.", str(path)) from None


def load_dataset(folder: Path) -> Dataset:
    """The vocabulary and the known facts in ``folder``."""
    described = read_description(folder)
    paths = {split: folder / "facts" / f"{split}.parquet" for split in SPLITS}
    splits = {split: load_table_parquet(path) for split, path in paths.items() if path.is_file()}
    dataset = Dataset(described.dataset, load_vocabulary(folder / "vocabulary.json"), splits)
    if dataset.fingerprint != described.fingerprint:
        raise ModelFolderError(
            "its vocabulary or facts are not those it was made with", "Get the folder again.", str(folder)
        )
    return dataset


def load_weights(folder: Path, model: Model) -> None:
    """Put the weights in ``folder`` into ``model``."""
    path = folder / _WEIGHTS
    if not path.is_file():
        raise ModelFolderError(
            f"{folder} has no weights yet", "Was the training finished? nary train --resume RUN goes on."
        )
    try:
        weights: Mapping[str, Any] = load_file(path)
        model.load_state_dict(weights)
    except (OSError, SafetensorError, RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ModelFolderError(f"damaged weights: {reason}", "Get the file again.", str(path)) from None
