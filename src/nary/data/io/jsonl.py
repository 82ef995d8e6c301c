"""JSON Lines: ``{"subject": s, "relation": r, "object": o, "qualifiers": [[attribute, value], ...]}``.

``qualifiers`` is optional, and so is ``split``, which names the split of the fact. An object or value that is a literal
is a number, or ``{"value": v, "type": t, "unit": u}``.
"""

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl

from nary.data.dataset import SPLITS
from nary.data.io.base import FactColumns
from nary.data.io.lines import LineError, LineFormat, Record, gather_names, make_record
from nary.errors import FactError, did_you_mean
from nary.facts.json import entity_json, entity_name
from nary.facts.literal import MARK, PATTERNS

KEYS = ("subject", "relation", "object", "qualifiers", "split")
_EXAMPLE = '{"subject": "s", "relation": "r", "object": "o", "qualifiers": [["attribute", "value"]]}'

_ANY = r'[^"\\\x00-\x1f]'
LABEL = rf'"(?:[^"\\\x00-\x1f?]{_ANY}*|\?{_ANY}+)"'  # anything but a lone question mark
_PAIR = rf"\[{LABEL}, ?{LABEL}\]"
_TRIPLE = rf'"subject": ?{LABEL}, ?"relation": ?{LABEL}, ?"object": ?{LABEL}'
_USUAL = rf'^\{{{_TRIPLE}, ?"qualifiers": ?\[(?:{_PAIR}(?:, ?{_PAIR})*)?\]'
_SPLIT = rf', ?"split": ?"(?:{"|".join(SPLITS)})"'

_NUMBER = rf'("object": ?|[^:, \[]", ?)({PATTERNS["number"]})([,\]}}])'
"""An object or value that is a number. Before a value comes the quote that ends its attribute, none that begins it."""


class JsonLines(LineFormat):
    """One JSON object per line."""

    extensions = (".jsonl", ".ndjson")
    output_extension = ".jsonl"
    stores_splits = True

    def parse(self, line: str) -> Record:
        """Parse one line."""
        content = parse_object(line)
        for key in content:
            if key not in KEYS:
                raise LineError("unknown key", f"unknown key {key!r}", did_you_mean(key, KEYS))
        for key in KEYS[:3]:
            if key not in content:
                raise LineError("missing key", f"no {key!r} in this fact", f"Expected: {_EXAMPLE}")
        split = content.get("split")
        if split is not None and split not in SPLITS:
            raise LineError("unknown split", f"unknown split {split!r}", f"Known: {', '.join(SPLITS)}")
        pairs = [
            (attribute, _entity(value, f"value {i}"))
            for i, (attribute, value) in enumerate(_check_pairs(content.get("qualifiers", [])), 1)
        ]
        object = _entity(content["object"], "the object")
        return make_record(content["subject"], content["relation"], object, pairs)._replace(split=split)

    def parse_many(self, lines: pl.Series) -> tuple[npt.NDArray[np.bool_], FactColumns | None]:
        """Parse the lines with the usual keys in the usual order and no escapes: they can be split at their quotes."""
        lines = _literals_to_names(lines)
        has_splits = bool(lines.str.contains('"split"', literal=True).any())
        valid = lines.str.contains(_USUAL + (_SPLIT if has_splits else "") + r"\}$").to_numpy()
        rows = np.flatnonzero(valid)
        if not rows.size:
            return valid, None
        lines = lines if valid.all() else lines.gather(rows)
        splits = lines.str.extract(r'"([a-z]+)"\}$') if has_splits else None
        if has_splits:
            lines = lines.str.replace(_SPLIT + r"\}$", "}")
        # fields: 1 subject, 3 s, 5 relation, 7 r, 9 object, 11 o, 13 qualifiers, 15 attribute 1, 17 value 1, ...
        fields = lines.str.split('"')
        counts = (fields.list.len().to_numpy().astype(np.int64) - 15) // 4
        return valid, FactColumns(rows, counts, gather_names(fields, (7, 3, 11), 15, 2), splits)

    def format_line(self, record: Record) -> str:
        """Format one fact; facts without a split have no key for it."""
        subject, relation, object, qualifiers, split = record
        pairs = [(attribute, entity_json(value)) for attribute, value in qualifiers]
        content = {"subject": subject, "relation": relation, "object": entity_json(object), "qualifiers": pairs}
        return orjson.dumps({**content, "split": split} if split else content).decode()


def parse_object(line: str) -> dict[str, Any]:
    """Parse the JSON object on a line; a repeated key is an error."""
    try:
        content = json.loads(line, object_pairs_hook=_to_dict, parse_float=Decimal)
    except json.JSONDecodeError as error:
        raise LineError(
            "bad JSON", f"not JSON: {error.msg} at character {error.colno}", f"Expected: {_EXAMPLE}"
        ) from None
    except ValueError:  # from int(), which limits the number of digits
        raise LineError("bad JSON", "not a fact: a number with too many digits", f"Expected: {_EXAMPLE}") from None
    except RecursionError:
        raise LineError("bad JSON", "not a fact: nested too deeply", f"Expected: {_EXAMPLE}") from None
    if not isinstance(content, dict):
        raise LineError("bad JSON", f"expected a JSON object, not {_type_name(content)}", f"Expected: {_EXAMPLE}")
    return content


def _to_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise LineError("duplicate key", f"the key {repeated!r} occurs twice", "Keep one of the two.")
    return content


def _check_pairs(qualifiers: Any) -> Sequence[tuple[object, object]]:
    hint = f"Expected: {_EXAMPLE}"
    if not isinstance(qualifiers, list):
        raise LineError("wrong type", f"'qualifiers' is {_type_name(qualifiers)}, not a list of pairs", hint)
    for number, pair in enumerate(qualifiers, 1):
        if not isinstance(pair, list) or len(pair) != 2:
            raise LineError("wrong type", f"qualifier {number} is not an [attribute, value] pair", hint)
    return [(attribute, value) for attribute, value in qualifiers]


def _entity(value: object, what: str) -> object:
    """Return the name of an object or value, that of a literal for a number or a JSON object."""
    try:
        return entity_name(value)
    except FactError as error:
        raise LineError("bad literal", f"{what}: {error.message}", error.hint) from None


def _literals_to_names(lines: pl.Series) -> pl.Series:
    """Replace the literals that are written as usual by strings with their names."""
    if lines.str.contains(_NUMBER).any():
        lines = lines.str.replace_all(_NUMBER, f'${{1}}"${{2}}{MARK}number"${{3}}')
    if lines.str.contains('{"value":', literal=True).any():
        for type, pattern in PATTERNS.items():
            start = rf'\{{"value":"({pattern})","type":"{type}"'
            lines = lines.str.replace_all(start + r"\}", f'"${{1}}{MARK}{type}"')
            lines = lines.str.replace_all(start + r',"unit":"([^"\\^]+)"\}', f'"${{1}}{MARK}{type}:${{2}}"')
    return lines


def _type_name(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
