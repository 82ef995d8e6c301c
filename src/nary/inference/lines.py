"""A query on a line: as JSON, in the form of our JSON Lines, or in the one-line text form."""

from nary.data.io.jsonl import KEYS, parse_object
from nary.data.io.lines import LineError
from nary.errors import FactError, did_you_mean
from nary.facts import GAP, Element, Query, parse_query

_EXAMPLE = '{"subject": "s", "relation": "r", "object": "?", "qualifiers": [["attribute", "value"]]}'


def query_on(line: str) -> Query:
    """The query on a line; ``?`` stands for what is missing."""
    if not line.lstrip().startswith("{"):
        return parse_query(line)
    try:
        found = parse_object(line)
    except LineError as error:
        raise FactError(error.message, f"Expected: {_EXAMPLE}") from None
    for key in found:
        if key not in KEYS:
            raise FactError(f"unknown key {key!r}", did_you_mean(key, KEYS))
    for key in ("subject", "relation", "object"):
        if key not in found:
            raise FactError(f"no {key!r} in this query", f"Expected: {_EXAMPLE}")
    pairs = found.get("qualifiers", [])
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise FactError("'qualifiers' is no list of [attribute, value] pairs", f"Expected: {_EXAMPLE}")
    subject, relation, object = (_element(found[key]) for key in ("subject", "relation", "object"))
    return Query(subject, relation, object, [(_element(attribute), _element(value)) for attribute, value in pairs])


def _element(given: str) -> Element:
    return GAP if given == "?" else given
