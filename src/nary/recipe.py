"""A recipe: everything needed to repeat a run, as one TOML file."""

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import tomli_w
from pydantic import Field, SerializeAsAny

from nary.config import Settings, read_toml, validated, with_overrides
from nary.errors import SettingError, did_you_mean
from nary.evaluation.protocol import Protocol
from nary.models.registry import find
from nary.training.settings import DEFAULT_LOSS, LOSSES, LossSettings, TrainingSettings, check_loss

EXAMPLE = "nobel"
"""The dataset whose recipes, small and quick, serve data that have none of their own."""
_TABLES = ("data", "model", "loss", "training", "evaluation")


class DataSettings(Settings):
    """``[data]``: what to learn from."""

    name: str
    """A dataset by name, or the path of a file or folder."""
    train_on: list[Literal["train", "valid"]] = Field(["train"], min_length=1)
    """The splits to learn from; the published runs learn from valid too."""
    valid_fraction: float | None = Field(None, gt=0, lt=1)
    """Hold this share of train out as valid, for datasets without a valid split."""
    qualifiers: bool = True
    """Learn from and rank whole facts, or only their primary triples; equal triples are learned from once."""


class Recipe(Settings):
    """The settings of a run."""

    data: DataSettings
    model: SerializeAsAny[Settings]
    loss: SerializeAsAny[LossSettings]
    training: TrainingSettings
    evaluation: Protocol

    @property
    def model_name(self) -> str:
        """The name of the model."""
        return str(self.model.name)  # type: ignore[attr-defined]

    def as_tables(self) -> dict[str, dict[str, Any]]:
        """The recipe as TOML tables, every setting written out."""
        return self.model_dump(exclude_none=True)

    def as_toml(self) -> str:
        """The recipe as a TOML file, every setting written out."""
        return tomli_w.dumps(self.as_tables())


def _check_tables(tables: Mapping[str, Any], file: str | None) -> None:
    for table, content in tables.items():
        if table not in _TABLES:
            raise SettingError(f"unknown table [{table}]", did_you_mean(table, _TABLES), file)
        if not isinstance(content, dict):
            raise SettingError(f"{table} is {content!r}, not a table", f"Write [{table}] and its keys below.", file)


def recipe_from(tables: dict[str, Any], file: str | None = None) -> Recipe:
    """A recipe from TOML tables."""
    _check_tables(tables, file)
    model, loss = tables.get("model", {}), tables.get("loss", {})
    loss_class = LOSSES.get(_loss_name(tables))
    training = validated(TrainingSettings, tables.get("training", {}), "training", file)
    check_loss(training, loss_class, file)
    return Recipe(
        data=validated(DataSettings, tables.get("data", {}), "data", file),
        model=validated(find(str(model.get("name", "gran"))).settings, model, "model", file),
        loss=validated(loss_class.settings_class, loss, "loss", file),
        training=training,
        evaluation=validated(Protocol, tables.get("evaluation", {}), "evaluation", file),
    )


def choose(
    data: str, model: str | None = None, recipe: str | None = None, overrides: Mapping[str, Any] | None = None
) -> Recipe:
    """The recipe for ``model`` on ``data``.

    ``recipe`` names a shipped recipe (``gran/nobel``) or a file; without it the shipped recipe of that model and
    dataset is taken, where there is none the model's recipe for :data:`EXAMPLE`, and a model without recipes has its
    defaults. ``overrides`` are other values for keys such as ``training.epochs``.
    """
    file = None
    if recipe is None:
        name = find(model or "gran").name
        path = shipped().get(f"{name}/{data}") or shipped().get(f"{name}/{EXAMPLE}")
        tables = read_toml(path) if path else {"model": {"name": name}}
    else:
        path = shipped().get(recipe.removesuffix(".toml")) or Path(recipe)
        if not path.is_file():
            raise SettingError(f"no recipe {recipe!r}", did_you_mean(recipe, shipped()))
        file = str(path)
        tables = read_toml(path)
        _check_tables(tables, file)
        if model is not None and model != (given := tables.get("model", {}).get("name", "gran")):
            raise SettingError(f"the recipe {recipe} is for {given}, not {model}", "Leave --model out.", file)
    tables = override(tables, {"data.name": data, **(overrides or {})})
    return recipe_from(tables, file)


def override(tables: dict[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """``tables`` with other values for the keys ``table.key`` of ``overrides``.

    Another ``loss.name`` drops the keys of ``[loss]`` that the new loss does not have.
    """
    changed = with_overrides(tables, overrides)
    if _loss_name(changed) != _loss_name(tables):
        known = LOSSES.get(_loss_name(changed)).settings_class.model_fields
        kept = {key: value for key, value in changed["loss"].items() if key in known or f"loss.{key}" in overrides}
        changed["loss"] = kept
    return changed


def _loss_name(tables: Mapping[str, Any]) -> str:
    return str(tables.get("loss", {}).get("name", DEFAULT_LOSS))


def full_key(name: str, model: str, loss: str = DEFAULT_LOSS) -> str:
    """``table.key`` of a key given by its own name alone, for a recipe of ``model`` and ``loss``.

    ``loss`` itself stands for ``loss.name``.
    """
    kinds: dict[str, type[Settings]] = {
        "training": TrainingSettings,
        "model": find(model).settings,
        "loss": LOSSES.get(loss).settings_class,
        "data": DataSettings,
        "evaluation": Protocol,
    }
    known = {key: f"{table}.{key}" for table, kind in kinds.items() for key in kind.model_fields if key != "name"}
    known["loss"] = "loss.name"
    if name not in known:
        raise SettingError(f"unknown setting {name!r}", did_you_mean(name, known))
    return known[name]


def shipped() -> dict[str, Path]:
    """The recipes that come with Nary, by name."""
    folder = Path(str(resources.files("nary"))) / "recipes"
    return {str(path.relative_to(folder).with_suffix("")): path for path in sorted(folder.rglob("*.toml"))}
