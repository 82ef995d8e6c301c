"""A recipe: everything needed to repeat a run, as one TOML file."""

from collections.abc import Mapping, Sequence
from importlib import resources
from math import log2, sqrt
from pathlib import Path
from typing import Any, Literal

import tomli_w
from pydantic import Field, SerializeAsAny

from nary.config import Settings, read_toml, validate_settings, with_overrides
from nary.data.dataset import Dataset
from nary.errors import SettingError, did_you_mean
from nary.evaluation.protocol import Protocol
from nary.html import escape
from nary.models.base import DatasetInfo
from nary.models.blend.settings import BLEND, DEFAULT_PARTS, BlendSettings
from nary.models.registry import MODELS
from nary.training.settings import DEFAULT_LOSS, LOSSES, LossSettings, TrainingSettings, check_loss

EXAMPLE = "nobel"
"""The dataset whose small and quick recipes serve data without a recipe of their own."""
_DEFAULT_MODEL = "gran"
_VALUE_KNOTS = 64
_TABLES = ("data", "model", "loss", "training", "evaluation")


class DataSettings(Settings):
    """``[data]``: the training data."""

    name: str
    """A dataset by name, or the path of a file or folder."""
    train_on: list[Literal["train", "valid"]] = Field(["train"], min_length=1)
    """The splits to train on; the published runs train on valid too."""
    valid_fraction: float | None = Field(None, gt=0, lt=1)
    """Hold out this fraction of train as valid; of the valid split if there is one, whose rest then goes to train."""
    qualifiers: bool = True
    """Train on and rank whole facts, or only their primary triples; equal triples are trained on once."""


class Recipe(Settings):
    """The settings of a run, one table each."""

    data: DataSettings
    model: SerializeAsAny[Settings]
    loss: SerializeAsAny[LossSettings]
    training: TrainingSettings
    evaluation: Protocol

    @classmethod
    def from_tables(cls, tables: Mapping[str, Any], file: str | None = None) -> "Recipe":
        """Validate the tables of a TOML file; ``file`` is its name for error messages."""
        _check_tables(tables, file)
        if tables.get("model", {}).get("name") == BLEND:
            tables = _with_whole_parts(tables, file)
        model = tables.get("model", {})
        model_class = MODELS.get(str(model.get("name", _DEFAULT_MODEL)))
        loss_class = LOSSES.get(_loss_name(tables))
        training = validate_settings(TrainingSettings, tables.get("training", {}), "training", file)
        check_loss(training, loss_class, file)
        return cls(
            data=validate_settings(DataSettings, tables.get("data", {}), "data", file),
            model=validate_settings(model_class.settings_class, model, "model", file),
            loss=validate_settings(loss_class.settings_class, tables.get("loss", {}), "loss", file),
            training=training,
            evaluation=validate_settings(Protocol, tables.get("evaluation", {}), "evaluation", file),
        )

    @classmethod
    def from_file(cls, path: Path) -> "Recipe":
        """Read a recipe from a TOML file."""
        return cls.from_tables(read_toml(path), str(path))

    @property
    def model_name(self) -> str:
        """The name of the model."""
        return str(self.model.name)  # type: ignore[attr-defined]

    @property
    def parts(self) -> "list[Recipe]":
        """The recipes of the parts of a blend, on its data; none for other models.

        Seeds are counted from that of the blend; a part that is listed again has the next one. A device or precision
        set for the blend holds for its parts.
        """
        if not isinstance(self.model, BlendSettings):
            return []
        given = self.training.model_dump(include={"device", "precision"})
        common = {key: value for key, value in given.items() if value != "auto"}
        recipes = []
        for number, part in enumerate(self.model.parts):
            times_before = self.model.parts[:number].count(part)
            seed = part.training.get("seed", 0) + self.training.seed + times_before
            training = {**part.training, **common, "seed": seed}
            recipes.append(Recipe.from_tables({**self.as_tables(), **part.model_dump(), "training": training}))
        return recipes

    def with_parts(self, parts: "Sequence[Recipe]") -> "Recipe":
        """The recipe of a blend with changed recipes of its parts."""
        tables = self.as_tables()
        for settings, part in zip(tables["model"]["parts"], parts, strict=True):
            given = {key: settings["training"][key] for key in ("seed", "device", "precision")}
            settings |= {key: part.as_tables()[key] for key in settings}
            settings["training"] |= given
        return Recipe.from_tables(tables)

    def with_overrides(self, overrides: Mapping[str, Any]) -> "Recipe":
        """The recipe with other values for keys such as ``training.epochs``."""
        return Recipe.from_tables(override_tables(self.as_tables(), overrides)) if overrides else self

    def dataset_info(self, dataset: Dataset) -> DatasetInfo:
        """What a model of this recipe is built from: the sizes of ``dataset`` and the facts it is trained on."""
        return DatasetInfo.from_dataset(dataset, self.data.train_on, self.data.qualifiers)

    def as_tables(self) -> dict[str, dict[str, Any]]:
        """The recipe as TOML tables, every setting written out."""
        return self.model_dump(exclude_none=True)

    def as_toml(self) -> str:
        """The recipe as a TOML file, every setting written out."""
        return tomli_w.dumps(self.as_tables())

    def __repr__(self) -> str:
        training = self.training
        return f"Recipe({self.model_name} on {self.data.name}, {training.epochs} epochs, seed {training.seed})"

    def __str__(self) -> str:
        return self.as_toml()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.as_toml())}</pre>"


