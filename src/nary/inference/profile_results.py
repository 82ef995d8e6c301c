"""What is known about an entity or a relation, what is probably missing, and what looks doubtful."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nary.evaluation.metrics import Metrics
from nary.inference.result import AsDict
from nary.inference.results import Answer, Plausibility, StoredFact


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
