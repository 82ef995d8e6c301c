"""The settings of a blend: its parts."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, SerializeAsAny, field_validator

from nary.config import Settings, validate_settings
from nary.models.registry import MODELS

BLEND: Literal["blend"] = "blend"
DEFAULT_PARTS = ("rules", "gran")
_MOST_PARTS = 16


class PartSettings(Settings):
    """A part of a blend: its model, and how it is trained, as the tables of its recipe."""

    model: SerializeAsAny[Settings]
    """``[model]`` of its recipe."""
    loss: dict[str, Any] = Field(default={})
    """``[loss]`` of its recipe."""
    training: dict[str, Any] = Field(default={})
    """``[training]`` of its recipe."""

    @property
    def name(self) -> str:
        """The name of the model."""
        return str(self.model.name)  # type: ignore[attr-defined]

    @field_validator("model", mode="before")
    @classmethod
    def _read_model(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        model = MODELS.get(str(value.get("name", "gran")))
        return validate_settings(model.settings_class, value, "model.parts.model")


def _default_parts() -> list[PartSettings]:
    return [PartSettings(model=MODELS.get(name).settings_class()) for name in DEFAULT_PARTS]


class BlendSettings(Settings):
    """``[model]`` of a recipe for a blend."""

    name: Literal["blend"] = BLEND
    parts: list[PartSettings] = Field(default_factory=_default_parts, min_length=1, max_length=_MOST_PARTS)
    """The models to blend. In a recipe, a part may also be the name of a model or of a shipped recipe."""
