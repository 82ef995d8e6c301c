"""Strict, typed, frozen settings, read from TOML. An unknown key is an error that suggests the nearest valid one."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from nary.errors import SettingError, did_you_mean
from nary.files.reading import read_bytes


class Settings(BaseModel):
    """Base class of all settings."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


SettingsType = TypeVar("SettingsType", bound=Settings)


def validate_settings(
    kind: type[SettingsType], values: Mapping[str, Any], table: str, file: str | None = None
) -> SettingsType:
    """Build settings of ``kind`` from ``values``; ``table`` is the name of their table in error messages."""
    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join([table, *(str(part) for part in first["loc"])])
        if first["type"] == "extra_forbidden":
            known = [f"{table}.{name}" for name in kind.model_fields]
            raise SettingError(f"unknown key {key}", did_you_mean(key, known), file) from None
        if first["type"] == "missing":
            raise SettingError(f"{key} is missing", file=file) from None
        if not first["loc"]:  # a validator of the whole model: values that do not fit together
            raise SettingError(f"{table}: {first['msg'].removeprefix('Value error, ')}", file=file) from None
        raise SettingError(f"{key} is {first['input']!r}", f"{first['msg']}.", file) from None


def read_toml(path: Path) -> dict[str, Any]:
    """Read the tables of a TOML file."""
    try:
        return parse_toml(read_bytes(path).decode())
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"not TOML: {error}", file=str(path)) from None
    except (OSError, ValueError) as error:
        raise SettingError(f"cannot be read: {error}", file=str(path)) from None


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; what the parser cannot take, such as very many brackets or digits, is an error of the text."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # from int(), which limits the number of digits
        raise tomllib.TOMLDecodeError("a number with too many digits") from None


def with_overrides(tables: Mapping[str, Mapping[str, Any]], overrides: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return a copy of ``tables`` in which ``overrides``, by keys ``table.key``, replace values."""
    changed = {name: dict(table) for name, table in tables.items()}
    for key, value in overrides.items():
        table, _, name = key.partition(".")
        changed.setdefault(table, {})[name] = value
    return changed


def parse_overrides(texts: Sequence[str]) -> dict[str, Any]:
    """Parse settings written as ``table.key=value``, where values are TOML or plain words."""
    overrides = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not all(key.strip().partition(".")):
            raise SettingError(f"cannot read the setting {text!r}", "Write table.key=value: training.epochs=20")
        overrides[key.strip()] = _parse_value(value.strip())
    return overrides


def _parse_value(text: str) -> Any:
    try:
        return parse_toml(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
