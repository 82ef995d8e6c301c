"""Train models, resume runs, and list the available models, datasets and recipes."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import torch

from nary.auto import MINUTES, auto_note, auto_recipe, is_auto
from nary.data.dataset import Dataset
from nary.data.load import resolve
from nary.models.base import Model
from nary.models.registry import MODELS
from nary.recipe import Recipe, choose_recipe, default_recipe_note, full_key
from nary.runs import (
    BlendResult,
    TrainedModel,
    TrainingResult,
    blend_runs,
    fit_epochs,
    prepare_dataset,
    train_recipe,
)
from nary.runs import resume as resume_run
from nary.runs.budget import check_budget
from nary.runs.hub import upload
from nary.runs.run_folder import model_path_of
from nary.runs.seeds import SeedResults
from nary.runs.seeds import train_seeds as run_seeds
from nary.threads import oversubscription_note
from nary.training.training_bar import TrainingBar

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
    minutes: float | None = None,
    progress: bool = True,
    **settings: "Unpack[TrainKeywords]",
) -> TrainingResult:
    """Train a model on facts.

    Args:
        data: A :class:`Dataset`, the name of a dataset (``"nobel"``), or the path of a file or folder of facts.
        model: The name of a model (see :func:`list_models`), a model class, or a model to train further. ``"auto"``
            trains rules, GRAN and a tuple model within ``minutes`` (default: ten) and blends them. By default,
            ``"auto"`` is used for your own data with 100 facts or more, unless ``recipe`` or settings of the model, the
            loss or the training are given (``seed``, ``device`` and ``precision`` do not count). Otherwise, the default
            is GRAN.
        recipe: The name of a shipped recipe (see :func:`list_recipes`), the path of a TOML file, or a :class:`Recipe`.
            By default, the recipe shipped for this model and dataset. If there is none, the model's small recipe for
            ``nobel`` is used; for GRAN, its sizes are then adapted to the number of facts.
        out: A run folder to write, with checkpoints from which ``nary train --resume`` continues. By default, nothing
            is written.
        callbacks: Notified during training; see :class:`nary.training.callbacks.Callback`.
        device: ``"cpu"``, ``"cuda"``, ...; by default, CUDA if available.
        minutes: Train for about this many minutes instead of the epochs of the recipe. The speed of a few steps
            determines how many steps fit; the learning rate decays over them.
        progress: Show a progress bar in a terminal or notebook. ``NARY_PROGRESS=0`` in the environment turns off all
            bars.
        settings: Values for other keys of the recipe, by their own names: ``epochs=20, num_layers=2, loss="margin"``.

    Returns:
        The trained model with its metrics on the valid split and the loss of every step.

    """
    dataset, chosen, module = _prepare(data, model, recipe, device, minutes, settings)
    with TrainingBar(progress) as bar:
        return train_recipe(dataset, chosen, None if out is None else Path(out), [bar, *callbacks], module)


def train_seeds(
    data: Dataset | str | Path,
    model: str | type[Model] | None = None,
    *,
    seeds: Sequence[int] = (0, 1, 2),
    recipe: str | Path | Recipe | None = None,
    out: str | Path | None = None,
    callbacks: "Sequence[Callback]" = (),
    device: str | None = None,
    progress: bool = True,
    **settings: "Unpack[TrainKeywords]",
) -> SeedResults:
    """Train a model with several seeds, evaluate each run on the test split, and summarize the metrics.

    Args:
        data: As for :func:`train`.
        model: The name of a model, or a model class.
        seeds: The seeds.
        recipe: As for :func:`train`.
        out: A folder for the experiment. It contains a run folder with a report for each seed, and ``summary.json``.
            After an interruption, call the function again to continue. By default, nothing is written.
        callbacks: Notified during training, for each seed in turn.
        device: As for :func:`train`.
        progress: Show a progress bar in a terminal or notebook.
        settings: As for :func:`train`.

    Returns:
        The runs, their reports, and the mean and standard deviation of the metrics as a table or data frame.

    """
    dataset, chosen, _ = _prepare(data, model, recipe, device, None, settings)
    with TrainingBar(progress) as bar:
        return run_seeds(dataset, chosen, seeds, None if out is None else Path(out), [bar, *callbacks])


def _prepare(
    data: Dataset | str | Path,
    model: str | type[Model] | Model | None,
    recipe: str | Path | Recipe | None,
    device: str | None,
    minutes: float | None,
    settings: "TrainKeywords",
) -> tuple[Dataset, Recipe, Model | None]:
    """The data, the recipe and the model to train further, if one is given."""
    dataset = data if isinstance(data, Dataset) else resolve(str(data))
    name = _model_name(model)
    keys = [full_key(key) for key in settings] if name is None and recipe is None else []
    auto = is_auto(dataset, name, recipe, keys)
    if isinstance(recipe, Recipe):
        chosen = recipe
    elif auto:
        chosen = auto_recipe(dataset, {})
        minutes = MINUTES if minutes is None else minutes
        warnings.warn(auto_note(chosen, minutes), stacklevel=3)
    else:
        named = None if recipe is None else str(recipe)
        chosen = choose_recipe(dataset.name, name, named, num_facts=len(dataset))
        if recipe is None and (note := default_recipe_note(dataset.name, chosen.model_name)):
            warnings.warn(note, stacklevel=3)
    loss = str(settings.get("loss", chosen.loss.name))
    overrides = {full_key(key, chosen.model_name, loss): value for key, value in settings.items()}
    if device is not None:
        overrides["training.device"] = device
    chosen = chosen.with_overrides({"data.name": dataset.name, **overrides})
    module = model if isinstance(model, Model) else None
    if module is not None:
        chosen = chosen.model_copy(update={"model": module.settings})
    dataset = prepare_dataset(dataset, chosen)
    if note := oversubscription_note(torch.get_num_threads()):
        warnings.warn(note, stacklevel=3)
    if minutes is not None:
        check_budget(overrides)
        chosen = fit_epochs(dataset, chosen, minutes, at_most=auto)
    return dataset, chosen, module


def resume(
    folder: str | Path,
    *,
    epochs: int | None = None,
    callbacks: "Sequence[Callback]" = (),
    progress: bool = True,
    verify: bool = True,
) -> TrainingResult:
    """Resume training in a run folder from its newest checkpoint. A finished run is only loaded.

    Args:
        folder: The run folder, from ``nary.train(..., out=folder)`` or ``nary train``.
        epochs: Extend the run to this total number of epochs, even if it is finished. The learning rate then follows
            the schedule of this number of epochs.
        callbacks: Notified during training; see :class:`nary.training.callbacks.Callback`.
        progress: Show a progress bar in a terminal or notebook.
        verify: Compare all files with their checksums.

    Returns:
        The same as :func:`train`.

    """
    with TrainingBar(progress) as bar:
        return resume_run(folder, [bar, *callbacks], verify, epochs=epochs)


def blend(runs: Sequence[str | Path | TrainedModel], *, out: str | Path | None = None) -> BlendResult:
    """Blend models that were trained on the same data into one.

    Args:
        runs: Two or more run folders, model folders or trained models. None of them may have been trained on the valid
            split, because the weights of the blend are fitted on it.
        out: A run folder to write. By default, nothing is written.

    Returns:
        The blend, which is used like any other model, with the MRR and the training time of each part.

    """
    return blend_runs(runs, None if out is None else Path(out))


def push(run: str | Path, repository: str, *, public: bool = False) -> str:
    """Upload a trained model, with the facts and names that it knows, to the Hugging Face Hub as one commit.

    Args:
        run: A run folder or a model folder.
        repository: ``"owner/name"``. It is created if it does not exist.
        public: Make a new repository public. The visibility of an existing one does not change.

    Returns:
        The address of the commit for :func:`load_model`, such as ``"hf://owner/name@commit"``.

    """
    return str(upload(model_path_of(run), repository, public))


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
