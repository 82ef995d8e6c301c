"""The statements of files of RDF, by name, before it is decided which are facts."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nary.data.files import Source, extension
from nary.data.rdf.terms import RDF, Terms, is_generated
from nary.errors import DataError

_PLACE = re.compile(r"^Parser error (?:at|between) line [a-z0-9 ]+: ")
TYPE, _REIFIES = RDF + "type", RDF + "reifies"
_REIFICATION = (RDF + "subject", RDF + "predicate", RDF + "object")
_STATEMENT = RDF + "Statement"
_HINTS = {
    "The subject of a triple must be": "Quoted triples as subjects, as in RDF-star, are read from Turtle, TriG and "
    "N-Triples, not from N-Quads.",
    "No scheme found": "Relative IRIs need a @base.",
    "has not been declared": "Declare it: @prefix ex: <http://example.org/> .",
    "Unexpected end of file": "A statement or text that begins on this line does not end.",
    "UTF-8": "Convert the file to UTF-8.",
}

Triple = tuple[str, str, str]
"""Subject, predicate and object; IRIs are not shortened yet, because a prefix may be declared after its use."""


class Graph:
    """All statements of some files: what is ``asserted``, and the reifiers of each ``reified`` triple."""

    def __init__(self) -> None:
        self.prefixes: dict[str, str] = {}
        self.asserted: dict[Triple, None] = {}
        self.reified: dict[Triple, list[str]] = {}
        self.left_out: Counter[str] = Counter()
        self._terms = Terms()
        self._files = 0
        self._anonymous: dict[str, str] = {}

    def add(self, source: Source) -> None:
        """Add the statements of a file."""
        ox = self._terms.ox
        self._files += 1
        parser = ox.parse(_Stream(source), format=_format(source.path, ox))
        reification: dict[str, list[tuple[str, str]]] = {}
        try:
            for quad in parser:
                predicate = quad.predicate.value
                if isinstance(quad.object, ox.Triple):
                    self._add_reified(quad)
                elif predicate in _REIFICATION:
                    reification.setdefault(self._name(quad.subject), []).append((predicate, self._name(quad.object)))
                else:
                    self._add_asserted((self._name(quad.subject), predicate, self._name(quad.object)))
                if not isinstance(quad.graph_name, ox.DefaultGraph):
                    self.left_out["names of graphs"] += 1
        except SyntaxError as error:
            raise DataError(_PLACE.sub("", error.msg), _hint(error.msg), source.name, error.lineno) from None
        self.prefixes |= parser.prefixes
        self._add_reification(reification)

    def _add_asserted(self, triple: Triple) -> None:
        if triple[2]:
            self.asserted[triple] = None
        else:
            self.left_out["literals that are empty or of a datatype without a full IRI"] += 1

    def _add_reified(self, quad: Any) -> None:
        inner = quad.object
        parts = (inner.subject, inner.predicate, inner.object)
        names = None if isinstance(inner.object, self._terms.ox.Triple) else tuple(map(self._name, parts))
        if quad.predicate.value == _REIFIES and names is not None and names[2]:
            self.reified.setdefault(names, []).append(self._name(quad.subject))  # type: ignore[arg-type]
        else:
            self.left_out["statements about statements"] += 1

    def _add_reification(self, nodes: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        """Add statements that are reified as in RDF 1.0, by a node with a subject, a predicate and an object."""
        for node, parts in nodes.items():
            by_part = dict(parts)
            if len(parts) == len(_REIFICATION) == len(by_part) and all(by_part.values()):
                subject, predicate, object = (by_part[part] for part in _REIFICATION)
                self.reified.setdefault((subject, predicate, object), []).append(node)
                self.asserted.pop((node, TYPE, _STATEMENT), None)
            else:
                for part, name in parts:
                    self._add_asserted((node, part, name))

    def _name(self, term: Any) -> str:
        """Return the name of a term with IRIs in full; blank nodes of several files are told apart."""
        ox = self._terms.ox
        if isinstance(term, ox.NamedNode):
            return str(term.value)
        if not isinstance(term, ox.BlankNode):
            return self._terms.name(term)
        label = term.value
        if is_generated(label):
            label = self._anonymous.setdefault(label, f"anonymous{len(self._anonymous) + 1}")
        elif self._files > 1:
            label = f"{label}.file{self._files}"
        return f"_:{label}"


class _Stream:
    """A source as the binary file that the parser reads."""

    def __init__(self, source: Source) -> None:
        self._pieces = source.pieces()
        self._piece, self._at = b"", 0

    def read(self, size: int) -> bytes:
        """Return at most ``size`` bytes; none at the end."""
        while self._at >= len(self._piece):
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._piece, self._at = piece, 0
        start, self._at = self._at, self._at + size
        return self._piece[start : self._at]


def _format(path: Path, ox: Any) -> Any:
    """Return the format of a file. N-Triples are read as Turtle, which allows the quoted triples of RDF-star, too."""
    formats = {".trig": ox.RdfFormat.TRIG, ".nq": ox.RdfFormat.N_QUADS, ".nquads": ox.RdfFormat.N_QUADS}
    return formats.get(extension(path).lower(), ox.RdfFormat.TURTLE)


def _hint(message: str) -> str:
    return next((hint for words, hint in _HINTS.items() if words in message), "Correct the line.")
