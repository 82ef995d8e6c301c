"""``nary models``: what can be trained."""

from typing import Annotated

import typer

from nary.apps.cli.options import Json
from nary.apps.cli.output import open_data, print_json, print_table


def models(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", show_default=False, help="A model to look at.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", metavar="DATA", help="Count its parameters on this data.")
    ] = None,
    json: Json = False,
) -> None:
    """List the models, or show one: its settings and, for a dataset, how many parameters it has.

    Example: nary models gran --data jf17k
    """
    from nary.models.registry import MODELS, find

    if name is None:
        listed = [
            {"name": m.name, "family": m.family, "positions": m.positions, "about": m.about, "source": m.source}
            for m in MODELS.values()
        ]
        if json:
            print_json(listed)
        else:
            print_table(
                "Models", ["name", "family", "what it is"], [[m["name"], m["family"], m["about"]] for m in listed]
            )
        return
    entry = find(name)
    shown: dict[str, object] = {
        "name": entry.name,
        "family": entry.family,
        "positions": entry.positions,
        "source": entry.source,
    }
    settings = entry.settings()
    if data is not None:
        from nary.inference.folder import sizes_of
        from nary.recipe import choose

        dataset = open_data(data, quiet=json)
        settings = choose(dataset.name, name).model
        model = entry.make(settings, sizes_of(dataset))
        model.prepare(dataset.train)  # some have parameters for what is in the facts
        shown["parameters"] = sum(parameter.numel() for parameter in model.parameters())
    shown["settings"] = settings.model_dump()
    if json:
        print_json(shown)
        return
    print_table(entry.about, ["", ""], [[key, _text(value)] for key, value in shown.items() if key != "settings"])
    typer.echo()
    print_table(
        "Settings ([model] of a recipe)", ["key", "value"], [[k, str(v)] for k, v in settings.model_dump().items()]
    )


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
