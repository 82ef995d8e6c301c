"""One command, given again, goes on where it stopped: runs in folders that follow from what is trained."""

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


def content(recipe: Recipe) -> dict[str, Any]:
    """The settings that change what comes out: two recipes are the same if these are equal."""
    return recipe.model_dump(exclude=_WITHOUT_EFFECT)


def seedless(recipe: Recipe) -> dict[str, Any]:
    """The same without the seed: what the trainings of one row share."""
    settings = content(recipe)
    del settings["training"]["seed"]
    return settings


def start_or_resume(recipe: Recipe, folder: Path, load: Callable[[], Dataset]) -> Run:
    """The run of ``recipe`` in ``folder``: the one that is there, or a new one on what ``load`` returns."""
    path = folder / RECIPE
    if not path.is_file():
        return start_run(load(), recipe, folder)
    if content(recipe_from(read_toml(path), str(path))) != content(recipe):
        raise OutputError(f"{folder} holds a run with other settings", "Choose another --out, or remove that folder.")
    return resume_run(folder)
