"""Every model by name; its code is imported when it is needed."""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nary.config import Settings
from nary.errors import SettingError, did_you_mean

if TYPE_CHECKING:
    from nary.models.contract import Model, Sizes


@dataclass(frozen=True)
class Entry:
    """Where a model and its settings are, and what to say about it."""

    name: str
    family: str
    settings_at: str
    model_at: str
    source: str
    about: str

    @property
    def settings(self) -> type[Settings]:
        """The class of the model's settings."""
        return _imported(self.settings_at)

    def make(self, settings: Settings, sizes: "Sizes") -> "Model":
        """A new model."""
        return _imported(self.model_at)(settings, sizes)

    @property
    def positions(self) -> list[str]:
        """The roles the model predicts."""
        return sorted(role.value for role in _imported(self.model_at).roles)


_ENTRIES = (
    Entry(
        "gran",
        "attention",
        "nary.models.gran.settings:GranSettings",
        "nary.models.gran.model:Gran",
        "Wang et al., Link Prediction on N-ary Relational Facts: A Graph-based Approach, Findings of ACL 2021",
        "a fact as a small typed graph, encoded by attention with biases for its edges",
    ),
    Entry(
        "frequency",
        "baseline",
        "nary.models.frequency:FrequencySettings",
        "nary.models.frequency:Frequency",
        "Nary",
        "answers with what stands most often in that place: the floor every system must beat",
    ),
)
MODELS = {entry.name: entry for entry in _ENTRIES}


def find(name: str) -> Entry:
    """The model of that name; an error that lists the nearest names if there is none."""
    if name not in MODELS:
        raise SettingError(f"unknown model {name!r}", did_you_mean(name, MODELS))
    return MODELS[name]


def _imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