def _with_whole_parts(tables: Mapping[str, Any], file: str | None) -> dict[str, Any]:
    """The tables of a blend with every setting of its parts; a part may be the name of a recipe or of a model."""
    parts = tables["model"].get("parts", [*DEFAULT_PARTS])
    if not isinstance(parts, list):
        raise SettingError(f"model.parts is {parts!r}", 'List models or recipes: ["rules", "gran/nobel"]', file)
    whole = [_whole_part(part, tables.get("data", {}), file) for part in parts]
    training = {"epochs": 0, **tables.get("training", {})}  # all that is trained are the parts
    return {**tables, "model": {**tables["model"], "parts": whole}, "training": training}


def _whole_part(part: Any, data: Mapping[str, Any], file: str | None) -> dict[str, Any]:
    if isinstance(part, str):
        shipped = shipped_recipes()
        if part not in shipped and part not in MODELS:
            raise SettingError(f"no recipe or model {part!r}", did_you_mean(part, [*MODELS, *shipped]), file)
        part = read_toml(shipped[part]) if part in shipped else {"model": {"name": part}}
        part = {table: part[table] for table in ("model", "loss", "training") if table in part}
    if not isinstance(part, Mapping) or not {*part} <= {"model", "loss", "training"}:
        raise SettingError(f"{part!r} is no part of a blend", "Give a name, or the tables model, loss, training.", file)
    if part.get("model", {}).get("name") == BLEND:
        raise SettingError("a blend cannot be part of a blend", "Name the parts of that blend instead.", file)
    recipe = Recipe.from_tables({"data": data, **part}, file)
    return {table: content for table, content in recipe.as_tables().items() if table in ("model", "loss", "training")}


def choose_recipe(
    data: str,
    model: str | None = None,
    recipe: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    num_facts: int | None = None,
) -> Recipe:
    """The recipe for ``model`` on ``data``.

    ``recipe`` names a shipped recipe (``gran/nobel``) or a file. Without it, the shipped recipe for this model and
    dataset is taken, or else the model's recipe for :data:`EXAMPLE`; a model without recipes has its defaults. If the
    number of facts is given, GRAN then has the sizes that :func:`gran_sizes` derives from it.
    ``overrides`` are other values for keys such as ``training.epochs``.
    """
    file = None
    if recipe is None:
        name = model or _DEFAULT_MODEL
        MODELS.get(name)  # an unknown model is an error of its own
        path = shipped_recipes().get(f"{name}/{data}") or shipped_recipes().get(f"{name}/{EXAMPLE}")
        tables = read_toml(path) if path else {"model": {"name": name}}
        if num_facts is not None and name == _DEFAULT_MODEL and f"{name}/{data}" not in shipped_recipes():
            tables = override_tables(tables, gran_sizes(num_facts))
    else:
        path = shipped_recipes().get(recipe.removesuffix(".toml")) or Path(recipe)
        if not path.is_file():
            raise SettingError(f"no recipe {recipe!r}", did_you_mean(recipe, shipped_recipes()))
        file = str(path)
        tables = read_toml(path)
        _check_tables(tables, file)
        recipe_model = tables.get("model", {}).get("name", _DEFAULT_MODEL)
        if model not in (None, recipe_model):
            raise SettingError(f"the recipe {recipe} is for {recipe_model}, not {model}", "Leave --model out.", file)
    return Recipe.from_tables(override_tables(tables, {"data.name": data, **(overrides or {})}), file)


