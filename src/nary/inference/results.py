"""The results of a predictor: plain dataclasses. Every name comes with its label."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nary.inference.result import Result
from nary.models.base import Kind


@dataclass(frozen=True)
class StoredFact:
    """A fact of the dataset, as text, with labels, and the split it is in."""

    fact: str
    label: str
    split: str


@dataclass(frozen=True, repr=False)
class StoredFacts(Result[StoredFact]):
    """The stored facts that match a pattern; ``total`` counts those not listed too."""

    _items = "facts"

    pattern: str
    total: int
    facts: Sequence[StoredFact]


@dataclass(frozen=True)
class Answer:
    """A candidate for the gap; ``known`` if a stored fact contains the query with this answer.

    ``stored`` is such a fact, with the fewest further qualifiers, and ``matches`` the number of them.
    """

    name: str
    label: str
    probability: float
    score: float
    known: bool
    stored: StoredFact | None = None
    matches: int = 0


@dataclass(frozen=True)
class EstimatedValue:
    """The median of the numbers or dates that stand in the gap, by their probability, and an interval around it.

    ``low``, ``median`` and ``high`` are literals that the model knows; the value is between the first and the last
    with ``probability``.
    """

    label: str
    low: str
    median: str
    high: str
    probability: float


@dataclass(frozen=True, repr=False)
class Prediction(Result[Answer]):
    """The best answers to a query with one gap, best first; with ``known="first"`` those that are known before others.

    ``matches`` is the number of stored facts that contain the query. ``calibrated`` if the probabilities were
    calibrated on facts the model was not trained on. ``value`` is given where numbers or dates are expected.
    ``approximate`` if an index was used, which may miss answers.
    """

    _items = "answers"

    query: str
    position: str
    answers: Sequence[Answer]
    matches: int = 0
    notes: Sequence[str] = ()
    calibrated: bool = False
    value: EstimatedValue | None = None
    approximate: bool = False

    def _gist(self) -> str:
        shown = [f"{answer.label} {answer.probability:.1%}" for answer in self.answers[:3]]
        return ", ".join([*shown, *(["..."] if len(self) > len(shown) else [])]) or "no answers"


@dataclass(frozen=True)
class FilledElement:
    """What a completion puts into one gap; ``position`` is that of the gap in the query."""

    position: str
    name: str
    label: str


@dataclass(frozen=True)
class Completion:
    """A query with all gaps filled; ``score`` is its joint log probability, the rest is as in :class:`Answer`."""

    fact: str
    elements: Sequence[FilledElement]
    probability: float
    score: float
    known: bool
    stored: StoredFact | None = None
    matches: int = 0


@dataclass(frozen=True, repr=False)
class Completions(Result[Completion]):
    """The best completions of a query with several gaps, like :class:`Prediction`."""

    _items = "answers"

    query: str
    positions: Sequence[str]
    answers: Sequence[Completion]
    matches: int = 0
    notes: Sequence[str] = ()
    calibrated: bool = False
    experimental: bool = True


@dataclass(frozen=True)
class ElementPlausibility:
    """How well one element fits the rest of its fact; ``rank`` is filtered, 1 is the best.

    ``fit`` is its probability times the number of candidates the model hesitates between, at most 1.
    """

    position: str
    name: str
    label: str
    rank: float
    probability: float
    fit: float


@dataclass(frozen=True, repr=False)
class Plausibility(Result[ElementPlausibility]):
    """The probability that a fact is true, and its elements, those that fit least first.

    It is ``calibrated`` on facts the model was not trained on and corrupted ones, half and half; without such facts it
    is the product of the fits. ``known`` and the next two are as in :class:`Answer`.
    """

    _items = "elements"

    fact: str
    plausibility: float
    calibrated: bool
    known: bool
    stored: StoredFact | None
    matches: int
    elements: Sequence[ElementPlausibility]
    notes: Sequence[str] = ()

    def _gist(self) -> str:
        return f"{self.plausibility:.1%} plausible"


@dataclass(frozen=True)
class Suggestion:
    """A qualifier that a fact may lack; ``known`` if a stored fact contains the fact with this qualifier.

    ``stored`` is such a fact, with the fewest further qualifiers, and ``matches`` the number of them.
    """

    attribute: str
    attribute_label: str
    value: str
    value_label: str
    probability: float
    known: bool
    stored: StoredFact | None = None
    matches: int = 0


@dataclass(frozen=True, repr=False)
class Suggestions(Result[Suggestion]):
    """Qualifiers that a fact may lack, in the order of :class:`Prediction`.

    ``matches`` is the number of stored facts that contain the fact, also those without further qualifiers.
    """

    _items = "suggestions"

    fact: str
    suggestions: Sequence[Suggestion]
    matches: int = 0
    notes: Sequence[str] = ()
    calibrated: bool = False


@dataclass(frozen=True)
class Neighbor:
    """An entity or relation with a similar vector."""

    name: str
    label: str
    similarity: float


@dataclass(frozen=True, repr=False)
class Neighbors(Result[Neighbor]):
    """The most similar names of the same kind, nearest first."""

    _items = "neighbors"

    name: str
    label: str
    kind: Kind
    neighbors: Sequence[Neighbor]


@dataclass(frozen=True)
class Found:
    """A name that a search found."""

    name: str
    label: str
    kind: Kind

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dict(vars(self))
