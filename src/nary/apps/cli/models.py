"""``nary models``: the models that can be trained."""

from typing import Annotated

import typer

from nary.apps.cli.options import Json
from nary.apps.cli.output import open_data, print_json, print_table, say


def models(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", show_default=False, help="The model to show.")] = None,
    data: Annotated[
        str | None, typer.Option("--data", metavar="DATA", help="Count its parameters for this data.")
    ] = None,
    json: Json = False,
) -> None:
    """List the models, or show one: its settings and, for a dataset, its number of parameters.

    Example: nary models gran --data jf17k
    """
    from nary.models.registry import MODELS

    if name is None:
        listed = [
            {
                "name": model.name,
                "family": model.family,
                "positions": sorted(role.value for role in model.roles),
                "about": model.description,
                "source": model.reference,
            }
            for model in map(MODELS.get, MODELS)
        ]
        if json:
            print_json(listed)
        else:
            print_table(
                "Models", ["name", "family", "description"], [[m["name"], m["family"], m["about"]] for m in listed]
            )
        return
    model_class = MODELS.get(name)
    shown: dict[str, object] = {
        "name": model_class.name,
        "family": model_class.family,
        "positions": sorted(role.value for role in model_class.roles),
        "source": model_class.reference,
    }
    settings = model_class.settings_class()
    if data is not None:
        from nary.models.base import DatasetInfo
        from nary.recipe import choose_recipe

        dataset = open_data(data, quiet=json)
        settings = choose_recipe(dataset.name, name, num_facts=len(dataset)).model
        model = model_class(settings, DatasetInfo.from_dataset(dataset))
        shown["parameters"] = sum(parameter.numel() for parameter in model.parameters())
    shown["settings"] = settings.model_dump()
    if json:
        print_json(shown)
        return
    print_table(
        model_class.description, ["", ""], [[key, _text(value)] for key, value in shown.items() if key != "settings"]
    )
    say()
    print_table(
        "Settings ([model] of a recipe)", ["key", "value"], [[k, str(v)] for k, v in settings.model_dump().items()]
    )


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
