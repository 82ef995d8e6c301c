"""Our own JSON Lines: ``{"subject": s, "relation": r, "object": o, "qualifiers": [[attribute, value], ...]}``.

``qualifiers`` may be left out where there are none; ``split`` may name the split of the fact.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from nary.data.dataset import SPLITS
from nary.data.encoding import Columns
from nary.data.formats.lines import LineError, LineFormat, Record, picked, record
from nary.errors import did_you_mean

KEYS = ("subject", "relation", "object", "qualifiers", "split")
_EXAMPLE = '{"subject": "s", "relation": "r", "object": "o", "qualifiers": [["attribute", "value"]]}'

_ANY = r'[^"\\\x00-\x1f]'
_LABEL = rf'"(?:[^"\\\x00-\x1f?]{_ANY}*|\?{_ANY}+)"'  # anything but a lone question mark
_PAIR = rf"\[{_LABEL}, ?{_LABEL}\]"
_TRIPLE = rf'"subject": ?{_LABEL}, ?"relation": ?{_LABEL}, ?"object": ?{_LABEL}'
_USUAL = rf'^\{{{_TRIPLE}, ?"qualifiers": ?\[(?:{_PAIR}(?:, ?{_PAIR})*)?\]'
_SPLIT = rf', ?"split": ?"(?:{"|".join(SPLITS)})"'


class JsonLines(LineFormat):
    """One JSON object a line, as our own writer and :mod:`json` write it."""

    name = "jsonl"

    def parse(self, line: str) -> Record:
        """Read one line exactly."""
        found = parse_object(line)
        for key in found:
            if key not in KEYS:
                raise LineError("unknown key", f"unknown key {key!r}", did_you_mean(key, KEYS))
        for key in KEYS[:3]:
            if key not in found:
                raise LineError("missing key", f"no {key!r} in this fact", f"Expected: {_EXAMPLE}")
        split = found.get("split")
        if split is not None and split not in SPLITS:
            raise LineError("unknown split", f"unknown split {split!r}", f"Known: {', '.join(SPLITS)}")
        pairs = _pairs(found.get("qualifiers", []))
        return record(found["subject"], found["relation"], found["object"], pairs)._replace(split=split)

    def parse_many(self, lines: pl.Series) -> tuple[npt.NDArray[np.bool_], Columns | None]:
        """Take the lines with the usual keys in the usual order and no escapes: those can be cut at their quotes."""
        named = bool(lines.str.contains('"split"', literal=True).any())
        right = lines.str.contains(_USUAL + (_SPLIT if named else "") + r"\}$").to_numpy()
        rows = np.flatnonzero(right)
        if not rows.size:
            return right, None
        lines = lines if right.all() else lines.gather(rows)
        splits = lines.str.extract(r'"([a-z]+)"\}$') if named else None
        if named:
            lines = lines.str.replace(_SPLIT + r"\}$", "}")
        # cut at quotes: 1 subject, 3 s, 5 relation, 7 r, 9 object, 11 o, 13 qualifiers, 15 attribute 1, 17 value 1, ...
        fields = lines.str.split('"')
        counts = (fields.list.len().to_numpy().astype(np.int64) - 15) // 4
        return right, Columns(rows, counts, picked(fields, (7, 3, 11), 15, 2), splits)


def parse_object(line: str) -> dict[str, Any]:
    """The JSON object on a line, each key at most once."""
    try:
        found = json.loads(line, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise LineError(
            "bad JSON", f"not JSON: {error.msg} at character {error.colno}", f"Expected: {_EXAMPLE}"
        ) from None
    except ValueError:  # from int, which does not take thousands of digits
        raise LineError("bad JSON", "not a fact: a number of very many digits", f"Expected: {_EXAMPLE}") from None
    except RecursionError:
        raise LineError("bad JSON", "not a fact: nested too deeply", f"Expected: {_EXAMPLE}") from None
    if not isinstance(found, dict):
        raise LineError("bad JSON", f"a JSON object was expected, not {_kind(found)}", f"Expected: {_EXAMPLE}")
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise LineError("duplicate key", f"the key {twice!r} occurs twice", "Which of the two is meant? Keep one.")
    return found


def _pairs(qualifiers: Any) -> Sequence[tuple[object, object]]:
    hint = f"Expected: {_EXAMPLE}"
    if not isinstance(qualifiers, list):
        raise LineError("wrong type", f"'qualifiers' is {_kind(qualifiers)}, not a list of pairs", hint)
    for number, pair in enumerate(qualifiers, 1):
        if not isinstance(pair, list) or len(pair) != 2:
            raise LineError("wrong type", f"qualifier {number} is not an [attribute, value] pair", hint)
    return [(attribute, value) for attribute, value in qualifiers]


def _kind(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
