"""Extend a run by more epochs."""

from nary.errors import SettingError
from nary.files.manifest import updating
from nary.runs.log import append_line, record_log
from nary.runs.run_folder import RECIPE, RunFolder


def extend(folder: RunFolder, epochs: int) -> None:
    """Change the recipe of a run to so many epochs in all; the next training goes on from the newest checkpoint.

    The learning-rate schedule is that of ``epochs`` epochs: a linear one rises again from the end of the first
    training, an exponential one goes on.
    """
    before = folder.recipe.training.epochs
    if folder.recipe.parts:
        raise SettingError(
            "a blend has no epochs of its own", "Extend its parts, and blend them again with nary blend."
        )
    if epochs < before:
        raise SettingError(f"{folder} has {before} epochs, and cannot have {epochs}", "Give more of them in all.")
    if epochs == before:
        return
    recipe = folder.recipe.with_overrides({"training.epochs": epochs, "training.max_steps": 0})
    with updating(folder.path) as update:
        update.path(RECIPE).write_text(recipe.as_toml(), encoding="utf-8")
    del folder.recipe  # which is cached
    append_line(folder, f"extended from {before} to {epochs} epochs")
    record_log(folder)
