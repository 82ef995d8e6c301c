"""What clients send to each endpoint."""

from pydantic import BaseModel, ConfigDict, Field, model_validator

from nary.apps.server.sent_facts import AnyFact
from nary.errors import FactError
from nary.facts import Query
from nary.inference.prediction import Known

MOST = 1000
"""Answers, or facts, in one request."""
_MOST_GAPS, _MOST_COMPLETIONS = 8, 100  # the work for several gaps grows with both
_QUERY = "Marie Curie | award received | ? | point in time: 1911"
_FACT = "Marie Curie | award received | Nobel Prize in Chemistry | point in time: 1911"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PredictRequest(_Strict):
    """Which query to answer, and how."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fact": _QUERY, "k": 5}]})

    fact: AnyFact
    k: int = Field(10, ge=1, le=MOST, description="How many answers; with several gaps up to 100.")
    known: Known = Field("mark", description="What to do with answers that make a known fact.")


class ScoreRequest(_Strict):
    """One fact, or several."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fact": _FACT}]})

    fact: AnyFact | None = None
    facts: list[AnyFact] | None = Field(None, max_length=MOST)

    @model_validator(mode="after")
    def _one_of_both(self) -> "ScoreRequest":
        if (self.fact is None) == (self.facts is None):
            raise ValueError("give either fact or facts")
        return self


class SuggestRequest(_Strict):
    """The fact that may lack qualifiers."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fact": _FACT, "k": 5}]})

    fact: AnyFact
    k: int = Field(10, ge=1, le=MOST, description="How many qualifiers.")


class ExplainRequest(_Strict):
    """A whole fact, and which of its elements is the answer to explain."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fact": _FACT, "position": "object"}]})

    fact: AnyFact
    position: str = Field(description="`relation`, `subject`, `object`, `attribute 1`, `value 1`, ...")


class GraphRequest(_Strict):
    """A fact or query to draw."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fact": _QUERY}]})

    fact: AnyFact


def check_completion(query: Query, k: int) -> None:
    """Refuse a search for completions that would keep everybody waiting."""
    if len(query.gaps) > _MOST_GAPS or k > _MOST_COMPLETIONS:
        raise FactError(
            f"{k} completions of a query with {len(query.gaps)} gaps",
            f"This server gives up to {_MOST_COMPLETIONS}, and fills up to {_MOST_GAPS} gaps.",
        )
