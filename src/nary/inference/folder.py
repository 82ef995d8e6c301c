"""The model folder: everything needed to use a model, and nothing that could be executed.

``config.json`` (format version, model and its settings, recipe), ``model.safetensors``, ``vocabulary.json`` with
labels, ``facts/`` with the known facts as a Parquet file per split, ``metrics.json`` (a list of reports), ``README.md``
(the model card) and ``manifest.json`` (checksums). A model with rules adds ``rules.parquet``, for people to read.
Anything wrong with a folder is a :class:`ModelFolderError`, or an ``IntegrityError`` if a file is not as it was
written, raised before anything large is allocated.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import torch
from pydantic import Field
from safetensors import SafetensorError

from nary.config import Settings, validate_settings
from nary.data.dataset import SPLITS, Dataset
from nary.errors import NaryError, NaryWarning
from nary.evaluation.protocol import Protocol
from nary.evaluation.report import Report
from nary.facts import Vocabulary
from nary.facts.parquet import write_parquet
from nary.facts.storage import load_table_parquet, load_vocabulary, save_table_parquet, save_vocabulary
from nary.files.manifest import MANIFEST, FolderUpdate, check_manifest, read_manifest
from nary.files.reading import read_bytes
from nary.inference.provenance import Update
from nary.models.base import DatasetInfo, Model
from nary.models.blend.settings import BlendSettings
from nary.models.registry import MODELS
from nary.models.weights import read_shapes, read_tensors, write_tensors
from nary.recipe import Recipe
from nary.version import __version__

FORMAT = 1
CONFIG_FILE = "config.json"
METRICS_FILE = "metrics.json"
CARD_FILE = "README.md"
WEIGHTS_FILE = "model.safetensors"
_MAPPED = 1 << 30  # bytes of weights from which drawing initial weights first would take long, and the memory twice
VOCABULARY_FILE = "vocabulary.json"
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
    updates: list[Update] = field(default_factory=list)
    """What was added to the dataset after training."""


_AGAIN = "Get the folder again."
_LIMITED = frozenset({"near_facts", "value_knots"})
"""Settings with an upper limit of their own, which may be larger than any weight."""


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


def save_description(folder: Path, dataset: Dataset, recipe: Recipe, updates: Sequence[Update] = ()) -> None:
    """Write all that is known before training into ``folder``, which must not exist."""
    (folder / "facts").mkdir(parents=True)
    save_config(folder / CONFIG_FILE, dataset, recipe, updates)
    save_vocabulary(dataset.vocabulary, folder / VOCABULARY_FILE)
    for split, table in dataset.splits.items():
        save_table_parquet(table, folder / "facts" / f"{split}.parquet")


def save_config(path: Path, dataset: Dataset, recipe: Recipe, updates: Sequence[Update] = ()) -> None:
    """Write ``config.json``."""
    config = {
        "format": FORMAT,
        "nary": __version__,
        "dataset": dataset.name,
        "fingerprint": dataset.fingerprint,
        "sizes": _sizes(recipe.dataset_info(dataset)),
        "recipe": recipe.as_tables(),
        **({"updates": [update.model_dump() for update in updates]} if updates else {}),
    }
    path.write_bytes(orjson.dumps(config, option=orjson.OPT_INDENT_2))


def save_tables(update: FolderUpdate, model: Model, vocabulary: Vocabulary) -> None:
    """Write what a model has for people to read, as Parquet."""
    for name, table in model.tables(vocabulary).items():
        write_parquet(table, update.path(f"{name}.parquet"))


def save_weights(path: Path, model: Model) -> None:
    """Write the weights of ``model``."""
    write_tensors(model.state_dict(), path)


def check_files(folder: Path, weights: bool = True) -> None:
    """Compare all files but the card, which may be edited, with the manifest; warn if there is none.

    Without ``weights``, what training will write anew is left out: the weights, and reports that are missing.
    """
    ignored = [CARD_FILE]
    if not weights:
        ignored += [WEIGHTS_FILE] if (folder / METRICS_FILE).exists() else [WEIGHTS_FILE, METRICS_FILE]
    if not check_manifest(folder, ignored) and (folder / CONFIG_FILE).is_file():
        warnings.warn(
            f"{folder} has no {MANIFEST}, so its files cannot be verified; nary verify --update makes one",
            NaryWarning,
            stacklevel=3,
        )


def weights_digest(folder: Path) -> str | None:
    """The checksum of the weights, according to the manifest."""
    entry = (read_manifest(folder) or {}).get(WEIGHTS_FILE)
    return entry.sha256 if entry else None


def read_description(folder: Path) -> Description:
    """What kind of model is in ``folder``."""
    path = folder / CONFIG_FILE
    if not path.is_file():
        raise ModelFolderError(f"{folder} is no model or run folder: it has no {CONFIG_FILE}", "nary train makes one.")
    with reading(path):
        config = orjson.loads(read_bytes(path))
        if not isinstance(config, dict) or type(config.get("format")) is not int:
            raise ValueError("it is not the description of a model")
        if config["format"] < 1:
            raise ValueError(f"there is no format {config['format']}")
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
        updates = [validate_settings(Update, one, "updates") for one in config.get("updates", [])]
        return Description(config["dataset"], config["fingerprint"], config["sizes"], recipe, updates)


def load_dataset(folder: Path, description: Description | None = None) -> Dataset:
    """The vocabulary and the known facts in ``folder``; ``description`` if its config.json has been read already."""
    description = description or read_description(folder)
    with reading(folder):
        paths = {split: folder / "facts" / f"{split}.parquet" for split in SPLITS}
        splits = {split: load_table_parquet(path) for split, path in paths.items() if path.is_file()}
        dataset = Dataset(description.dataset, load_vocabulary(folder / VOCABULARY_FILE), splits)
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
    """The model in ``folder``, ready to use, on the CPU. Large weights stay in their file, mapped into memory."""
    path, info = folder / WEIGHTS_FILE, recipe.dataset_info(dataset)
    if not path.is_file():
        raise ModelFolderError(
            f"{folder} has no weights yet", "Has training finished? nary train --resume RUN continues it."
        )
    with reading(path):
        shapes = read_shapes(path)
    for prefix, settings in _settings_by_prefix(recipe.model).items():
        shapes_within = {name: shape for name, shape in shapes.items() if name.startswith(prefix)}
        if shapes_within or _has_weights(settings, info):
            with reading(path):
                _check_settings(settings, shapes_within)
    outline = _outline(path, recipe, info)
    with reading(path):
        weights = read_tensors(path, outline.state_dict())
    if path.stat().st_size >= _MAPPED:
        outline.load_state_dict(weights, assign=True)
        if not any(tensor.is_meta for tensor in outline.buffers()):  # they follow from the facts
            return outline.eval()
    model = MODELS.get(recipe.model_name)(recipe.model, info)
    model.load_state_dict(weights)
    return model.eval()


def _settings_by_prefix(settings: Settings) -> dict[str, Settings]:
    """The settings of the model, or of each part of a blend, by what the names of their weights start with."""
    if not isinstance(settings, BlendSettings):
        return {"": settings}
    return {f"parts.{number}.": part.model for number, part in enumerate(settings.parts)}


def _check_settings(settings: Settings, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse settings of a model that is larger than its weights, and perhaps too large even to be outlined."""
    largest = max((len(shapes), *(side for shape in shapes.values() if 0 not in shape for side in shape)))
    for key, value in settings:
        if isinstance(value, int) and value > largest and key not in _LIMITED:
            raise ValueError(f"model.{key} is {value:,}, and the weights are of a smaller model")


