"""``auto``: what is trained on people's own data if they name no model: rules, GRAN and a tuple model, blended."""

from collections.abc import Collection, Mapping
from typing import Any

from nary.config import read_toml
from nary.data.catalog import is_dataset
from nary.data.dataset import Dataset
from nary.models.blend.settings import BLEND
from nary.recipe import EXAMPLE, Recipe, gran_sizes, override_tables, shipped_recipes

AUTO = "auto"
MINUTES = 10.0
"""The time that training takes at most, unless told otherwise."""
_OF_ANY_MODEL = {"training.seed", "training.device", "training.precision"}
"""Settings that do not tell which model is meant."""
_VALIDATIONS = 5
_INIT_MEAN = 0.5  # around 0, embeddings of a tuple model often learn next to nothing within the time
_FEWEST_FACTS = 100
_VALID_FRACTION = 0.1


def is_auto(dataset: Dataset, model: str | None, recipe: object, overrides: Collection[str]) -> bool:
    """Whether ``auto`` is what to train: it is named, or nothing is.

    Datasets of the catalog have recipes, settings of a model or of its training are those of GRAN, and very few facts
    leave nothing to fit the weights of a blend on: without a name, these are for GRAN.
    """
    if model is not None or recipe is not None:
        return model == AUTO
    of_a_model = {key for key in overrides if key.startswith(("model.", "loss.", "training."))} - _OF_ANY_MODEL
    return not is_dataset(dataset.name) and not of_a_model and len(dataset) >= _FEWEST_FACTS


def auto_recipe(dataset: Dataset, overrides: Mapping[str, Any]) -> Recipe:
    """The recipe: the parts of the blend for :data:`~nary.recipe.EXAMPLE`, with sizes by the number of facts.

    The trained parts are validated a few times and keep their best weights. If there are splits, but no valid facts,
    some are held out of train.
    """
    held_out = {"data.valid_fraction": _VALID_FRACTION} if {"train"} < {*dataset.splits} and not _valid(dataset) else {}
    tables = read_toml(shipped_recipes()[f"{BLEND}/{EXAMPLE}"])
    recipe = Recipe.from_tables(override_tables(tables, {"data.name": dataset.name, **held_out, **overrides}))
    return recipe.with_parts([_sized(part, len(dataset)) for part in recipe.parts])


def auto_note(recipe: Recipe, minutes: float) -> str:
    """What to tell users who named no model."""
    *parts, last = (part.model_name for part in recipe.parts)
    return f"a blend of {', '.join(parts)} and {last} is trained within {minutes:g} minutes; name a model to train one"


def _valid(dataset: Dataset) -> int:
    return len(dataset.splits.get("valid", ()))


def _sized(part: Recipe, num_facts: int) -> Recipe:
    """A part with its settings for data without a recipe: sizes by the number of facts, or what else helps there."""
    if part.model_name == "rules":
        return part.with_overrides({"model.joint_features": True})
    sizes = gran_sizes(num_facts)
    if part.model_name != "gran":
        sizes = {"training.batch_size": sizes["training.batch_size"], "model.init_mean": _INIT_MEAN}
    epochs = sizes.get("training.epochs", part.training.epochs)
    return part.with_overrides({**sizes, "training.eval_every": max(1, epochs // _VALIDATIONS)})
