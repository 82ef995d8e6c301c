"""Literals: numbers, quantities, dates, times, points and texts, as opposed to entities.

A literal is an entity of the vocabulary with a name that tells its exact value, its type and, if it has one, its unit:
``66000^^number``, ``2025-03-01^^date``, ``5^^quantity:kg``. Equal values have equal names. A name of any other form,
such as ``66000``, is that of an entity.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from nary.errors import FactError

MARK = "^^"
"""Comes between the value and the type in the name of a literal."""

_DATE = r"-?[0-9]{4,}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12][0-9]|3[01]))?)?"
_DAY = r"-?[0-9]{4,}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?(?:Z|[+-][0-9][0-9]:[0-9][0-9])?"
_NUMBER = r"(?:0|-?[1-9][0-9]{0,30}|-?(?:0|[1-9][0-9]{0,30})\.[0-9]{0,30}[1-9])"

PATTERNS = {
    "number": _NUMBER,
    "quantity": _NUMBER,
    "date": _DATE,
    "time": _TIME,
    "datetime": rf"{_DAY}T{_TIME}",
    "point": r"-?[0-9]+(?:\.[0-9]+)?,-?[0-9]+(?:\.[0-9]+)?",
}
"""The usual values of each type, as regular expressions. Numbers may be longer, and a ``text`` can be anything."""

TYPES = (*PATTERNS, "text")
"""``date`` is a year, month or day; ``point`` is latitude, longitude; a ``quantity`` is a number with a unit."""

_EXAMPLES = {"number": "66000", "quantity": "5", "date": "2025-03-01", "time": "14:30:00"}
_EXAMPLES |= {"datetime": "2025-03-01T14:30:00Z", "point": "48.85,2.35"}
_PLAIN_DIGITS = 40
_COMPILED = {type: re.compile(pattern) for type, pattern in PATTERNS.items()}


@dataclass(frozen=True)
class Literal:
    """An exact value with its type: one of :data:`TYPES`, or the IRI of another.

    ``unit`` is the unit of a quantity, the precision or calendar of a date (``decade``, ``julian``), the globe of a
    point, or the language of a text.

    >>> Literal.of(66000)
    Literal(value='66000', type='number', unit='')
    >>> Literal.of(5, "quantity", "kg").name
    '5^^quantity:kg'
    """

    value: str
    type: str
    unit: str = ""

    @classmethod
    def of(cls, value: object, type: str = "number", unit: str = "") -> "Literal":
        """Check ``value`` and return the literal; numbers are brought to their shortest form."""
        if type not in TYPES and "://" not in type:
            raise FactError(f"{type!r} is not a type of literals", f"Known: {', '.join(TYPES)}, or an IRI.")
        if MARK in unit:
            raise FactError(f"the unit {unit!r} contains {MARK}")
        if type in ("number", "quantity"):
            return cls(number_text(value), type, unit)
        if not isinstance(value, str) or not value:
            raise FactError(f"the value of a {type} is a text, not {value!r}")
        pattern = _COMPILED.get(type)
        if pattern is not None and not pattern.fullmatch(value):
            raise FactError(f"{value!r} is not a {type}", f"Write it like {_EXAMPLES[type]}.")
        return cls(value, type, unit)

    @classmethod
    def from_name(cls, name: str) -> "Literal | None":
        """The literal with this name; None if it is the name of an entity."""
        value, mark, rest = name.rpartition(MARK)
        if not mark or not value:
            return None
        type, _, unit = rest.partition(":")
        type, unit = (type, unit) if type in TYPES else (rest, "")
        try:
            literal = cls.of(value, type, unit)
        except FactError:
            return None
        return literal if literal.name == name else None

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Literal":
        """Read ``{"value": 5, "type": "quantity", "unit": "kg"}``; ``unit`` is optional."""
        for key in content:
            if key not in ("value", "type", "unit"):
                raise FactError(f"unknown key {key!r} of a literal", "A literal has the keys value, type and unit.")
        value, type, unit = content.get("value"), content.get("type", "number"), content.get("unit", "")
        if not isinstance(type, str) or not isinstance(unit, str):
            raise FactError("the type and the unit of a literal are texts", 'For example {"value": 5, "unit": "kg"}.')
        return cls.of(value, "quantity" if unit and "type" not in content else type, unit)

    @property
    def name(self) -> str:
        """The name of the literal in a vocabulary."""
        return f"{self.value}{MARK}{self.type}" + (f":{self.unit}" if self.unit else "")

    @property
    def is_number(self) -> bool:
        """Whether the JSON form is a number."""
        return self.type == "number" and not self.unit

    def as_dict(self) -> dict[str, str]:
        """Return the JSON form, for literals that are not plain numbers."""
        content = {"value": self.value, "type": self.type}
        return {**content, "unit": self.unit} if self.unit else content


def is_literal(name: str) -> bool:
    """Whether ``name`` is that of a literal."""
    return MARK in name and Literal.from_name(name) is not None


def number_text(value: object) -> str:
    """Write a number exactly and in its shortest form: 66000 for 66000.0 and 6.6e4."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise FactError(f"the value of a number is a number, not {value!r}")
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise FactError(f"{value!r} is not a number", "Write it like 66000 or -0.5.")
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    significant = "".join(map(str, digits)).lstrip("0")
    if not significant:
        return "0"
    exponent += len(significant) - len(significant.rstrip("0"))
    significant = significant.rstrip("0")
    return ("-" if sign else "") + _positional(significant, exponent)


def _positional(digits: str, exponent: int) -> str:
    """Write digits times ten to the power of ``exponent``, in scientific notation if that is much shorter."""
    if max(len(digits) + exponent, -exponent) > _PLAIN_DIGITS + len(digits):
        return f"{digits}e{exponent}"
    if exponent >= 0:
        return digits + "0" * exponent
    padded = digits.rjust(1 - exponent, "0")
    return f"{padded[:exponent]}.{padded[exponent:]}"
