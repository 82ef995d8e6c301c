"""A recipe in a few words: the shipped one it is nearest to, and what is different."""

from collections.abc import Mapping
from typing import Any

from nary.recipe import Recipe, choose, shipped

_SHOWN = 3
_NO_PART = {"data.name", "training.seed", "training.device", "training.precision", "training.checkpoint_minutes"}
"""What does not make it another recipe."""


def recipe_label(recipe: Recipe) -> str:
    """Such as ``gran/nobel`` or ``gran/nobel, epochs=20``; the protocol does not count."""
    own, differences = _settings(recipe), {}
    for name in [name for name in shipped() if name.startswith(f"{recipe.model_name}/")] or ["defaults"]:
        other = _settings(choose(recipe.data.name, recipe.model_name, None if name == "defaults" else name))
        differences[name] = [f"{key.partition('.')[2]}={_text(own[key])}" for key in own if own[key] != other.get(key)]
    usual = f"{recipe.model_name}/{recipe.data.name}"
    nearest = min(differences, key=lambda name: (len(differences[name]), name != usual, name))
    changed = differences[nearest]
    more = [f"{len(changed) - _SHOWN} more changes"] if len(changed) > _SHOWN else []
    return ", ".join([nearest, *changed[:_SHOWN], *more])


def _settings(recipe: Recipe) -> Mapping[str, Any]:
    tables = recipe.model_dump(exclude={"evaluation"})
    flat = {f"{table}.{key}": value for table, content in tables.items() for key, value in content.items()}
    return {key: value for key, value in flat.items() if key not in _NO_PART}


def _text(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)
