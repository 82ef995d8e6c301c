"""The results of a predictor: plain dataclasses with ``as_dict`` for JSON. Every name comes with its label."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

from nary.models.base import Kind


class _Result:
    """Gives a result dataclass its JSON form."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: _plain(value) for name, value in vars(self).items()}


_SEQUENCES = (list, tuple)
_PLAIN = (str, float, int, NoneType)


def _plain(value: Any) -> Any:
    """Like ``dataclasses.asdict``, in a fraction of the time."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, _SEQUENCES):
        return [_plain(one) for one in value]
    return {name: _plain(item) for name, item in vars(value).items()}


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


@dataclass(frozen=True)
class Prediction(_Result):
    """The best answers to a query with one gap, best first; with ``known="first"`` those that are known before others.

    ``matches`` is the number of stored facts that contain the query. ``calibrated`` if the probabilities were
    calibrated on facts the model was not trained on. ``value`` is given where numbers or dates are expected.
    """

    query: str
    position: str
    answers: Sequence[Answer]
    matches: int = 0
    notes: Sequence[str] = ()
    calibrated: bool = False
    value: EstimatedValue | None = None


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


@dataclass(frozen=True)
class Completions(_Result):
    """The best completions of a query with several gaps, like :class:`Prediction`."""

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


@dataclass(frozen=True)
class Plausibility(_Result):
    """The probability that a fact is true, and its elements, those that fit least first.

    It is ``calibrated`` on facts the model was not trained on and corrupted ones, half and half; without such facts it
    is the product of the fits. ``known`` and the next two are as in :class:`Answer`.
    """

    fact: str
    plausibility: float
    calibrated: bool
    known: bool
    stored: StoredFact | None
    matches: int
    elements: Sequence[ElementPlausibility]
    notes: Sequence[str] = ()


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


@dataclass(frozen=True)
class Suggestions(_Result):
    """Qualifiers that a fact may lack, in the order of :class:`Prediction`.

    ``matches`` is the number of stored facts that contain the fact, also those without further qualifiers.
    """

    fact: str
    suggestions: Sequence[Suggestion]
    matches: int = 0
    notes: Sequence[str] = ()
    calibrated: bool = False


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
class Named:
    """A fact as text, and with labels instead of names."""

    fact: str
    label: str


@dataclass(frozen=True)
class RuleReason:
    """A rule that names the answer: it held in ``support`` of ``cases``. ``facts`` are known and make it apply."""

    kind: str
    rule: str
    confidence: float
    support: int
    cases: int
    facts: Sequence[Named]


@dataclass(frozen=True)
class PartVote:
    """What a part of a blend says of the answer; ``weight`` is its share of all weights for such queries."""

    model: str
    weight: float
    probability: float
    rank: int


@dataclass(frozen=True)
class RuleExample:
    """A training fact that a rule is right about, and the facts from which it follows."""

    fact: Named
    because: Sequence[Named]


@dataclass(frozen=True)
class Rule:
    """A rule: the element in ``target`` is ``answer``, or what the body leads to, in ``support`` of ``cases``."""

    kind: str
    relation: str | None
    target: str
    body: str
    answer: str | None
    support: int
    cases: int
    confidence: float
    example: RuleExample | None


@dataclass(frozen=True)
class RuleList(_Result):
    """Rules of a model, the most confident first; ``total`` counts all rules of the model."""

    relation: str | None
    total: int
    rules: Sequence[Rule]


@dataclass(frozen=True)
class Attention:
    """How much the element at ``source`` attends to ``target``; ``type`` is that of the edge between them."""

    source: str
    target: str
    type: int
    weight: float


@dataclass(frozen=True)
class Explanation(_Result):
    """Why a model gives an answer: contributions to its score, similar training facts, attention.

    ``rules`` that name it and ``parts`` that speak for it are there if the model has rules or is a blend.
    """

    fact: str
    position: str
    answer: str
    label: str
    probability: float
    score: float
    rank: float
    known: bool
    stored: StoredFact | None
    matches: int
    contributions: Sequence[Contribution]
    supporting: Sequence[SupportingFact]
    attention: Sequence[Attention]
    rules: Sequence[RuleReason] = ()
    parts: Sequence[PartVote] = ()
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