def _has_weights(settings: Settings, info: DatasetInfo) -> bool:
    """Whether models of that name have weights; if not, their integer settings are thresholds, not sizes."""
    model = MODELS.get(str(settings.name))  # type: ignore[attr-defined]
    with torch.device("meta"):
        return bool(model(model.settings_class(), info).state_dict())


def _outline(path: Path, recipe: Recipe, info: DatasetInfo) -> Model:
    """The model without memory for its weights."""
    try:
        with torch.device("meta"):
            return MODELS.get(recipe.model_name)(recipe.model, info)
    except NaryError as error:  # settings that do not go together
        raise ModelFolderError(error.message, error.hint or _AGAIN, error.file or str(path)) from None


class _StoredReport(Settings):
    """A report as ``metrics.json`` holds it."""

    dataset: str
    split: str
    protocol: Protocol
    metrics: dict[str, dict[str, int | float]]
    notes: list[str]
    literals: dict[str, dict[str, int | float]] = Field(default={})


def load_reports(folder: Path) -> list[Report]:
    """The reports in ``metrics.json``: the newest for each split and protocol; none if there is no such file.

    A metric that a report lacks, because it is older than the metric, is absent.
    """
    path = folder / METRICS_FILE
    if not path.exists():
        return []
    with reading(path):
        content = orjson.loads(read_bytes(path))
        if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
            raise ValueError("it is no list of reports")
        stored = [validate_settings(_StoredReport, one, "report") for one in content]
    return [Report(one.dataset, one.split, one.protocol, one.metrics, one.notes, one.literals) for one in stored]


def save_reports(path: Path, reports: Sequence[Report]) -> None:
    """Write ``metrics.json``."""
    path.write_bytes(orjson.dumps([report.as_dict() for report in reports], option=orjson.OPT_INDENT_2))


def with_report(reports: Sequence[Report], report: Report) -> list[Report]:
    """``reports`` with ``report`` instead of an older one for the same split and protocol."""

    def key(one: Report) -> object:
        return one.split, one.protocol.as_dict()

    return [*(old for old in reports if key(old) != key(report)), report]


def is_card(folder: Path, text: str) -> bool:
    """Whether the model card is ``text``, and so has not been edited, or is missing."""
    path = folder / CARD_FILE
    return not path.is_file() or read_bytes(path) == text.encode()
