"""Invented entities, as Wikidata's dumps write them."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ENTITY = "http://www.wikidata.org/entity/"


def item(id: str) -> dict[str, Any]:
    kind = {"Q": "item", "P": "property"}[id[0]]
    return value("wikibase-entityid", {"entity-type": kind, "numeric-id": int(id[1:]), "id": id}, f"wikibase-{kind}")


def value(type: str, content: Any, datatype: str) -> dict[str, Any]:
    return {"snaktype": "value", "datatype": datatype, "datavalue": {"type": type, "value": content}}


def string(text: str, datatype: str = "string") -> dict[str, Any]:
    return value("string", text, datatype)


def text(content: str, language: str) -> dict[str, Any]:
    return value("monolingualtext", {"text": content, "language": language}, "monolingualtext")


def quantity(amount: str, unit: str = "1", **bounds: str) -> dict[str, Any]:
    address = unit if unit == "1" else ENTITY + unit
    return value("quantity", {"amount": amount, "unit": address, **bounds}, "quantity")


def time(text: str, precision: int, calendar: str = "Q1985727") -> dict[str, Any]:
    content = {"time": text, "precision": precision, "calendarmodel": ENTITY + calendar}
    return value("time", {**content, "timezone": 0, "before": 0, "after": 0}, "time")


def point(latitude: float, longitude: float, globe: str = "Q2") -> dict[str, Any]:
    content = {"latitude": latitude, "longitude": longitude, "altitude": None, "precision": 0.01}
    return value("globecoordinate", {**content, "globe": ENTITY + globe}, "globe-coordinate")


def missing(kind: str) -> dict[str, Any]:
    return {"snaktype": kind, "datatype": "wikibase-item"}


def statement(
    snak: Mapping[str, Any],
    qualifiers: Mapping[str, list[Any]] | None = None,
    rank: str = "normal",
    references: int = 0,
) -> dict[str, Any]:
    content = {"mainsnak": snak, "type": "statement", "rank": rank}
    content |= {"qualifiers": qualifiers} if qualifiers else {}
    return content | ({"references": [{"snaks": {}}] * references} if references else {})


def entity(id: str, label: str | None = None, **claims: list[Any]) -> dict[str, Any]:
    labels = {"en": {"language": "en", "value": label}} if label else []
    kind = {"Q": "item", "P": "property"}[id[0]]
    return {"type": kind, "id": id, "labels": labels, "claims": claims or [], "sitelinks": {}}


def as_lines(entities: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in entities).encode()


def as_array(entities: Iterable[Mapping[str, Any]]) -> bytes:
    return ("[\n" + ",\n".join(json.dumps(each) for each in entities) + "\n]\n").encode()


def write(path: Path, entities: Iterable[Mapping[str, Any]]) -> Path:
    path.write_bytes(as_array(entities))
    return path


PEOPLE = [
    entity("P31", "instance of"),
    entity("P108", "employer"),
    entity("P580", "start time"),
    entity("Q5", "human"),
    entity("Q10", "Ada Fern", P31=[statement(item("Q5"))], P108=[
        statement(item("Q20"), {"P580": [time("+2001-05-00T00:00:00Z", 10)]}, references=2),
        statement(item("Q21"), rank="deprecated"),
    ]),
    entity("Q11", "Ben Moss", P31=[statement(item("Q5"))], P108=[
        statement(item("Q21"), rank="preferred"),
        statement(item("Q20")),
    ]),
    entity("Q20", "Glass Works", P31=[statement(item("Q4830453"))]),
    entity("Q21", "Iron Works"),
    entity("Q99", "never mentioned"),
]  # fmt: skip
"""Two people and their employers."""
