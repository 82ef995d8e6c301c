"""Terms of RDF as names of entities and relations, and back.

IRIs are shortened by prefixes: ``http://example.org/ada`` is called ``ex:ada``. A name that is no IRI becomes one:
``urn:nary:`` and the name, with percent signs for special characters.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote

from nary.data.rdf import pyoxigraph
from nary.errors import FactError
from nary.facts.literal import MARK, Literal

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"
WELL_KNOWN = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD, "owl": "http://www.w3.org/2002/07/owl#"}
"""Prefixes that need no declaration."""

NAMES = "urn:nary:"
"""What the IRI of a name that is none begins with, and that of a type of literals that RDF does not have."""

_WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"
_POINT = re.compile(r"\s*point\s*\(\s*(-?[0-9.]+)\s+(-?[0-9.]+)\s*\)\s*", re.IGNORECASE)
_INTEGERS = ("nonNegativeInteger", "positiveInteger", "negativeInteger", "nonPositiveInteger", "long", "int", "short")
_NUMBERS = ("integer", "decimal", "double", "float", *_INTEGERS, "byte", "unsignedLong", "unsignedInt", "unsignedShort")
_TYPES = {
    **{XSD + name: "number" for name in _NUMBERS},
    **{XSD + name: "date" for name in ("date", "gYear", "gYearMonth")},
    XSD + "time": "time",
    XSD + "dateTime": "datetime",
    XSD + "string": "text",
    RDF + "langString": "text",
    RDF + "dirLangString": "text",
}
_DATES = {0: "gYear", 1: "gYearMonth", 2: "date"}
_SECONDS = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}")
_NOT_PREFIXES = ("_", "http", "https", "urn")
_ANONYMOUS = re.compile(r"[0-9a-f]{24,32}")


class Prefixes:
    """Shortens IRIs by prefixes, and expands what was shortened."""

    def __init__(self, prefixes: Mapping[str, str] | None = None) -> None:
        declared = {key: iri for key, iri in (prefixes or {}).items() if key not in _NOT_PREFIXES and iri}
        self.all = {**WELL_KNOWN, **declared}
        longest_first = sorted(((iri, key) for key, iri in self.all.items()), key=lambda pair: (-len(pair[0]), pair))
        self._namespaces = longest_first

    def shorten(self, iri: str) -> str:
        """Return ``ex:ada`` for an IRI, by the longest namespace that it begins with."""
        for namespace, key in self._namespaces:
            if iri.startswith(namespace):
                return f"{key}:{iri[len(namespace) :]}"
        return iri

    def expand(self, name: str) -> str:
        """Return the IRI that a name is short for, or else the name."""
        key, colon, local = name.partition(":")
        return self.all[key] + local if colon and key in self.all else name


class Terms:
    """Names of terms, and terms of names; :meth:`name` is the inverse of the other methods."""

    def __init__(self, prefixes: Mapping[str, str] | None = None) -> None:
        self.ox = pyoxigraph()
        self.prefixes = Prefixes(prefixes)
        self.iri = lru_cache(1 << 16)(self._iri)  # relations and common entities come again and again

    def name(self, term: Any) -> str:
        """Return the name of a term; empty for a literal that can have none."""
        if isinstance(term, self.ox.NamedNode):
            return self.iri_name(term.value)
        if isinstance(term, self.ox.BlankNode):
            return f"_:{term.value}"
        literal = _literal(term.value, term.datatype.value, term.language or "")
        return literal.name if literal else ""

    def iri_name(self, iri: str) -> str:
        """Return the name of an IRI."""
        return unquote(iri[len(NAMES) :]) or iri if iri.startswith(NAMES) else self.prefixes.shorten(iri)

    def entity(self, name: str) -> Any:
        """Return the term of an entity as an object: an IRI, a blank node or a literal."""
        literal = Literal.from_name(name) if MARK in name else None
        return self._first(name, self._literals(literal)) if literal else self.subject(name)

    def subject(self, name: str) -> Any:
        """Return the term of an entity as a subject, which is no literal."""
        return self._first(name, self._blank_nodes(name)) if name.startswith("_:") else self.iri(name)

    def _iri(self, name: str) -> Any:
        """Return the IRI of a name."""
        return self._first(name, (self.ox.NamedNode(self.prefixes.expand(name)) for _ in "1"))

    def _first(self, name: str, terms: Iterator[Any]) -> Any:
        """Return the first of ``terms`` that has the name, or else the IRI that is made for it."""
        try:
            for term in terms:
                if self.name(term) == name:
                    return term
        except ValueError:  # not a valid term
            pass
        return self.ox.NamedNode(NAMES + quote(name, safe=""))

    def _blank_nodes(self, name: str) -> Iterator[Any]:
        label = name[2:]
        if not is_generated(label) and label.isascii():
            yield self.ox.BlankNode(label)

    def _literals(self, literal: Literal) -> Iterator[Any]:
        ox, (value, type, unit) = self.ox, (literal.value, literal.type, literal.unit)
        if type == "text":
            yield ox.Literal(value, language=unit) if unit else ox.Literal(value)
        elif not unit and (datatype := _datatype(type, value)):
            wkt = "Point({1} {0})".format(*value.split(",")) if datatype == _WKT else value
            yield ox.Literal(wkt, datatype=ox.NamedNode(datatype))
        else:
            custom = NAMES + type + (f":{quote(unit, safe='')}" if unit else "")
            yield ox.Literal(value, datatype=ox.NamedNode(type if "://" in type else custom))


def is_generated(label: str) -> bool:
    """Whether a label of a blank node looks like those that are generated for anonymous ones."""
    return _ANONYMOUS.fullmatch(label) is not None or label.startswith("nary-")


def _datatype(type: str, value: str) -> str:
    """Return the datatype that RDF has for a value; empty if it has none."""
    if type == "number":
        return XSD + ("double" if "e" in value else "decimal" if "." in value else "integer")
    if type == "date":
        return XSD + _DATES[value.removeprefix("-").count("-")]
    if type in ("time", "datetime") and _SECONDS.search(value):
        return XSD + ("dateTime" if type == "datetime" else "time")
    return _WKT if type == "point" else ""


def _literal(value: str, datatype: str, language: str) -> Literal | None:
    """Return a literal of RDF as ours: of one of our types if its value allows that, else of the datatype."""
    try:
        if datatype == _WKT and (point := _POINT.fullmatch(value)):
            return Literal.of(f"{point[2]},{point[1]}", "point")
        if datatype.startswith(NAMES):
            type, _, unit = datatype[len(NAMES) :].partition(":")
            return Literal.of(value, type, unquote(unit))
        if datatype in _TYPES:
            return Literal.of(value, _TYPES[datatype], language)
    except FactError:
        pass
    try:
        return Literal.of(value, datatype)
    except FactError:
        return None
