"""Why a model gives an answer: contributions of elements, rules, similar facts, attention."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nary.inference.result import Result
from nary.inference.results import StoredFact


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


@dataclass(frozen=True, repr=False)
class RuleList(Result[Rule]):
    """Rules of a model, the most confident first; ``total`` counts all rules of the model."""

    _items = "rules"

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


@dataclass(frozen=True, repr=False)
class Explanation(Result[Contribution]):
    """Why a model gives an answer: contributions to its score, similar training facts, attention.

    ``rules`` that name it and ``parts`` that speak for it are there if the model has rules or is a blend.
    """

    _items = "contributions"

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
