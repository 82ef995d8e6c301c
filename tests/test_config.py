"""Settings from TOML and from the command line."""

from pathlib import Path
from typing import Literal

import pytest
from pydantic import Field

from nary.config import Settings, parse_overrides, read_toml, validate_settings, with_overrides
from nary.errors import SettingError


class Toy(Settings):
    epochs: int = Field(3, ge=1)
    rate: float = 0.5
    kind: Literal["fast", "slow"] = "fast"
    names: list[str] = Field([])
    needed: bool


def test_values_become_settings() -> None:
    found = validate_settings(Toy, {"epochs": 5, "rate": 1, "needed": True}, "toy")
    assert found == Toy(epochs=5, rate=1.0, needed=True)
    assert isinstance(found.rate, float)


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Toy(needed=True).epochs = 4  # type: ignore[misc]


@pytest.mark.parametrize(
    ("values", "message", "hint"),
    [
        ({"needed": True, "epcohs": 3}, "unknown key toy.epcohs", "toy.epochs"),
        ({}, "toy.needed is missing", None),
        ({"needed": True, "epochs": "3"}, "toy.epochs is '3'", "valid integer"),
        ({"needed": True, "epochs": 2.5}, "toy.epochs is 2.5", "valid integer"),
        ({"needed": True, "epochs": True}, "toy.epochs is True", "valid integer"),
        ({"needed": True, "epochs": 0}, "toy.epochs is 0", "greater than or equal to 1"),
        ({"needed": True, "rate": float("inf")}, "toy.rate is inf", "finite number"),
        ({"needed": True, "kind": "quick"}, "toy.kind is 'quick'", "'fast' or 'slow'"),
        ({"needed": True, "names": ["a", 1]}, "toy.names.1 is 1", "valid string"),
        ({"needed": "yes"}, "toy.needed is 'yes'", "valid boolean"),
    ],
)
def test_a_mistake_is_named(values: dict[str, object], message: str, hint: str | None) -> None:
    with pytest.raises(SettingError) as caught:
        validate_settings(Toy, values, "toy", "toy.toml")
    assert caught.value.message == message
    assert caught.value.file == "toy.toml"
    assert (caught.value.hint is None) if hint is None else (hint in str(caught.value.hint))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("training.epochs=20", 20),
        ("training.learning_rate = 5e-4", 5e-4),
        ("model.tie_embeddings=false", False),
        ("model.variant=homo", "homo"),
        ('model.variant="homo"', "homo"),
        ('data.train_on=["train", "valid"]', ["train", "valid"]),
        ("data.name=a=b", "a=b"),
        ("data.name=", ""),
        ("data.name=../my facts.jsonl", "../my facts.jsonl"),
    ],
)
def test_settings_on_the_command_line(text: str, value: object) -> None:
    [(key, found)] = parse_overrides([text]).items()
    assert key == text.partition("=")[0].strip()
    assert found == value
    assert type(found) is type(value)


def test_the_last_of_two_values_counts() -> None:
    assert parse_overrides(["a.b=1", "a.b=2"]) == {"a.b": 2}


@pytest.mark.parametrize("text", ["", "epochs", "epochs=3", "training.epochs", ".epochs=3", "training.=3", "=3"])
def test_what_is_no_setting(text: str) -> None:
    with pytest.raises(SettingError, match="cannot read the setting") as caught:
        parse_overrides([text])
    assert "table.key=value" in str(caught.value.hint)


def test_overrides_leave_the_original_alone() -> None:
    tables = {"a": {"x": 1, "y": 2}}
    assert with_overrides(tables, {"a.x": 3, "b.z": 4}) == {"a": {"x": 3, "y": 2}, "b": {"z": 4}}
    assert tables == {"a": {"x": 1, "y": 2}}


@pytest.mark.parametrize("content", [b"[a", b"a = 1\na = 2", b"\xff\xfe"])
def test_what_is_not_toml(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    with pytest.raises(SettingError) as caught:
        read_toml(path)
    assert caught.value.file == str(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="cannot be read"):
        read_toml(tmp_path / "none.toml")
