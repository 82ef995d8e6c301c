"""Settings: strict, typed, frozen; read from TOML; an unknown key is an error that names the nearest valid one."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from nary.errors import SettingError, did_you_mean


class Settings(BaseModel):
    """The base of all settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


SettingsType = TypeVar("SettingsType", bound=Settings)


def validated(kind: type[SettingsType], values: Mapping[str, Any], where: str, file: str | None = None) -> SettingsType:
    """``values`` as settings of ``kind``; ``where`` is the name of their table, for messages."""
    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join([where, *(str(part) for part in first["loc"])])
        if first["type"] == "extra_forbidden":
            known = [f"{where}.{name}" for name in kind.model_fields]
            raise SettingError(f"unknown key {key}", did_you_mean(key, known), file) from None
        if first["type"] == "missing":
            raise SettingError(f"{key} is missing", file=file) from None
        if not first["loc"]:  # two values that do not go together
            raise SettingError(f"{where}: {first['msg'].removeprefix('Value error, ')}", file=file) from None
        raise SettingError(f"{key} is {first['input']!r}", f"{first['msg']}.", file) from None


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"cannot be read: {error}", file=str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"not TOML: {error}", file=str(path)) from None


def with_overrides(tables: Mapping[str, Mapping[str, Any]], overrides: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """``tables`` with other values for the keys ``table.key`` of ``overrides``."""
    changed = {name: dict(table) for name, table in tables.items()}
    for key, value in overrides.items():
        table, _, name = key.partition(".")
        changed.setdefault(table, {})[name] = value
    return changed


def parse_overrides(texts: Sequence[str]) -> dict[str, Any]:
    """Settings written ``table.key=value``; values are written as in TOML, or as plain words."""
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not all(key.strip().partition(".")):
            raise SettingError(f"cannot read the setting {text!r}", "Write table.key=value: training.epochs=20")
        found[key.strip()] = _value(value.strip())
    return found


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
