"""``nary recipes``: the recipes that ship with Nary, and the meaning of each key."""

from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer

from nary.apps.cli.options import Json
from nary.apps.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from nary.config import Settings


def recipes(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", show_default=False, help="A model, or the recipe to show.")
    ] = None,
    json: Json = False,
) -> None:
    """List the recipes that ship with Nary, for all models or one, or show a recipe: every key with value and meaning.

    Example: nary recipes gran/nobel
    """
    from nary.errors import SettingError, did_you_mean
    from nary.recipe import shipped_recipes

    recipes_by_name = {
        recipe_name: path
        for recipe_name, path in shipped_recipes().items()
        if name is None or recipe_name.startswith(f"{name}/")
    }
    if recipes_by_name:
        about = {recipe_name: _about(path) for recipe_name, path in recipes_by_name.items()}
        if json:
            print_json([{"name": recipe_name, "about": text} for recipe_name, text in about.items()])
        else:
            print_table(
                "Recipes", ["name", "description"], [[recipe_name, text] for recipe_name, text in about.items()]
            )
        return
    if name not in shipped_recipes():
        models = {recipe_name.partition("/")[0] for recipe_name in shipped_recipes()}
        raise SettingError(
            f"no recipe or model with recipes is called {name!r}",
            did_you_mean(str(name), [*models, *shipped_recipes()]),
        )
    keys = _keys(name)
    if json:
        print_json({"name": name, "about": _about(shipped_recipes()[name]), "keys": keys})
        return
    say(_about(shipped_recipes()[name]))
    print_table(
        "", ["key", "value", "accepted values", "meaning"], [[_text(one[part]) for part in one] for one in keys]
    )
    say(f"Next: nary train DATA --recipe {name} --set KEY=VALUE")


def _keys(name: str) -> list[dict[str, Any]]:
    """Every key of a recipe, with defaults for those that its file leaves out."""
    from nary.config import read_toml
    from nary.recipe import Recipe, shipped_recipes

    recipe = Recipe.from_tables(read_toml(shipped_recipes()[name]))
    tables: dict[str, Settings] = {
        "data": recipe.data,
        "model": recipe.model,
        "loss": recipe.loss,
        "training": recipe.training,
        "evaluation": recipe.evaluation,
    }
    return [
        {
            "key": f"{table}.{key}",
            "value": settings.model_dump()[key],
            "may be": _choices(field.annotation),
            "meaning": " ".join((field.description or "").replace("``", "").split()),
        }
        for table, settings in tables.items()
        for key, field in type(settings).model_fields.items()
    ]


def _about(path: Path) -> str:
    """What stands above the first table of a recipe."""
    lines = takewhile(lambda line: line.startswith("#"), path.read_text(encoding="utf-8").splitlines())
    return " ".join(line.removeprefix("#").strip() for line in lines)


def _choices(kind: Any) -> str:
    """The values a key may have: all of them where there are few, the kind of value otherwise."""
    if get_origin(kind) is Literal:
        return ", ".join(map(str, get_args(kind)))
    if get_origin(kind) is Annotated:
        return _choices(get_args(kind)[0])
    if get_args(kind):  # a list, or a value that may be left out
        return " or ".join(_choices(part) for part in get_args(kind) if part is not type(None))
    return {bool: "true, false", int: "whole number", float: "number", str: "text"}.get(kind, "tables of a recipe")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(one["model"]["name"] if isinstance(one, dict) else str(one) for one in value)
    return "" if value is None else str(value)
