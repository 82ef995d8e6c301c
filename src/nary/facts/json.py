"""The JSON form of facts and queries: ``{"subject": s, "relation": r, "object": o, "qualifiers": [[a, v], ...]}``.

An object or value that is a literal is a number, or ``{"value": v, "type": t, "unit": u}``.
``"?"`` stands for a gap. ``qualifiers`` may be missing; ``split``, which lines of data may have, is ignored.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from nary.errors import FactError, did_you_mean
from nary.facts.fact import GAP, Element, Fact, Query
from nary.facts.literal import MARK, Literal, number_text
from nary.facts.text import as_fact, as_query, make_statement, parse

KEYS = ("subject", "relation", "object", "qualifiers", "split")
"""The keys of the JSON form; the first three are required."""

_EXAMPLE = '{"subject": "s", "relation": "r", "object": "?", "qualifiers": [["attribute", "value"]]}'
_HINT = f"Expected: {_EXAMPLE}"
_LARGEST_NUMBER = 1 << 53  # up to here every program reads JSON numbers exactly


class DuplicateKeyError(FactError):
    """A JSON object has the same key twice."""


def load_object(text: str) -> dict[str, Any]:
    """Parse a JSON object in which no key occurs twice."""
    try:
        content = json.loads(text, object_pairs_hook=_unique, parse_float=Decimal)
    except json.JSONDecodeError as error:
        raise FactError(f"not JSON: {error.msg} at character {error.colno}", _HINT) from None
    except ValueError:  # from int, which does not take thousands of digits
        raise FactError("not a fact: a number of very many digits", _HINT) from None
    except RecursionError:
        raise FactError("not a fact: nested too deeply", _HINT) from None
    if not isinstance(content, dict):
        raise FactError(f"a JSON object was expected, not {json_type(content)}", _HINT)
    return content


def statement_from_json(content: Mapping[str, Any]) -> Fact | Query:
    """A :class:`Query` if the JSON form holds a gap, otherwise a :class:`Fact`."""
    for key in content:
        if key not in KEYS:
            raise FactError(f"unknown key {key!r}", did_you_mean(key, KEYS))
    for key in KEYS[:3]:
        if key not in content:
            raise FactError(f"no {key!r} in this JSON object", _HINT)
    pairs = content.get("qualifiers", [])
    if not isinstance(pairs, list) or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        raise FactError("'qualifiers' is no list of [attribute, value] pairs", _HINT)
    subject, relation, object = (_element(content[key]) for key in KEYS[:3])
    pairs = [(_element(attribute), _element(entity_name(value))) for attribute, value in pairs]
    return make_statement(subject, relation, _element(entity_name(object)), pairs)


def query_from_json(content: Mapping[str, Any]) -> Query:
    """Like :func:`statement_from_json`; a fact without a gap is an error."""
    return as_query(statement_from_json(content))


def fact_from_json(content: Mapping[str, Any]) -> Fact:
    """Like :func:`statement_from_json`; a gap is an error."""
    return as_fact(statement_from_json(content))


def to_json(statement: Fact | Query) -> dict[str, Any]:
    """The JSON form of a fact or query."""
    primary = (_written(statement.subject), _written(statement.relation), entity_json(_written(statement.object)))
    pairs = [[_written(attribute), entity_json(_written(value))] for attribute, value in statement.qualifiers]
    return {**dict(zip(KEYS, primary, strict=False)), "qualifiers": pairs}


def entity_name(value: Any) -> Any:
    """The name of an object or value in JSON: of a literal if it is a number or a JSON object."""
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return Literal.of(value).name
    return Literal.from_json(value).name if isinstance(value, dict) else value


def entity_json(name: str) -> Any:
    """The JSON form of an object or value, the inverse of :func:`entity_name`."""
    literal = Literal.from_name(name) if MARK in name else None
    if literal is None:
        return name
    if literal.is_number:
        number = float(literal.value) if "." in literal.value or "e" in literal.value else int(literal.value)
        if abs(number) <= _LARGEST_NUMBER and number_text(number) == literal.value:
            return number
    return literal.as_dict()


def parse_line(text: str) -> Fact | Query:
    """Parse a line in either the JSON form or the one-line text form."""
    return statement_from_json(load_object(text)) if text.lstrip().startswith("{") else parse(text)


def json_type(value: object) -> str:
    """The type of a JSON value, in words."""
    types = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return types.get(type(value), "a number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise DuplicateKeyError(f"the key {twice!r} occurs twice", "Which of the two is meant? Keep one.")
    return content


def _element(value: Any) -> Element:
    return GAP if value == "?" else value  # anything but a string is refused by Fact and Query


def _written(element: Element) -> str:
    return "?" if element is GAP else str(element)
