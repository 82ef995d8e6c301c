"""The formats WikiPeople is distributed in, and the one GRAN and its descendants read."""

from collections.abc import Sequence

from nary.data.formats.jsonl import parse_object
from nary.data.formats.lines import LineError, LineFormat, Record, record


class WikiPeopleJson(LineFormat):
    """``{"P166_h": subject, "P166_t": object, "N": arity, attribute: [value, ...], ...}``"""

    name = "wikipeople"

    def parse(self, line: str) -> Record:
        """Read one line exactly."""
        found = parse_object(line)
        heads = [key for key in found if key.endswith("_h")]
        tails = [key for key in found if key.endswith("_t")]
        relation = _relation(heads, tails)
        pairs = _expand({key: value for key, value in found.items() if key not in (*heads, *tails, "N")})
        _check_arity(found.get("N"), pairs)
        return record(found[heads[0]], relation, found[tails[0]], pairs)


class Gran(LineFormat):
    """``{"N": arity, "relation": r, "subject": s, "object": o, attribute: [value, ...], ...}``"""

    name = "gran"

    def parse(self, line: str) -> Record:
        """Read one line exactly."""
        found = parse_object(line)
        own = ("relation", "subject", "object", "N")
        for key in own[:3]:
            if key not in found:
                raise LineError("missing key", f"no {key!r} in this fact", f"Expected the keys: {', '.join(own)}")
        pairs = _expand({key: value for key, value in found.items() if key not in own})
        _check_arity(found.get("N"), pairs)
        return record(found["subject"], found["relation"], found["object"], pairs)


class WikiPeopleRoles(LineFormat):
    """``P19_h/P19_t/P131<tab>subject<tab>object<tab>value``: roles joined by slashes, then their values in order."""

    name = "wikipeople-roles"

    def parse(self, line: str) -> Record:
        """Read one line exactly."""
        joined, *values = line.split("\t")
        roles = joined.split("/")
        if len(roles) != len(values):
            raise LineError("roles and values differ", f"{len(roles)} roles but {len(values)} values")
        heads = [role for role in roles if role.endswith("_h")]
        tails = [role for role in roles if role.endswith("_t")]
        relation = _relation(heads, tails)
        pairs = [(role, value) for role, value in zip(roles, values, strict=True) if role not in (*heads, *tails)]
        return record(values[roles.index(heads[0])], relation, values[roles.index(tails[0])], pairs)


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
