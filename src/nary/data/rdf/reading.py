"""Reading RDF into a dataset.

Each reifier of a triple is a fact, with a qualifier for everything that is said about it. A triple without reifiers is
a fact without qualifiers. Labels (rdfs:label) and types (rdf:type) go to the vocabulary.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nary.data.dataset import Dataset
from nary.data.files import Source, display_name, extension
from nary.data.importers.wikidata.statements import NO_QUALIFIERS
from nary.data.io.encoder import Encoder
from nary.data.io.lines import Record, to_columns
from nary.data.rdf.terms import RDF, RDFS, Terms, is_generated
from nary.errors import DataError
from nary.facts import FactTable
from nary.facts.literal import MARK, Literal
from nary.progress import Progress, no_progress

_PLACE = re.compile(r"^Parser error (?:at|between) line [a-z0-9 ]+: ")
_TRUTHY = b"wikidata.org/prop/direct/"
_LABEL, _TYPE, _REIFIES = RDFS + "label", RDF + "type", RDF + "reifies"
_REIFICATION = (RDF + "subject", RDF + "predicate", RDF + "object")
_STATEMENT = RDF + "Statement"
_RECORDS = 1 << 17

_HINTS = {
    "The subject of a triple must be": "Quoted triples as subjects, as in RDF-star, are read from Turtle, TriG and "
    "N-Triples, not from N-Quads.",
    "No scheme found": "Relative IRIs need a @base.",
    "has not been declared": "Declare it: @prefix ex: <http://example.org/> .",
    "Unexpected end of file": "A statement or text that begins on this line does not end.",
    "UTF-8": "Convert the file to UTF-8.",
}

_Triple = tuple[str, str, str]
"""Subject, predicate and object; IRIs are not shortened yet, because a prefix may be declared after its use."""


def read_rdf(
    paths: Sequence[Path],
    *,
    prefixes: Mapping[str, str] | None = None,
    languages: Collection[str] = ("en",),
    rdf_star: bool = False,
    without_qualifiers: bool = False,
    progress: Progress = no_progress,
) -> Dataset:
    """Read files of RDF into one dataset with a single split, train.

    ``prefixes`` shorten IRIs, in addition to those that the files declare. A label is in the first of ``languages``
    that an entity has one in, or in none. With ``rdf_star``, all that is said about a triple makes one fact, as
    RDF-star means it; in RDF 1.2, each annotation is a statement of its own. ``without_qualifiers`` accepts a truthy
    dump of Wikidata.
    """
    graph = _Graph()
    for path in paths:
        with Source(path, progress) as source:
            if not without_qualifiers and _TRUTHY in source.head:
                hint = f"{NO_QUALIFIERS} To import triples all the same, add --without-qualifiers."
                raise DataError("is a truthy dump of Wikidata, which has no qualifiers", hint, source.name)
            graph.add(source)
    if not graph.asserted and not graph.reified:
        raise DataError("contains no statements", "Expected at least one.", _all(paths))
    terms = Terms({**graph.prefixes, **(prefixes or {})})
    name = paths[0].resolve().name.partition(".")[0]
    dataset = _Builder(graph, terms, languages, rdf_star).dataset(name)
    if not len(dataset.train):
        raise DataError("contains labels and types only", "Expected at least one other statement.", _all(paths))
    return dataset


def _all(paths: Sequence[Path]) -> str:
    return ", ".join(map(display_name, paths))


class _Graph:
    """All statements of some files: what is ``asserted``, and the reifiers of each ``reified`` triple."""

    def __init__(self) -> None:
        self.prefixes: dict[str, str] = {}
        self.asserted: dict[_Triple, None] = {}
        self.reified: dict[_Triple, list[str]] = {}
        self.left_out: Counter[str] = Counter()
        self._terms = Terms()
        self._files = 0
        self._anonymous: dict[str, str] = {}

    def add(self, source: Source) -> None:
        """Add the statements of a file."""
        ox = self._terms.ox
        self._files += 1
        parser = ox.parse(_Stream(source), format=_format(source.path, ox))
        reified_classically: dict[str, dict[str, str]] = {}
        try:
            for quad in parser:
                predicate = quad.predicate.value
                if isinstance(quad.object, ox.Triple):
                    self._add_reified(quad)
                elif predicate in _REIFICATION:
                    reified_classically.setdefault(self._name(quad.subject), {})[predicate] = self._name(quad.object)
                else:
                    self._add_asserted((self._name(quad.subject), predicate, self._name(quad.object)))
                if not isinstance(quad.graph_name, ox.DefaultGraph):
                    self.left_out["names of graphs"] += 1
        except SyntaxError as error:
            raise DataError(_PLACE.sub("", error.msg), _hint(error.msg), source.name, error.lineno) from None
        self.prefixes |= parser.prefixes
        self._add_reification(reified_classically)

    def _add_asserted(self, triple: _Triple) -> None:
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

    def _add_reification(self, parts: Mapping[str, Mapping[str, str]]) -> None:
        """Add statements that are reified as in RDF 1.0, by a node with a subject, a predicate and an object."""
        for node, each in parts.items():
            if set(each) == set(_REIFICATION) and each[_REIFICATION[2]]:
                subject, predicate, object = (each[part] for part in _REIFICATION)
                self.reified.setdefault((subject, predicate, object), []).append(node)
                self.asserted.pop((node, _TYPE, _STATEMENT), None)
            else:
                self.asserted |= {(node, part, name): None for part, name in each.items() if name}

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


class _Builder:
    """Makes a dataset of a graph."""

    def __init__(self, graph: _Graph, terms: Terms, languages: Collection[str], rdf_star: bool) -> None:
        self._graph, self._terms, self._rdf_star = graph, terms, rdf_star
        self._languages = [*languages, ""]
        self._names: dict[str, str] = {}
        self._labels: dict[str, tuple[int, str]] = {}
        self._types: dict[str, list[str]] = {}
        self._left_out = graph.left_out
        self._reifiers = {node for nodes in graph.reified.values() for node in nodes}
        self._said: dict[str, list[tuple[str, str]]] = {}

    def dataset(self, name: str) -> Dataset:
        """Return the dataset, with notes about what was left out."""
        encoder, rows = Encoder(), 0
        records: list[Record] = []
        for record in self._records():
            records.append(record)
            if len(records) >= _RECORDS:
                encoder.add(to_columns(records, range(rows, rows + len(records))), "train")
                rows, records = rows + len(records), []
        encoder.add(to_columns(records, range(rows, rows + len(records))), "train")
        vocabulary, splits = encoder.finish()
        splits.setdefault("train", FactTable([]))
        used = {*vocabulary.entities, *vocabulary.relations}
        types = {name: tuple(names) for name, names in self._types.items() if name in used}
        used.update(name for names in types.values() for name in names)
        labels = {name: text for name, (_, text) in self._labels.items() if name in used}
        vocabulary = replace(vocabulary, labels=labels, types=types)
        return Dataset(name, vocabulary, splits, tuple(self._notes()), self._terms.prefixes.all)

    def _records(self) -> Iterator[Record]:
        """Yield a fact for each reifier, and for each triple that has none and is neither a label nor a type."""
        plain = [triple for triple in self._graph.asserted if self._is_plain(triple)]
        for triple in plain:
            if triple in self._graph.reified:
                yield from self._reified(triple)
            elif not self._is_label(triple) and not self._is_type(triple):
                yield self._record(triple, [])
        for triple in self._graph.reified:
            if triple not in self._graph.asserted and not self._mentions_reifier(triple):
                yield from self._reified(triple)

    def _is_plain(self, triple: _Triple) -> bool:
        """Whether a triple is about no other statement; else it is a qualifier, or left out."""
        subject, predicate, object = triple
        if subject in self._reifiers and object not in self._reifiers:
            self._said.setdefault(subject, []).append((self._name(predicate), self._name(object)))
            return False
        return not self._mentions_reifier(triple)

    def _mentions_reifier(self, triple: _Triple) -> bool:
        mentioned = triple[0] in self._reifiers or triple[2] in self._reifiers
        self._left_out["statements about statements"] += mentioned
        return mentioned

    def _reified(self, triple: _Triple) -> Iterator[Record]:
        nodes = self._graph.reified[triple]
        pairs = [self._said.get(node, []) for node in dict.fromkeys(nodes)]
        if self._rdf_star:
            pairs = [list(dict.fromkeys(pair for each in pairs for pair in each))]
        for each in pairs:
            yield self._record(triple, each)

    def _record(self, triple: _Triple, pairs: Sequence[tuple[str, str]]) -> Record:
        subject, predicate, object = map(self._name, triple)
        return Record(subject, predicate, object, pairs)

    def _is_label(self, triple: _Triple) -> bool:
        """Whether a triple is a label; keep it if it is in a better language than the one there is."""
        subject, predicate, object = triple
        literal = Literal.from_name(object) if predicate == _LABEL else None
        if literal is None or literal.type != "text":
            return False
        language = literal.unit if literal.unit in self._languages else literal.unit.partition("-")[0]
        text = " ".join(literal.value.split())
        if language not in self._languages or not text:
            self._left_out["labels in other languages"] += 1
            return True
        rank = self._languages.index(language)
        name = self._name(subject)
        if name not in self._labels or rank < self._labels[name][0]:
            self._labels[name] = rank, text
        return True

    def _is_type(self, triple: _Triple) -> bool:
        """Whether a triple is a type; keep it."""
        subject, predicate, object = triple
        if predicate != _TYPE or MARK in object:
            return False
        self._types.setdefault(self._name(subject), []).append(self._name(object))
        return True

    def _name(self, name: str) -> str:
        """Shorten the name of an IRI; literals and blank nodes have their names already."""
        if name not in self._names:
            self._names[name] = name if MARK in name or name.startswith("_:") else self._terms.iri_name(name)
        return self._names[name]

    def _notes(self) -> Iterator[str]:
        reified, asserted = self._graph.reified, self._graph.asserted
        if n := sum(triple not in asserted for triple in reified):
            yield f"{n:,} statements are reified, but not asserted; they are facts all the same"
        several = sum(len(set(nodes)) > 1 for nodes in reified.values())
        if several and not self._rdf_star:
            yield f"{several:,} triples have several annotations, each a fact; --rdf-star makes one fact of them"
        yield from (f"left out: {n:,} {reason}" for reason, n in sorted(self._left_out.items()) if n)


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
