"""The results of a predictor: plain dataclasses. Every name comes with its label."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nary.evaluation.metrics import Metrics
from nary.inference.result import AsDict, Result
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
class FactGroup:
    """The stored facts in which an entity stands in one place, and the first of them.

    It is their subject or object, and ``relation`` their relation; or it is the value of the attribute ``relation``.
    """

    role: str
    relation: str
    label: str
    total: int
    facts: Sequence[StoredFact]


@dataclass(frozen=True)
class EntityProfile(AsDict):
    """What stored facts say about an entity: ``total`` facts in groups, the largest first.

    ``num_groups`` counts those not listed too.
    """

    name: str
    label: str
    types: Sequence[str]
    total: int
    num_groups: int
    groups: Sequence[FactGroup]


@dataclass(frozen=True)
class NameCount:
    """A name, and how often it occurs."""

    name: str
    label: str
    count: int


@dataclass(frozen=True)
class SlotCounts:
    """What stands in one place of the facts of a relation: the most frequent names of ``distinct`` ones."""

    distinct: int
    names: Sequence[NameCount]


@dataclass(frozen=True)
class RelationProfile(AsDict):
    """How a relation is used: in ``facts`` by split, and as the attribute of ``as_attribute`` qualifiers.

    ``metrics`` are the groups of stored reports about this relation, by split.
    """

    name: str
    label: str
    facts: Mapping[str, int]
    arities: Mapping[int, int]
    subjects: SlotCounts
    objects: SlotCounts
    attributes: SlotCounts
    as_attribute: int
    values: SlotCounts
    metrics: Mapping[str, Metrics]


@dataclass(frozen=True)
class RelationCount:
    """A relation with the number of its facts, and of the qualifiers that have it as attribute."""

    name: str
    label: str
    facts: int
    as_attribute: int


@dataclass(frozen=True)
class RelationCounts(AsDict):
    """Relations, those with the most facts first; ``total`` counts those not listed too."""

    total: int
    relations: Sequence[RelationCount]


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
class DoubtfulFacts(AsDict):
    """Stored facts about an entity, the least plausible first; the ``checked`` ones of ``total`` after ``offset``."""

    name: str
    label: str
    total: int
    offset: int
    checked: int
    facts: Sequence[Plausibility]


@dataclass(frozen=True)
class MissingSlot:
    """A place in which an entity may be missing, and the best answers for the other end.

    It may be the subject or object (``role``) of a fact with ``relation``. ``share`` is how many of ``compared``
    entities like it have such a fact, or one more if it has some (``known``). ``query`` has the gap that ``answers``
    fill; their probabilities hold if there is such a fact.
    """

    role: str
    relation: str
    label: str
    known: int
    share: float
    compared: int
    query: str
    answers: Sequence[Answer]


@dataclass(frozen=True)
class MissingFacts(AsDict):
    """What is probably missing about an entity, the most probable first."""

    name: str
    label: str
    slots: Sequence[MissingSlot]
    notes: Sequence[str] = ()
    calibrated: bool = False


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
