"""The two functions that start everything: train a model, load a trained one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nary.data.dataset import Dataset
from nary.data.load import resolve
from nary.recipe import choose, full_key
from nary.runs import Run, load_run, start_run, train_run
from nary.runs.training import free_folder
from nary.training.callbacks import Callback


def train(
    data: Dataset | str,
    model: str | None = None,
    *,
    recipe: str | None = None,
    out: str | Path | None = None,
    callbacks: Sequence[Callback] = (),
    **settings: Any,
) -> Run:
    """Train ``model``, GRAN if not given, on ``data`` and return the run.

    ``settings`` are recipe keys (``epochs=20``, ``num_layers=2``); the others come from ``recipe``, or from the
    recipe shipped for that model and dataset, or for that model and ``nobel``. The run folder is ``out``, or a new one
    under ``runs/``. ``callbacks`` are told of every step, validation and checkpoint, and may stop the training.
    """
    dataset = resolve(data) if isinstance(data, str) else data
    base = choose(dataset.name, model, recipe)
    loss = str(settings.get("loss", base.loss.name))
    overrides = {full_key(key, base.model_name, loss): value for key, value in settings.items()}
    chosen = choose(dataset.name, model, recipe, overrides)
    folder = Path(out) if out is not None else free_folder(dataset.name, chosen.model_name)
    return train_run(start_run(dataset, chosen, folder), callbacks).run


def load_model(folder: str | Path) -> Run:
    """A trained model from a run folder or a model folder."""
    return load_run(folder)
