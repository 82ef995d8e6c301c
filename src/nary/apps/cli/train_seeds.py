"""``nary train --seeds``: the same recipe with several seeds."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nary.apps.cli.output import notice, open_data, print_json, say
from nary.apps.cli.training_bar import TrainingBar
from nary.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nary.training.callbacks import Callback


def parse_seeds(seeds: str, seed: int | None, minutes: float | None) -> list[int]:
    """Parse ``--seeds``, which excludes the other two options."""
    if seed is not None or minutes is not None:
        raise SettingError("--seeds does not go with --seed or --minutes", "Leave that out.")
    try:
        return [int(part) for part in seeds.split(",")]
    except ValueError:
        raise SettingError(f"cannot read --seeds {seeds}", "Write numbers: --seeds 0,1,2") from None


def train_over_seeds(
    data: str,
    model: str | None,
    recipe: str | None,
    overrides: dict[str, Any],
    out: Path | None,
    seeds: "Sequence[int]",
    json: bool,
    callbacks: "Sequence[Callback]",
) -> None:
    """Train with each seed, continuing an interrupted command, and print the summary."""
    from nary.recipe import choose_recipe, default_recipe_note
    from nary.runs import prepare_dataset
    from nary.runs.run_folder import free_path
    from nary.runs.seeds import train_seeds

    dataset = open_data(data, quiet=json)
    chosen = choose_recipe(dataset.name, model, recipe, overrides, num_facts=len(dataset))
    prepared = prepare_dataset(dataset, chosen)
    for note in prepared.notes[len(dataset.notes) :]:
        notice(note)
    if recipe is None and not json and (default_note := default_recipe_note(dataset.name, chosen.model_name)):
        notice(default_note)
    folder = out or free_path(dataset.name, chosen.model_name)
    with TrainingBar(show=not json) as bar:
        results = train_seeds(prepared, chosen, seeds, folder, [bar, *callbacks])
    if json:
        print_json(results.as_dict())
        return
    say(str(results))
    say(f"{folder}: a run for each seed\nNext: nary compare {folder}/seed*")
