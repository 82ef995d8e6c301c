"""Before training: the splits that a recipe needs, and whether it goes with the model, the dataset and the machine."""

import os

import torch

from nary.data.dataset import Dataset
from nary.data.transforms.simplify import drop_qualifiers
from nary.data.transforms.splits import hold_out_valid, split_dataset
from nary.errors import SettingError
from nary.models.base import DatasetInfo
from nary.models.registry import MODELS
from nary.recipe import Recipe
from nary.training.settings import BUILT_IN_LOSSES

MANY_ENTITIES = 100_000
"""From here on ``nary train`` recommends a sampled loss."""
_LARGE_SIZE, _MANY_LAYERS = 4096, 1000  # settings beyond need a closer look, or are refused
_BYTES_PER_WEIGHT = 16  # the weight, its gradient and two moments


def prepare_dataset(dataset: Dataset, recipe: Recipe) -> Dataset:
    """``dataset`` with the splits that training needs; its notes say what was changed."""
    if set(dataset.splits) == {"train"}:
        dataset = split_dataset(dataset)
    if recipe.data.valid_fraction is not None:
        dataset = hold_out_valid(dataset, recipe.data.valid_fraction)
    if not recipe.data.qualifiers:  # after splitting: the splits have the same facts with or without qualifiers
        dataset = drop_qualifiers(dataset)
    return dataset


def check_recipe(dataset: Dataset, recipe: Recipe) -> None:
    """Refuse settings that do not go with the model or the dataset."""
    losses = sorted(MODELS.get(recipe.model_name).losses)
    if recipe.loss.name in BUILT_IN_LOSSES and recipe.loss.name not in losses:  # others may be tried with any model
        raise SettingError(
            f"{recipe.model_name} cannot be trained with loss.name = {recipe.loss.name!r}",
            f"It can be trained with: {', '.join(losses)}. Set one: --set loss.name={losses[0]}",
        )
    if recipe.training.qualifier_dropout and not MODELS.get(recipe.model_name).supports_qualifier_dropout:
        raise SettingError(
            f"{recipe.model_name} cannot learn from facts with qualifiers left out, as training.qualifier_dropout asks",
            "Leave it out, or train another model, such as gran.",
        )
    _check_validation(dataset, recipe)
    for split in recipe.data.train_on:
        if split not in dataset.splits:
            raise SettingError(
                f"data.train_on names {split}, which {dataset.name} does not have",
                f"It has: {', '.join(dataset.splits)}; data.valid_fraction can hold a valid split out of train.",
            )


def _check_validation(dataset: Dataset, recipe: Recipe) -> None:
    """Refuse to validate, or to stop early, on a split that does not exist or is trained on."""
    every, patience = recipe.training.eval_every, recipe.training.patience
    if patience and not every:
        raise SettingError(
            f"training.patience is {patience}, but training.eval_every is 0", "Validate every epoch with 1."
        )
    if every and ("valid" not in dataset.splits or "valid" in recipe.data.train_on):
        raise SettingError(
            f"training.eval_every is {every}, but there is no valid split that is not trained on",
            "Leave valid out of data.train_on, or hold facts out of train with data.valid_fraction.",
        )
    if every:
        check_ranks_entities(recipe)


def check_ranks_entities(recipe: Recipe) -> None:
    """Refuse a protocol without entities, whose MRR models are selected by."""
    if not recipe.evaluation.asks_entities:
        raise SettingError(
            f"evaluation.positions is {', '.join(recipe.evaluation.positions)}: no entities, whose MRR is needed",
            "Add subject, object or value; nary evaluate can rank without them.",
        )


def check_model_size(recipe: Recipe, info: DatasetInfo) -> None:
    """Refuse sizes of a model that cannot be trained in the memory of this machine."""
    for key, value in recipe.model:
        if key == "num_layers" and value > _MANY_LAYERS:
            raise SettingError(f"model.{key} is {value:,}", f"At most {_MANY_LAYERS:,} can be trained.")
    sizes = {key: value for key, value in recipe.model if isinstance(value, int) and value > _LARGE_SIZE}
    if not sizes:
        return
    key, value = max(sizes.items(), key=lambda item: item[1])
    setting = f"model.{key} is {value:,}"
    try:
        with torch.device("meta"):
            model = MODELS.get(recipe.model_name)(recipe.model, info)
    except (RuntimeError, TypeError, OverflowError):  # more than can be counted
        raise SettingError(f"{setting}, more than a tensor can hold", f"Lower model.{key}.") from None
    needed = sum(weight.numel() for weight in model.parameters()) * _BYTES_PER_WEIGHT
    if (memory := _physical_memory()) is not None and needed > memory:
        raise SettingError(
            f"{setting}, which takes {needed / 1e9:,.1f} GB to train; this machine has {memory / 1e9:,.1f} GB",
            f"Lower model.{key}.",
        )


def size_note(recipe: Recipe, num_entities: int) -> str | None:
    """Advice where scoring all entities in every step takes most of the time."""
    if recipe.parts or num_entities < MANY_ENTITIES or recipe.loss.name == "sampled_softmax":
        return None
    if "sampled_softmax" not in MODELS.get(recipe.model_name).losses:
        return None
    return (
        f"every step scores all {num_entities:,} entities. --set loss.name=sampled_softmax scores a sample of them, "
        "in a time that does not depend on how many there are"
    )


def _physical_memory() -> int | None:
    """The memory of this machine in bytes, if it can be told."""
    if not hasattr(os, "sysconf"):
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
