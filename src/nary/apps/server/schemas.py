"""The JSON that clients send (``...Request``) and receive (``...Response``, and ``...Out`` for its parts).

Results of the predictor that are JSON already, such as ``Prediction``, are sent as they are.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, WithJsonSchema, model_validator

from nary.facts import Fact, Position, Query, Vocabulary
from nary.facts.fact import GAP, Element, Role
from nary.facts.graph import fact_graph
from nary.inference.explanation_results import Contribution, PartVote, RuleReason, SupportingFact
from nary.inference.prediction import Known
from nary.inference.results import Completions, Found, Plausibility, Prediction, StoredFact

MAX_ITEMS = 1000
"""The most answers, facts or names in one request or response."""
MAX_QUALIFIERS = 64
"""The most qualifiers of a fact in a request: the work for a fact grows with the square of its size."""
MAX_GIVEN = 50
"""The most facts given with a request."""
MAX_LINES = 200
"""The most lines in one request: longer files are sent in parts."""
_NAME = r"^[^\u0000]*[^\s\u0000][^\u0000]*$"
_LINE = r"^[^|\u0000]*[^|\s\u0000][^|\u0000]*\|[^|\u0000]*[^|\s\u0000][^|\u0000]*\|[^|\u0000]*[^|\s\u0000][^\u0000]*$"
# Only described, not checked with them: whoever reads the text of a fact says better what is wrong.
_Text = Annotated[str, Field(json_schema_extra={"pattern": _NAME})]
_Value = Annotated[
    Any,
    WithJsonSchema(
        {
            "description": "A name, or a literal: a number, or its value with a type and unit.",
            "anyOf": [
                {"type": "string", "pattern": _NAME},
                {"type": "number"},
                {
                    "type": "object",
                    "properties": {
                        "value": {"anyOf": [{"type": "string"}, {"type": "number"}]},
                        "type": {"type": "string"},
                        "unit": {"type": "string"},
                    },
                    "required": ["value"],
                    "additionalProperties": False,
                },
            ],
        }
    ),
]
_QUERY = "Marie Curie | award received | ? | point in time: 1911"
_FACT = "Marie Curie | award received | Nobel Prize in Chemistry | point in time: 1911"


class FactJson(BaseModel):
    """A fact in the form of Nary's JSON Lines; `?` stands for a missing element."""

    model_config = ConfigDict(extra="forbid")

    subject: _Text
    relation: _Text
    object: _Text
    qualifiers: list[tuple[_Text, _Text]] = Field(
        default=[], description="Pairs of an attribute and a value.", json_schema_extra={"maxItems": MAX_QUALIFIERS}
    )

    @classmethod
    def of(cls, statement: Fact | Query) -> "FactJson":
        """The JSON form of a fact or query."""
        subject, relation, object = (_text(e) for e in (statement.subject, statement.relation, statement.object))
        pairs = [(_text(attribute), _text(value)) for attribute, value in statement.qualifiers]
        return cls(subject=subject, relation=relation, object=object, qualifiers=pairs)


def _text(element: Element) -> str:
    return "?" if element is GAP else str(element)


# Requests


class FactJsonRequest(BaseModel):
    """A line of Nary's JSON Lines; `?` stands for a missing element."""

    model_config = ConfigDict(extra="forbid")

    subject: _Text
    relation: _Text
    object: _Value
    qualifiers: list[tuple[_Text, _Value]] = Field(
        default=[], description="Pairs of an attribute and a value.", json_schema_extra={"maxItems": MAX_QUALIFIERS}
    )
    split: str | None = Field(None, description="Accepted so that lines of a data file can be sent; not used.")


def _fact_tag(value: object) -> str:
    return "json" if isinstance(value, dict) else "text"


