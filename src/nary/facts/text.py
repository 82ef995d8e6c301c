"""The one-line text form of a fact: ``subject | relation | object | attribute: value | ...``, with ``?`` for a gap.

A label that holds ``|``, an attribute that holds ``:``, a label with outer white space, a literal question mark and the
like are written as JSON strings: ``"a|b"``, ``"?"``. ``str(fact)`` writes this form.
"""

import json
from collections.abc import Sequence

from nary.errors import FactError
from nary.facts.fact import GAP, Element, Fact, Query

_EXAMPLE = "Marie Curie | award received | ? | point in time: 1911"


def parse(text: str) -> Fact | Query:
    """Read the text form: a :class:`Query` if it holds a gap, otherwise a :class:`Fact`."""
    reader = _Reader(text)
    parts: list[Element] = [reader.label("|")]
    while len(parts) < 3 and reader.take("|"):
        parts.append(reader.label("|"))
    if len(parts) < 3:
        raise FactError(
            f"{text!r} has {len(parts)} of the three parts of a fact", f"Write subject | relation | object: {_EXAMPLE}"
        )
    qualifiers = []
    while reader.take("|"):
        attribute = reader.label("|:")
        if not reader.take(":"):
            raise FactError(f"the qualifier {attribute!r} in {text!r} has no value", "Write it as attribute: value")
        qualifiers.append((attribute, reader.label("|")))
    subject, relation, object = parts
    return make_statement(subject, relation, object, qualifiers)


def parse_fact(text: str) -> Fact:
    """Read the text form of a fact without gaps."""
    return as_fact(parse(text), text)


def parse_query(text: str) -> Query:
    """Read the text form of a fact with at least one gap."""
    return as_query(parse(text), text)


def make_statement(
    subject: Element, relation: Element, object: Element, qualifiers: Sequence[tuple[Element, Element]] = ()
) -> Fact | Query:
    """A :class:`Query` if any element is a gap, otherwise a :class:`Fact`."""
    elements = (subject, relation, object, *(element for pair in qualifiers for element in pair))
    has_gap = any(element is GAP for element in elements)
    return (Query if has_gap else Fact)(subject, relation, object, qualifiers)  # type: ignore[arg-type]


def as_fact(statement: Fact | Query, text: str | None = None) -> Fact:
    """``statement`` if it is a fact; a query is an error that quotes ``text``, its text form by default."""
    if isinstance(statement, Query):
        shown = str(statement) if text is None else text
        raise FactError(f"{shown!r} has a gap, and a whole fact is needed", 'A literal question mark is written "?".')
    return statement


def as_query(statement: Fact | Query, text: str | None = None) -> Query:
    """``statement`` if it is a query; a fact is an error that quotes ``text``, its text form by default."""
    if isinstance(statement, Fact):
        shown = str(statement) if text is None else text
        raise FactError(f"{shown!r} has no gap", f"Write ? for the element to fill in: {_EXAMPLE}")
    return statement


class _Reader:
    """Reads labels and separators from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def take(self, separator: str) -> bool:
        """Step over ``separator`` if it comes next."""
        if not self.text.startswith(separator, self.at):
            return False
        self.at += len(separator)
        return True

    def label(self, separators: str) -> Element:
        """The label up to one of ``separators`` or the end."""
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1
        if self.text.startswith('"', self.at):
            return self._quoted(separators)
        end = min((at for mark in separators if (at := self.text.find(mark, self.at)) >= 0), default=len(self.text))
        label = self.text[self.at : end].strip()
        self.at = end
        if not label:
            raise FactError(f"empty element in {self.text!r}", f"Write ? for an element to fill in: {_EXAMPLE}")
        return GAP if label == "?" else label

    def _quoted(self, separators: str) -> str:
        hint = 'A label in quotes is a JSON string; write \\" for a quote inside it.'
        try:
            label, self.at = json.JSONDecoder(strict=False).raw_decode(self.text, self.at)
        except json.JSONDecodeError as error:
            raise FactError(f"unfinished quotes in {self.text!r}: {error.msg.lower()}", hint) from None
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1
        if self.at < len(self.text) and self.text[self.at] not in separators:
            raise FactError(f"text after the closing quote in {self.text!r}", hint)
        if not isinstance(label, str):
            raise AssertionError("a JSON value that starts with a quote is a string")
        return label
