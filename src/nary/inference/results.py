"""The results of a predictor: plain dataclasses with ``as_dict`` for JSON. Every name comes with its label."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nary.models.base import Kind


class _Result:
    """Gives a result dataclass its JSON form."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: _plain(value) for name, value in vars(self).items()}


_SEQUENCES = (list, tuple)
_PLAIN = (str, float, int)


def _plain(value: Any) -> Any:
    """Like ``dataclasses.asdict``, in a fraction of the time."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, _SEQUENCES):
        return [_plain(one) for one in value]
    return {name: _plain(item) for name, item in vars(value).items()}


@dataclass(frozen=True)
class Answer:
    """A candidate for the gap; ``known`` if it completes the query to a known fact."""

    name: str
    label: str
    probability: float
    score: float
    known: bool


@dataclass(frozen=True)
class Prediction(_Result):
    """The best answers to a query with one gap, best first.

    ``calibrated`` if the probabilities were calibrated on facts the model was not trained on.
    """

    query: str
    position: str
    answers: Sequence[Answer]
    notes: Sequence[str] = ()
    calibrated: bool = False


@dataclass(frozen=True)
class FilledElement:
    """What a completion puts into one gap; ``position`` is that of the gap in the query."""

    position: str
    name: str
    label: str


@dataclass(frozen=True)
class Completion:
    """A query with all gaps filled; ``score`` is its joint log probability."""

    fact: str
    elements: Sequence[FilledElement]
    probability: float
    score: float
    known: bool


@dataclass(frozen=True)
class Completions(_Result):
    """The best completions of a query with several gaps, best first."""

    query: str
    positions: Sequence[str]
    answers: Sequence[Completion]
    notes: Sequence[str] = ()
    calibrated: bool = False
    experimental: bool = True


@dataclass(frozen=True)
class ElementPlausibility:
    """How well one element fits the rest of its fact; ``rank`` is filtered, 1 is the best."""

    position: str
    name: str
    label: str
    rank: float
    probability: float


@dataclass(frozen=True)
class Plausibility(_Result):
    """How plausible a fact is, from 0 to 1, and its elements, least plausible first."""

    fact: str
    plausibility: float
    known: bool
    elements: Sequence[ElementPlausibility]


@dataclass(frozen=True)
class Suggestion:
    """A qualifier that a fact may lack."""

    attribute: str
    attribute_label: str
    value: str
    value_label: str
    probability: float


@dataclass(frozen=True)
class Suggestions(_Result):
    """Qualifiers that a fact may lack, most probable first."""

    fact: str
    suggestions: Sequence[Suggestion]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Contribution:
    """What one known element, or qualifier, adds to the score of the answer: ``score - score_without``."""

    position: str
    name: str
    label: str
    probability_without: float
    score_without: float
    contribution: float


@dataclass(frozen=True)
class SupportingFact:
    """A training fact that answers a similar query; ``answer`` is its answer."""

    fact: str
    label: str
    """The fact with labels instead of names."""
    answer: str
    similarity: float


@dataclass(frozen=True)
class Attention:
    """How much the element at ``source`` attends to ``target``; ``type`` is that of the edge between them."""

    source: str
    target: str
    type: int
    weight: float


@dataclass(frozen=True)
class Explanation(_Result):
    """Why a model gives an answer: contributions to its score, similar training facts, attention."""

    fact: str
    position: str
    answer: str
    label: str
    probability: float
    score: float
    rank: float
    contributions: Sequence[Contribution]
    supporting: Sequence[SupportingFact]
    attention: Sequence[Attention]
    notes: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON; attention has the keys ``from`` and ``to``."""
        attention = [
            {"from": one.source, "to": one.target, "type": one.type, "weight": one.weight} for one in self.attention
        ]
        return {**super().as_dict(), "attention": attention}


@dataclass(frozen=True)
class Neighbor:
    """An entity or relation with a similar vector."""

    name: str
    label: str
    similarity: float


@dataclass(frozen=True)
class Neighbors(_Result):
    """The most similar names of the same kind, nearest first."""

    name: str
    label: str
    kind: Kind
    neighbors: Sequence[Neighbor]


@dataclass(frozen=True)
class Found(_Result):
    """A name that a search found."""

    name: str
    label: str
    kind: Kind


@dataclass(frozen=True)
class StoredFact:
    """A fact of the dataset, as text, with labels, and the split it is in."""

    fact: str
    label: str
    split: str


@dataclass(frozen=True)
class StoredFacts(_Result):
    """The stored facts that match a pattern; ``total`` counts those not listed too."""

    pattern: str
    total: int
    facts: Sequence[StoredFact]
