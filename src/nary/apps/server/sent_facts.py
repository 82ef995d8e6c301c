"""Facts as clients send them: as text in the one-line form, or as JSON in the form of Nary's JSON Lines."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from nary.errors import FactError
from nary.facts import GAP, Element, Fact, Query, parse, parse_fact, parse_query

_Statement = TypeVar("_Statement", Fact, Query, Fact | Query)
_MOST_QUALIFIERS = 100  # the work for a fact grows with the square of its size


class FactForm(BaseModel):
    """A fact in the form of Nary's JSON Lines; `?` stands for an element that is missing."""

    model_config = ConfigDict(extra="forbid")

    subject: str
    relation: str
    object: str
    qualifiers: list[tuple[str, str]] = Field(default=[], description="Pairs of an attribute and a value.")

    @classmethod
    def of(cls, statement: Fact | Query) -> "FactForm":
        """The form of a fact or query."""
        subject, relation, object = (_written(e) for e in (statement.subject, statement.relation, statement.object))
        pairs = [(_written(attribute), _written(value)) for attribute, value in statement.qualifiers]
        return cls(subject=subject, relation=relation, object=object, qualifiers=pairs)

    def statement(self) -> Fact | Query:
        """The fact, or the query if anything is missing."""
        subject, relation, object = (_read(text) for text in (self.subject, self.relation, self.object))
        pairs = [(_read(attribute), _read(value)) for attribute, value in self.qualifiers]
        gap = GAP in (subject, relation, object, *(element for pair in pairs for element in pair))
        return (Query if gap else Fact)(subject, relation, object, pairs)  # type: ignore[arg-type]


class FactLine(FactForm):
    """A line of Nary's JSON Lines."""

    split: str | None = Field(None, description="Lines of data may have it; it makes no difference here.")


def _read(text: str) -> Element:
    return GAP if text == "?" else text


def _written(element: Element) -> str:
    return "?" if element is GAP else str(element)


def _form_or_text(value: object) -> str:
    return "form" if isinstance(value, dict) else "text"


AnyFact = Annotated[
    Annotated[str, Tag("text")] | Annotated[FactLine, Tag("form")],
    Discriminator(_form_or_text),  # without it, one mistake would be reported for both
    Field(
        description="`subject | relation | object | attribute: value | ...`, or the same as a JSON object. "
        "`?` stands for an element that is missing.",
    ),
]


def statement_of(fact: str | FactLine) -> Fact | Query:
    """The fact or query that was sent."""
    return _bounded(parse(_text(fact)))


def query_of(fact: str | FactLine) -> Query:
    """The query that was sent; something must be missing."""
    return _bounded(parse_query(_text(fact)))


def fact_of(fact: str | FactLine) -> Fact:
    """The fact that was sent; nothing may be missing."""
    return _bounded(parse_fact(_text(fact)))


def _text(fact: str | FactLine) -> str:
    return fact if isinstance(fact, str) else str(fact.statement())


def _bounded(statement: _Statement) -> _Statement:
    if len(statement.qualifiers) > _MOST_QUALIFIERS:
        raise FactError(
            f"a fact with {len(statement.qualifiers):,} qualifiers", f"This server takes up to {_MOST_QUALIFIERS}."
        )
    return statement
