"""Resuming by command: a run folder that follows from the recipe is started once and resumed after that."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from nary.config import read_toml
from nary.data.dataset import Dataset
from nary.errors import OutputError
from nary.recipe import Recipe, recipe_from
from nary.runs.run import RECIPE, Run
from nary.runs.training import resume_run, start_run

_WITHOUT_EFFECT = {"training": {"device", "checkpoint_minutes"}, "evaluation": {"memory"}}


def effective_settings(recipe: Recipe) -> dict[str, Any]:
    """The settings that affect the results: recipes are equivalent if these are equal."""
    return recipe.model_dump(exclude=_WITHOUT_EFFECT)


def seedless_settings(recipe: Recipe) -> dict[str, Any]:
    """The effective settings without the seed."""
    settings = effective_settings(recipe)
    del settings["training"]["seed"]
    return settings


def start_or_resume(recipe: Recipe, folder: Path, load: Callable[[], Dataset]) -> Run:
    """The run of ``recipe`` in ``folder``; if there is none, start one on the dataset that ``load`` returns."""
    path = folder / RECIPE
    if not path.is_file():
        return start_run(load(), recipe, folder)
    if effective_settings(recipe_from(read_toml(path), str(path))) != effective_settings(recipe):
        raise OutputError(f"{folder} holds a run with other settings", "Choose another --out, or remove that folder.")
    return resume_run(folder)
