"""Facts and queries: the two value types everything else speaks.

A fact is a primary triple and a multiset of qualifiers. The order in which qualifiers were written has no meaning, so
they are kept sorted: equal facts are equal objects with equal hashes. A query is a fact with at least one gap.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, Self, TypeAlias, cast

from nary.errors import FactError


class Gap(Enum):
    """The type of :data:`GAP`, the missing element of a query."""

    GAP = "?"

    def __repr__(self) -> str:
        return "GAP"


GAP: Final = Gap.GAP
"""The missing element of a query, written ``?``."""

Element: TypeAlias = str | Gap

_SURROGATE = re.compile("[\ud800-\udfff]")


class Role(Enum):
    """What part an element plays in a fact."""

    RELATION = "relation"
    SUBJECT = "subject"
    OBJECT = "object"
    ATTRIBUTE = "attribute"
    VALUE = "value"

    @property
    def is_entity(self) -> bool:
        """Whether elements of this role are entities; relations and attributes are not."""
        return self in (Role.SUBJECT, Role.OBJECT, Role.VALUE)


@dataclass(frozen=True)
class Position:
    """Which element of a fact: a role and, for attributes and values, the number of the qualifier from 1."""

    role: Role
    number: int = 0

    def __str__(self) -> str:
        return f"{self.role.value} {self.number}" if self.number else self.role.value

    @classmethod
    def parse(cls, text: str) -> "Position":
        """Read ``"subject"``, ``"value 2"``, ... as printed by ``str``."""
        word, _, number = text.partition(" ")
        for role in (role for role in Role if role.value == word):
            position = cls(role, int(number[:9]) if number.isdecimal() else 0)
            if str(position) == text and bool(position.number) == (role in (Role.ATTRIBUTE, Role.VALUE)):
                return position
        raise FactError(f"{text!r} is not a position", "Write relation, subject, object, attribute 1, value 1, ...")


def _qualifier_order(qualifier: tuple[Element, Element]) -> tuple[bool, str, bool, str]:
    attribute, value = qualifier  # gaps come after names, so that the known elements keep their numbers
    return attribute is GAP, str(attribute), value is GAP, str(value)


@dataclass(frozen=True, init=False)
class _Statement:
    subject: Element
    relation: Element
    object: Element
    qualifiers: tuple[tuple[Element, Element], ...]

    def __init__(
        self,
        subject: Element,
        relation: Element,
        object: Element,
        qualifiers: Iterable[tuple[Element, Element]] = (),
    ) -> None:
        pairs = []
        for pair in qualifiers:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise FactError(f"a qualifier is an (attribute, value) pair, not {pair!r}")
            pairs.append((pair[0], pair[1]))
        for element in (subject, relation, object, *(element for pair in pairs for element in pair)):
            check_label(element)
        for name, value in (("subject", subject), ("relation", relation), ("object", object)):
            super().__setattr__(name, value)
        super().__setattr__("qualifiers", tuple(sorted(pairs, key=_qualifier_order)))

    @property
    def arity(self) -> int:
        """2 + the number of qualifiers."""
        return 2 + len(self.qualifiers)

    @property
    def has_gap(self) -> bool:
        """Whether any element is missing."""
        pairs = (element for pair in self.qualifiers for element in pair)
        return GAP in (self.subject, self.relation, self.object) or GAP in pairs

    def elements(self) -> dict[Position, Element]:
        """Every element by its position: relation, subject, object, attributes, values."""
        elements: dict[Position, Element] = {
            Position(Role.RELATION): self.relation,
            Position(Role.SUBJECT): self.subject,
            Position(Role.OBJECT): self.object,
        }
        elements.update({Position(Role.ATTRIBUTE, i): pair[0] for i, pair in enumerate(self.qualifiers, 1)})
        elements.update({Position(Role.VALUE, i): pair[1] for i, pair in enumerate(self.qualifiers, 1)})
        return elements

    @classmethod
    def from_elements(cls, elements: Mapping[Position, Element]) -> Self:
        """The inverse of :meth:`elements`."""
        pairs = [
            (element, elements[Position(Role.VALUE, position.number)])
            for position, element in elements.items()
            if position.role is Role.ATTRIBUTE
        ]
        subject, relation, object = (elements[Position(role)] for role in (Role.SUBJECT, Role.RELATION, Role.OBJECT))
        return cls(subject, relation, object, pairs)

    def __str__(self) -> str:
        """The one-line text form, which :func:`nary.facts.text.parse` reads back."""
        parts = [quoted(element, "|") for element in (self.subject, self.relation, self.object)]
        parts += [f"{quoted(attribute, '|:')}: {quoted(value, '|')}" for attribute, value in self.qualifiers]
        return " | ".join(parts)

    def _repr_html_(self) -> str:
        """The drawn graph, for notebooks."""
        from nary.facts.drawing import fact_svg  # which draws facts

        return fact_svg(cast("Fact | Query", self))


def quoted(element: Element, special: str) -> str:
    """The text form of one element: as a JSON string where a bare one would be read differently."""
    if element is GAP:
        return "?"
    text = str(element)
    bare = text == text.strip() and text.isprintable() and text != "?" and not text.startswith('"')
    return text if bare and not any(mark in text for mark in special) else json.dumps(text, ensure_ascii=False)


def check_label(element: object) -> None:
    """Refuse what cannot be a label: anything but a string, the empty string, one with a NUL character or a surrogate.

    Half a surrogate pair is no character, and no file in UTF-8 can hold it.
    """
    if element is GAP:
        return
    if not isinstance(element, str):
        raise FactError(f"a label is a string, not {type(element).__name__} {element!r}")
    if not element:
        raise FactError("a label is empty")
    if "\0" in element:
        raise FactError(f"the label {element!r} holds a NUL character")
    if _SURROGATE.search(element):
        raise FactError(f"the label {element!r} holds half a surrogate pair, which is no character")


class Fact(_Statement):
    """A primary triple (subject, relation, object) and qualifiers, each an (attribute, value) pair.

    >>> Fact("Curie", "award", "Physics", [("year", "1903"), ("with", "Becquerel")])
    Fact(Curie | award | Physics | with: Becquerel | year: 1903)
    """

    subject: str
    relation: str
    object: str
    qualifiers: tuple[tuple[str, str], ...]

    def __init__(self, subject: str, relation: str, object: str, qualifiers: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(subject, relation, object, qualifiers)
        if self.has_gap:
            raise FactError("a fact has no gaps", "Use Query for a fact with a gap.")

    @property
    def primary(self) -> tuple[str, str, str]:
        """The primary triple (subject, relation, object)."""
        return self.subject, self.relation, self.object

    def query(self, position: Position) -> "Query":
        """The query that asks for the element at ``position``."""
        known = self.elements()
        if position not in known:
            raise FactError(f"a fact of arity {self.arity} has no {position}")
        return Query.from_elements({**known, position: GAP})

    def __repr__(self) -> str:
        return f"Fact({self})"


class Query(_Statement):
    """A fact with at least one gap.

    >>> Query("Curie", "award", GAP, [("year", "1911")])
    Query(Curie | award | ? | year: 1911)
    """

    def __init__(
        self, subject: Element, relation: Element, object: Element, qualifiers: Iterable[tuple[Element, Element]] = ()
    ) -> None:
        super().__init__(subject, relation, object, qualifiers)
        if not self.has_gap:
            raise FactError(f"no gap in {self}", "Write ? for the element to fill in.")

    @property
    def gaps(self) -> tuple[Position, ...]:
        """The positions of the gaps."""
        return tuple(position for position, element in self.elements().items() if element is GAP)

    def fill(self, answer: str) -> "Fact | Query":
        """Put ``answer`` into the first gap; a fact when it was the only one."""
        elements = {**self.elements(), self.gaps[0]: answer}
        return Query.from_elements(elements) if GAP in elements.values() else Fact.from_elements(elements)

    def __repr__(self) -> str:
        return f"Query({self})"