def gran_sizes(num_facts: int) -> dict[str, Any]:
    """Sizes of GRAN for data without a recipe, by the number of facts; quick rather than the best possible.

    Vectors of 64, from 10,000 facts on of 128, from 50,000 on of 256. An epoch of few facts has many small batches. The
    learning rate falls with wider vectors and smaller batches, the number of epochs with more facts. Narrow vectors
    train faster in float32. Numbers and dates, if there are any, are embedded by their value. More facts have fewer
    epochs, in which the composition residual learns more.
    """
    hidden_dim = 64 if num_facts < 10_000 else 128 if num_facts < 50_000 else 256
    batch_size = 2 ** min(9, max(5, int(log2(max(1, num_facts / 12)))))
    return {
        "model.hidden_dim": hidden_dim,
        "model.ffn_dim": 2 * hidden_dim,
        "model.composition_residual": hidden_dim >= 128,
        "model.value_knots": _VALUE_KNOTS,
        "training.batch_size": batch_size,
        "training.learning_rate": round(0.32 / hidden_dim * sqrt(batch_size / 512), 6),
        "training.precision": "fp32" if hidden_dim < 256 else "auto",
        "training.epochs": min(100, max(4, round(500_000 / max(1, num_facts)))),
    }


def default_recipe_note(data: str, model: str) -> str | None:
    """What to tell users who named no recipe if there is none for their data."""
    recipes = shipped_recipes()
    if f"{model}/{data}" in recipes or f"{model}/{EXAMPLE}" not in recipes:
        return None
    sizes = "with sizes by the number of facts" if model == _DEFAULT_MODEL else "which is small and quick"
    return f"no recipe for this data: using {model}/{EXAMPLE}, {sizes}; choose another or override keys"


def override_tables(tables: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """``tables`` with other values for the keys ``table.key`` of ``overrides``.

    Another ``loss.name`` drops the keys of ``[loss]`` that the new loss does not have. A loss against the rows of a few
    entities cannot have literals embedded by their value.
    """
    changed = with_overrides(tables, overrides)
    if _loss_name(changed) != _loss_name(tables):
        known = LOSSES.get(_loss_name(changed)).settings_class.model_fields
        kept = {key: value for key, value in changed["loss"].items() if key in known or f"loss.{key}" in overrides}
        changed["loss"] = kept
        if LOSSES.get(_loss_name(changed)).by_rows and "model.value_knots" not in overrides:
            changed["model"].pop("value_knots", None)
    return changed


def full_key(name: str, model: str = _DEFAULT_MODEL, loss: str = DEFAULT_LOSS) -> str:
    """``table.key`` of a key given by its own name, for a recipe of ``model`` and ``loss``.

    ``loss`` itself stands for ``loss.name``.
    """
    tables: dict[str, type[Settings]] = {
        "training": TrainingSettings,
        "model": MODELS.get(model).settings_class,
        "loss": LOSSES.get(loss).settings_class,
        "data": DataSettings,
        "evaluation": Protocol,
    }
    keys = {key: f"{table}.{key}" for table, kind in tables.items() for key in kind.model_fields if key != "name"}
    keys["loss"] = "loss.name"
    if name not in keys:
        raise SettingError(f"unknown setting {name!r}", did_you_mean(name, keys))
    return keys[name]


def shipped_recipes() -> dict[str, Path]:
    """The recipes that come with Nary, by name."""
    folder = Path(str(resources.files("nary"))) / "recipes"
    return {str(path.relative_to(folder).with_suffix("")): path for path in sorted(folder.rglob("*.toml"))}


def _check_tables(tables: Mapping[str, Any], file: str | None) -> None:
    for table, content in tables.items():
        if table not in _TABLES:
            raise SettingError(f"unknown table [{table}]", did_you_mean(table, _TABLES), file)
        if not isinstance(content, dict):
            raise SettingError(f"{table} is {content!r}, not a table", f"Write [{table}] and its keys below.", file)


def _loss_name(tables: Mapping[str, Any]) -> str:
    return str(tables.get("loss", {}).get("name", DEFAULT_LOSS))
