"""What the endpoints answer beyond the results of the predictor."""

from typing import Any

from pydantic import BaseModel, Field

from nary.apps.server.sent_facts import FactForm
from nary.facts import Fact, Position, Query, Vocabulary
from nary.facts.fact import GAP, Element, Role
from nary.facts.graph import fact_graph
from nary.inference.results import Contribution, Found, Plausibility, SupportingFact


class Shown(BaseModel):
    """One element of a fact."""

    position: str = Field(examples=["value 1"])
    role: Role
    name: str | None = Field(description="`null` where the element is missing.")
    label: str = Field(description="The name as people read it, or `?`.")


class ShownFact(BaseModel):
    """A fact or query in every form a client may need."""

    fact: str = Field(description="The one-line form.")
    form: FactForm = Field(description="The JSON form.")
    elements: list[Shown] = Field(description="Its elements with their labels.")

    @classmethod
    def of(cls, statement: Fact | Query, vocabulary: Vocabulary) -> "ShownFact":
        """Show a fact or query; names that are not known are their own labels."""
        return cls(fact=str(statement), form=FactForm.of(statement), elements=_shown(statement, vocabulary))


def _shown(statement: Fact | Query, vocabulary: Vocabulary) -> list[Shown]:
    def shown(position: Position, element: Element) -> Shown:
        name = None if element is GAP else str(element)
        return Shown(
            position=str(position), role=position.role, name=name, label=vocabulary.label(name) if name else "?"
        )

    return [shown(position, element) for position, element in statement.elements().items()]


class KnownFact(ShownFact):
    """A fact the model knows."""

    split: str = Field(description="Where it stands in the data: train, valid, test or context.")


class KnownFacts(BaseModel):
    """A page of the facts that mention an entity."""

    entity: str
    label: str
    total: int = Field(description="How many facts mention it.")
    facts: list[KnownFact]


class Joined(BaseModel):
    """An edge of the graph of a fact."""

    first: str = Field(description="The position of a vertex.")
    second: str = Field(description="The position of the other.")
    type: int = Field(description="As in attention: 1 to 4.")
    label: str = Field(examples=["subject-relation"])


class Graph(BaseModel):
    """A fact as a typed graph, with the fact in both forms."""

    fact: str
    form: FactForm
    vertices: list[Shown]
    edges: list[Joined]

    @classmethod
    def of(cls, statement: Fact | Query, vocabulary: Vocabulary) -> "Graph":
        """The graph of a fact or query, each kind of edge with a type of its own."""
        edges = [
            Joined(first=str(edge.first), second=str(edge.second), type=int(edge.type), label=edge.label)
            for edge in fact_graph(statement).edges
        ]
        vertices = _shown(statement, vocabulary)
        return cls(fact=str(statement), form=FactForm.of(statement), vertices=vertices, edges=edges)


class Scored(BaseModel):
    """How plausible the facts are, in the order they were sent."""

    facts: list[Plausibility]


class SearchHits(BaseModel):
    """What was found, best first."""

    found: list[Found]


class Examples(BaseModel):
    """Queries to start from."""

    examples: list[ShownFact]


class AttentionWeight(BaseModel):
    """How much one element looks at another."""

    source: str = Field(alias="from", description="The position that looks.")
    target: str = Field(alias="to", description="The position looked at.")
    type: int = Field(description="The type of the edge between them.")
    weight: float


class Explained(BaseModel):
    """Why the model gives an answer."""

    fact: str
    position: str
    answer: str
    label: str
    probability: float
    score: float
    rank: float
    contributions: list[Contribution] = Field(description="What each known element adds to the score, largest first.")
    supporting: list[SupportingFact] = Field(description="Facts the model learned from that ask something similar.")
    attention: list[AttentionWeight]
    notes: list[str]


class Counts(BaseModel):
    """The sizes of the data the model learned from."""

    entities: int
    relations: int
    facts: dict[str, int] = Field(description="Facts in each split.")
    arities: dict[int, int] = Field(description="Facts of each arity.")


class ModelDescription(BaseModel):
    """What model this is."""

    name: str = Field(examples=["gran"])
    settings: dict[str, Any]
    parameters: int
    dataset: str
    counts: Counts
    predicts: list[Role] = Field(description="The roles it can predict.")
    calibrated: bool = Field(description="Whether probabilities were fitted to facts it has not learned from.")
    metrics: list[dict[str, Any]] = Field(
        description="What `nary evaluate` has found, a report for each split and protocol: metrics.json."
    )
    version: str = Field(description="The version of Nary.")


class Health(BaseModel):
    """That the server is there."""

    status: str = Field(examples=["ok"])