FactInput = Annotated[
    Annotated[str, Tag("text"), Field(json_schema_extra={"pattern": _LINE})] | Annotated[FactJsonRequest, Tag("json")],
    Discriminator(_fact_tag),  # without it, an error would be reported for both alternatives
    Field(
        description="`subject | relation | object | attribute: value | ...`, or the same as a JSON object. "
        "`?` stands for a missing element.",
    ),
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


_KNOWN: Known = Field(
    "first",
    description="Where answers go that stored facts give: `first`, among the others by score (`mark`), nowhere "
    "(`hide`), or alone (`only`).",
)


class GrowingRequest(_Request):
    """Requests to which further facts or unknown names can be given."""

    with_facts: list[FactInput] = Field(
        default=[], max_length=MAX_GIVEN, description="Further facts to take as known, with names that may be new."
    )
    unseen: bool = Field(
        False, description="Whether an unknown name is treated as the average of the names in its slot."
    )


class PredictRequest(GrowingRequest):
    """The query to answer."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fact": _QUERY, "k": 5}]})

    fact: FactInput
    k: int = Field(10, ge=1, le=MAX_ITEMS, description="The number of answers, at most 100 for several gaps.")
    known: Known = _KNOWN


class ScoreRequest(GrowingRequest):
    """The fact or facts to score."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"fact": _FACT}], "oneOf": [{"required": ["fact"]}, {"required": ["facts"]}]}
    )

    fact: FactInput | None = None
    facts: list[FactInput] | None = Field(None, max_length=MAX_ITEMS)

    @model_validator(mode="after")
    def _exactly_one(self) -> "ScoreRequest":
        if (self.fact is None) == (self.facts is None):
            raise ValueError("give either fact or facts")
        return self


class LinesRequest(_Request):
    """The lines of a file: facts and queries as text or as JSON."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"lines": [_FACT, _QUERY], "k": 3}]})

    lines: list[str] = Field(max_length=MAX_LINES)
    k: int = Field(5, ge=1, le=100, description="The number of answers for each query.")
    known: Known = _KNOWN


class SuggestRequest(GrowingRequest):
    """The fact to suggest qualifiers for."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fact": _FACT, "k": 5}]})

    fact: FactInput
    k: int = Field(10, ge=1, le=MAX_ITEMS, description="The number of qualifiers.")
    known: Known = _KNOWN


class ExplainRequest(GrowingRequest):
    """A complete fact, and the position of the answer to explain."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fact": _FACT, "position": "object"}]})

    fact: FactInput
    position: str = Field(
        description="`relation`, `subject`, `object`, `attribute 1`, `value 1`, ...",
        # described here and checked where it is read, which has a better message; the same holds for facts
        json_schema_extra={"pattern": "^(relation|subject|object|(attribute|value) [1-9][0-9]{0,8})$"},
    )


class FactsRequest(_Request):
    """A pattern: `?` stands for anything."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fact": _QUERY}]})

    fact: FactInput
    limit: int = Field(20, ge=1, le=MAX_ITEMS, description="The number of facts to list.")
    offset: int = Field(0, ge=0, le=1_000_000_000, description="How many facts to pass over.")


