"""The values of Wikidata's snaks as names: entities by their ids, everything else as literals."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any

from nary.data.importers.wikidata.settings import DATATYPES
from nary.facts.literal import MARK, Literal, number_text

Snak = Mapping[str, Any]

_LETTERS = {"item": "Q", "property": "P", "lexeme": "L"}
_TIME = re.compile(r"([+-]?)([0-9]+)-([0-9]{2})-([0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2})Z?")
_DAY, _MONTH, _YEAR = 11, 10, 9
_COARSE = {8: "decade", 7: "century", 6: "millennium", **{n: f"{10 ** (9 - n)} years" for n in range(6)}}
_MISSING = {"somevalue": "an unknown value", "novalue": "no value"}
_JULIAN, _EARTH = "Q1985786", "Q2"


class SnakReader:
    """Turns snaks into names, and counts in ``left_out`` those that have none, by the reason."""

    def __init__(self, datatypes: Collection[str] = (), keep_missing: bool = False) -> None:
        self.left_out: Counter[str] = Counter()
        self._datatypes = {*DATATYPES, *datatypes}
        self._keep_missing = keep_missing
        self._readers: dict[str, Callable[[Any], str]] = {
            "wikibase-entityid": _entity,
            "string": _text,
            "monolingualtext": _monolingual_text,
            "quantity": self._quantity,
            "time": time_name,
            "globecoordinate": _point,
        }

    def name(self, snak: Snak, what: str) -> str | None:
        """Return the name of the value of a snak; None if it is left out. ``what`` it belongs to is counted."""
        kind = snak["snaktype"]
        if kind != "value":
            if kind not in _MISSING:
                raise ValueError(f"the snaktype {kind!r} is unknown")
            if self._keep_missing:
                return str(kind)
            self.left_out[f"{what} with {_MISSING[kind]}"] += 1
            return None
        datatype = snak.get("datatype")
        if datatype is not None and datatype not in self._datatypes:
            self.left_out[f"{what} of datatype {datatype}"] += 1
            return None
        value = snak["datavalue"]
        read = self._readers.get(value["type"])
        if read is None:
            self.left_out[f"{what} with a value of the unknown type {value['type']}"] += 1
            return None
        name = read(value["value"])
        if not name or "\0" in name:
            self.left_out[f"{what} with an empty text"] += 1
            return None
        return name

    def _quantity(self, value: Mapping[str, Any]) -> str:
        """Return a number or, with a unit, a quantity; bounds are left out."""
        if value.get("upperBound") is not None:
            self.left_out["bounds of quantities"] += 1
        number = number_text(value["amount"])
        unit = value.get("unit", "1")
        return f"{number}{MARK}number" if unit == "1" else f"{number}{MARK}quantity:{_last_part(unit)}"


def _entity(value: Mapping[str, Any]) -> str:
    """Return the id of an entity; old dumps give its number only."""
    if "id" in value:
        return str(value["id"])
    return f"{_LETTERS[value['entity-type']]}{value['numeric-id']}"


def _text(value: str) -> str:
    return f"{value}{MARK}text" if value.strip() else ""


def _monolingual_text(value: Mapping[str, Any]) -> str:
    text = _text(value["text"])
    return text and f"{text}:{value['language']}"


def time_name(value: Mapping[str, Any]) -> str:
    """Return a date as precise as Wikidata says, or a date with a time if it is more precise than a day.

    Months and days are Gregorian unless marked as Julian; the calendar of less precise dates makes no difference.
    """
    match = _TIME.fullmatch(value["time"])
    if match is None:
        raise ValueError(f"{value['time']!r} is not a time")
    sign, digits, month, day, clock = match.groups()
    precision = value["precision"]
    number = int(digits)
    year = ("-" if sign == "-" and number else "") + f"{number:04}"
    if precision < _YEAR:
        return Literal.of(year, "date", _COARSE[precision]).name
    precision = _YEAR if month == "00" else min(precision, _MONTH) if day == "00" else precision
    parts = [year, month, day][: min(precision, _DAY) - _YEAR + 1]
    unit = "julian" if precision > _YEAR and _last_part(value["calendarmodel"]) == _JULIAN else ""
    if precision > _DAY:
        return Literal.of(f"{'-'.join(parts)}T{clock}Z", "datetime", unit).name
    return Literal.of("-".join(parts), "date", unit).name


def _point(value: Mapping[str, Any]) -> str:
    """Return latitude and longitude; the precision is left out, the globe is kept if it is not the Earth."""
    place = f"{number_text(value['latitude'])},{number_text(value['longitude'])}"
    globe = _last_part(value.get("globe") or _EARTH)
    return Literal.of(place, "point", "" if globe == _EARTH else globe).name


def _last_part(iri: str) -> str:
    """Return the id at the end of the address of an entity."""
    return iri.rpartition("/")[2]
