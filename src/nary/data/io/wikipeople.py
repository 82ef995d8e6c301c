"""The formats in which WikiPeople is distributed, and the JSON format of GRAN."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl

from nary.data.io.base import FactColumns
from nary.data.io.jsonl import LABEL, parse_object
from nary.data.io.keyed import ARITY, QUALIFIERS, parse_keyed
from nary.data.io.lines import LineError, LineFormat, Record, make_record
from nary.errors import OutputError

_GRAN_KEYS = ("relation", "subject", "object", "N")
_GRAN_TRIPLE = rf'"relation": ?{LABEL}, ?"subject": ?{LABEL}, ?"object": ?{LABEL}'
_GRAN = rf"^\{{(?:{ARITY}, ?)?{_GRAN_TRIPLE}{QUALIFIERS}\}}$"
_ROLE = LABEL.removesuffix('"')
_WIKIPEOPLE_TRIPLE = rf'{_ROLE}_h": ?{LABEL}, ?{_ROLE}_t": ?{LABEL}'
_WIKIPEOPLE = rf"^\{{{_WIKIPEOPLE_TRIPLE}(?:(?:, ?{ARITY})?{QUALIFIERS}|{QUALIFIERS}, ?{ARITY})\}}$"


class WikiPeopleJson(LineFormat):
    """``{"P166_h": subject, "P166_t": object, "N": arity, attribute: [value, ...], ...}``"""

    def parse(self, line: str) -> Record:
        """Parse one line."""
        content = parse_object(line)
        heads = [key for key in content if key.endswith("_h")]
        tails = [key for key in content if key.endswith("_t")]
        relation = _relation(heads, tails)
        pairs = _expand({key: value for key, value in content.items() if key not in (*heads, *tails, "N")})
        _check_arity(content.get("N"), pairs)
        return make_record(content[heads[0]], relation, content[tails[0]], pairs)

    def parse_many(self, lines: pl.Series) -> tuple[npt.NDArray[np.bool_], FactColumns | None]:
        """Parse the lines that begin with subject and object of one relation and have no escapes."""
        heads, tails = (lines.str.extract(pattern) for pattern in (r'^\{"([^"]*)_h"', r'^(?:[^"]*"){4}, ?"([^"]*)_t"'))
        usual = lines.str.contains(_WIKIPEOPLE) & (heads == tails).fill_null(False)
        return parse_keyed(lines.str.replace('_h"', '"', literal=True), usual, (0, 1, 3), "_[ht]$|^N$")


class Gran(LineFormat):
    """``{"N": arity, "relation": r, "subject": s, "object": o, attribute: [value, ...], ...}``"""

    output_extension = ".json"

    def parse(self, line: str) -> Record:
        """Parse one line."""
        content = parse_object(line)
        for key in _GRAN_KEYS[:3]:
            if key not in content:
                expected = f"Expected the keys: {', '.join(_GRAN_KEYS)}"
                raise LineError("missing key", f"no {key!r} in this fact", expected)
        pairs = _expand({key: value for key, value in content.items() if key not in _GRAN_KEYS})
        _check_arity(content.get("N"), pairs)
        return make_record(content["subject"], content["relation"], content["object"], pairs)

    def parse_many(self, lines: pl.Series) -> tuple[npt.NDArray[np.bool_], FactColumns | None]:
        """Parse the lines with the usual keys in the usual order and no escapes."""
        return parse_keyed(lines, lines.str.contains(_GRAN), (1, 3, 5), f"^(?:{'|'.join(_GRAN_KEYS)})$")

    def format_line(self, record: Record) -> str:
        """Format one fact, its qualifiers grouped by attribute."""
        head = {
            "N": 2 + len(record.qualifiers),
            "relation": record.relation,
            "subject": record.subject,
            "object": record.object,
        }
        values: dict[str, list[str]] = {}
        for attribute, value in record.qualifiers:
            values.setdefault(attribute, []).append(value)
        if clash := head.keys() & values.keys():
            raise OutputError(f"the gran format cannot hold an attribute named {min(clash)!r}", "Write .jsonl instead.")
        return orjson.dumps({**head, **values}).decode()


class WikiPeopleRoles(LineFormat):
    """``P19_h/P19_t/P131<tab>subject<tab>object<tab>value``: roles joined by slashes, then their values in order."""

    def parse(self, line: str) -> Record:
        """Parse one line."""
        joined, *values = line.split("\t")
        roles = joined.split("/")
        if len(roles) != len(values):
            raise LineError("roles and values differ", f"{len(roles)} roles but {len(values)} values")
        heads = [role for role in roles if role.endswith("_h")]
        tails = [role for role in roles if role.endswith("_t")]
        relation = _relation(heads, tails)
        pairs = [(role, value) for role, value in zip(roles, values, strict=True) if role not in (*heads, *tails)]
        return make_record(values[roles.index(heads[0])], relation, values[roles.index(tails[0])], pairs)


def _relation(heads: Sequence[str], tails: Sequence[str]) -> str:
    if len(heads) != 1 or len(tails) != 1 or heads[0][:-2] != tails[0][:-2]:
        raise LineError(
            "no primary triple",
            f"expected one role P_h and one role P_t of the same P, found {[*heads, *tails]}",
            "Is this a file in the WikiPeople format?",
        )
    return heads[0][:-2]


def _expand(attributes: dict[str, object]) -> list[tuple[object, object]]:
    pairs: list[tuple[object, object]] = []
    for attribute, values in attributes.items():
        if not isinstance(values, list):
            raise LineError("wrong type", f"the values of {attribute!r} are not a list")
        pairs += [(attribute, value) for value in values]
    return pairs


def _check_arity(stated: object, pairs: Sequence[tuple[object, object]]) -> None:
    if stated is not None and stated != 2 + len(pairs):
        raise LineError("wrong arity", f"N is {stated!r}, but the fact has arity {2 + len(pairs)}")