class GraphRequest(_Request):
    """A fact or query."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fact": _QUERY}]})

    fact: FactInput


# Responses


class ErrorDetail(BaseModel):
    """What is wrong and what to do about it."""

    kind: str = Field(description="A short identifier for programs, such as fact, data, token or request.")
    message: str = Field(description="What is wrong.")
    hint: str | None = Field(None, description="What to do about it, such as the nearest known name.")


class ElementOut(BaseModel):
    """An element of a fact."""

    position: str = Field(examples=["value 1"])
    role: Role
    name: str | None = Field(description="`null` if the element is missing.")
    label: str = Field(description="The name in readable form, or `?`.")


class FactOut(BaseModel):
    """A fact or query as text, as JSON and as a list of elements."""

    fact: str = Field(description="The text form.")
    form: FactJson = Field(description="The JSON form.")
    elements: list[ElementOut] = Field(description="The elements with their labels.")

    @classmethod
    def of(cls, statement: Fact | Query, vocabulary: Vocabulary) -> "FactOut":
        """Describe a fact or query; an unknown name is its own label."""
        return cls(fact=str(statement), form=FactJson.of(statement), elements=_elements(statement, vocabulary))


def _elements(statement: Fact | Query, vocabulary: Vocabulary) -> list[ElementOut]:
    def describe(position: Position, element: Element) -> ElementOut:
        name = None if element is GAP else str(element)
        label = vocabulary.label(name) if name else "?"
        return ElementOut(position=str(position), role=position.role, name=name, label=label)

    return [describe(position, element) for position, element in statement.elements().items()]


class EdgeOut(BaseModel):
    """An edge of the graph of a fact."""

    first: str = Field(description="The position of one vertex.")
    second: str = Field(description="The position of the other vertex.")
    type: int = Field(description="The edge type that the attention of the model uses: 1 to 4.")
    label: str = Field(examples=["subject-relation"])


class GraphResponse(BaseModel):
    """A fact as a typed graph, as text and as JSON."""

    fact: str
    form: FactJson
    vertices: list[ElementOut]
    edges: list[EdgeOut]

    @classmethod
    def of(cls, statement: Fact | Query, vocabulary: Vocabulary) -> "GraphResponse":
        """The heterogeneous graph of a fact or query."""
        edges = [
            EdgeOut(first=str(edge.first), second=str(edge.second), type=int(edge.type), label=edge.label)
            for edge in fact_graph(statement).edges
        ]
        vertices = _elements(statement, vocabulary)
        return cls(fact=str(statement), form=FactJson.of(statement), vertices=vertices, edges=edges)


class ScoreResponse(BaseModel):
    """The plausibility of each fact, in the order of the request."""

    facts: list[Plausibility]


class LineOut(BaseModel):
    """The result of a line: one of plausibility, prediction and error."""

    line: int = Field(description="The number of the line in the request, from 1.")
    plausibility: Plausibility | None = Field(default=None, description="For a fact.")
    prediction: Prediction | Completions | None = Field(
        default=None, description="For a query with one gap, or several."
    )
    error: ErrorDetail | None = Field(default=None, description="What is wrong with the line.")


class LinesResponse(BaseModel):
    """A result for each line, in the order of the request."""

    results: list[LineOut]


class SearchResponse(BaseModel):
    """The names that match a search, best first."""

    matches: list[Found]
    nearest: list[Found] = Field(description="If nothing matches: names that may have been meant, if any is near.")


class ExamplesResponse(BaseModel):
    """Example queries."""

    examples: list[FactOut]


class AttentionOut(BaseModel):
    """The attention weight from one element to another."""

    source: str = Field(alias="from", description="The position that attends.")
    target: str = Field(alias="to", description="The position attended to.")
    type: int = Field(description="The type of the edge between them.")
    weight: float


class ExplainResponse(BaseModel):
    """The explanation of an answer."""

    fact: str
    position: str
    answer: str
    label: str
    probability: float
    score: float
    rank: float
    known: bool = Field(description="Whether a stored fact contains the fact.")
    stored: StoredFact | None = Field(description="Such a fact, with the fewest further qualifiers.")
    matches: int = Field(description="The number of such facts.")
    contributions: list[Contribution] = Field(
        description="What each known element contributes to the score, largest first."
    )
    supporting: list[SupportingFact] = Field(description="Training facts that pose a similar query.")
    attention: list[AttentionOut]
    rules: list[RuleReason] = Field(description="Rules that name the answer, if the model has rules; surest first.")
    parts: list[PartVote] = Field(description="What each part of a blend says of the answer.")
    notes: list[str]


class CountsOut(BaseModel):
    """The size of the data the model was trained on."""

    entities: int
    relations: int
    facts: dict[str, int] = Field(description="The number of facts in each split.")
    arities: dict[int, int] = Field(description="The number of facts of each arity.")


class ModelResponse(BaseModel):
    """The model that is served."""

    name: str = Field(examples=["gran"])
    settings: dict[str, Any]
    parameters: int
    description: str = Field(description="What kind of model it is.")
    reference: str = Field(description="Where it was published.")
    dataset: str
    fingerprint: str = Field(description="A hash of the facts and names of the dataset.")
    weights: str | None = Field(description="The SHA-256 of the file of weights.")
    recipe: str = Field(description="All settings of the training, in TOML.")
    updates: list[str] = Field(description="What was added after training.")
    counts: CountsOut
    predicts: list[Role] = Field(description="The roles it can predict.")
    calibrated: bool = Field(description="Whether probabilities are calibrated on facts held out from training.")
    metrics: list[dict[str, Any]] = Field(
        description="The results of `nary evaluate`, one report for each split and protocol, as in metrics.json "
        "but without those of single relations, which `/api/relation` has."
    )
    version: str = Field(description="The version of Nary.")


class HealthResponse(BaseModel):
    """The state of the server."""

    status: str = Field(examples=["ok"])


class ErrorResponse(BaseModel):
    """The body of every response that is not a success."""

    error: ErrorDetail
