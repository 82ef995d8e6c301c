"""Train a model, resume a run, and list the models, datasets and recipes there are."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from nary.data.dataset import Dataset
from nary.data.load import resolve
from nary.models.base import Model
from nary.models.registry import MODELS
from nary.recipe import Recipe, choose_recipe, default_recipe_note, full_key
from nary.runs import TrainingResult, prepare_dataset, train_recipe

if TYPE_CHECKING:
    from nary.keywords import TrainKeywords
    from nary.training.callbacks import Callback


def train(
    data: Dataset | str | Path,
    model: str | type[Model] | Model | None = None,
    *,
    recipe: str | Path | Recipe | None = None,
    out: str | Path | None = None,
    callbacks: "Sequence[Callback]" = (),
    device: str | None = None,
    **settings: "Unpack[TrainKeywords]",
) -> TrainingResult:
    """Train a model on facts.

    Args:
        data: A :class:`Dataset`, the name of one (``"nobel"``), or the path of a file or folder of facts.
        model: The name of a model (see :func:`list_models`), a model class, or a model to train further; GRAN if not
            given.
        recipe: The name of a shipped recipe (see :func:`list_recipes`), the path of a TOML file, or a :class:`Recipe`.
            By default the recipe shipped for this model and dataset, or else the model's small recipe for ``nobel``.
        out: A folder for the run, with checkpoints from which ``nary train --resume`` continues. By default nothing
            is written.
        callbacks: Called while training; see :class:`nary.training.callbacks.Callback`.
        device: ``"cpu"``, ``"cuda"``, ...; by default an accelerator if there is one.
        settings: Other values for keys of the recipe by their own name: ``epochs=20, num_layers=2, loss="margin"``.

    Returns:
        The trained model with its metrics on the valid split and the loss of every step.

    """
    dataset = data if isinstance(data, Dataset) else resolve(str(data))
    name = _model_name(model)
    if isinstance(recipe, Recipe):
        chosen = recipe
    else:
        chosen = choose_recipe(dataset.name, name, None if recipe is None else str(recipe))
        if recipe is None and (note := default_recipe_note(dataset.name, chosen.model_name)):
            warnings.warn(note, stacklevel=2)
    loss = str(settings.get("loss", chosen.loss.name))
    overrides = {full_key(key, chosen.model_name, loss): value for key, value in settings.items()}
    if device is not None:
        overrides["training.device"] = device
    chosen = chosen.with_overrides({"data.name": dataset.name, **overrides})
    module = model if isinstance(model, Model) else None
    if module is not None:
        chosen = chosen.model_copy(update={"model": module.settings})
    dataset = prepare_dataset(dataset, chosen)
    return train_recipe(dataset, chosen, None if out is None else Path(out), callbacks, module)


def _model_name(model: str | type[Model] | Model | None) -> str | None:
    """The name of ``model``; a class that nobody has registered is registered by its name."""
    if model is None or isinstance(model, str):
        return model
    model_class = model if isinstance(model, type) else type(model)
    if model_class.name not in MODELS:
        MODELS.register(model_class.name)(model_class)
    return model_class.name


def list_models() -> list[str]:
    """The names of all models."""
    return list(MODELS)


def list_datasets() -> list[str]:
    """The names of all datasets."""
    from nary.data.catalog import dataset_names

    return list(dataset_names())


def list_recipes() -> list[str]:
    """The names of all shipped recipes."""
    from nary.recipe import shipped_recipes

    return list(shipped_recipes())
