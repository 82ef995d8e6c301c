"""Writing a dataset as RDF 1.2: Turtle and TriG with annotations, N-Triples and N-Quads with reifiers.

A fact with qualifiers is its triple with an annotation, ``s p o {| q v |}``. Reading gives the same facts back. RDF has
no order of statements, no repeated ones and no splits.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from nary.data.dataset import Dataset
from nary.data.files import extension, open_to_write
from nary.data.rdf.terms import RDF, RDFS, XSD, Terms
from nary.facts.layout import OBJECT, RELATION, SUBJECT
from nary.files.writing import atomic_path
from nary.progress import Progress, no_progress

_LOCAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*|[0-9][A-Za-z0-9_-]*")
_PREFIX = re.compile(r"(?:[A-Za-z][A-Za-z0-9_-]*)?")
_BARE = {XSD + "integer": re.compile(r"-?[0-9]+"), XSD + "decimal": re.compile(r"-?[0-9]+\.[0-9]+")}
_SPECIAL = (RDF + "type", RDFS + "label")
_LINES = 8192


def write_rdf(dataset: Dataset, out: Path, progress: Progress = no_progress) -> None:
    """Write all facts, labels and types to a file; its extension tells the format."""
    writer = _Turtle(dataset) if extension(out).lower() in (".ttl", ".turtle", ".trig") else _Lines(dataset)
    total, pending = len(dataset), []
    with atomic_path(out) as temporary, open_to_write(temporary) as file:
        file.write(writer.header().encode())
        for done, line in enumerate(writer.lines()):
            pending.append(line)
            if len(pending) == _LINES:
                file.write("".join(pending).encode())
                pending = []
                progress(min(done, total), total)
        file.write("".join(pending).encode())


class _Lines:
    """N-Triples and N-Quads: a fact with qualifiers has a reifier, a blank node."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self.terms = Terms(dataset.prefixes)
        self._annotated = {
            (row[SUBJECT], row[RELATION], row[OBJECT])
            for block in dataset.facts.blocks
            if block.qualifiers
            for row in block.ids[:, :3].tolist()
        }
        self._reifiers = 0

    def header(self) -> str:
        """What the file begins with."""
        return ""

    def lines(self) -> Iterator[str]:
        """Yield every fact, label and type."""
        vocabulary = self._dataset.vocabulary
        entity_ids, relation_ids = vocabulary.entity_ids, vocabulary.relation_ids
        for subject, relation, object, pairs in self._dataset.facts.decode(vocabulary.entities, vocabulary.relations):
            ids = entity_ids[subject], relation_ids[relation], entity_ids[object]
            predicate = self.terms.iri(relation)
            # without a reifier, it would be read as part of an annotated fact, or as a label or type
            needs_reifier = bool(pairs) or ids in self._annotated or predicate.value in _SPECIAL
            triple = " ".join((self._text(self.terms.subject(subject)), self._text(predicate), self._entity(object)))
            said = [(self._text(self.terms.iri(attribute)), self._entity(value)) for attribute, value in pairs]
            yield self.fact(triple, said, needs_reifier)
        label, type = (self._text(self.terms.ox.NamedNode(iri)) for iri in (_SPECIAL[1], _SPECIAL[0]))
        for name, text in vocabulary.labels.items():
            yield f"{self._text(self.terms.subject(name))} {label} {self.terms.ox.Literal(text)} .\n"
        for name, types in vocabulary.types.items():
            for each in types:
                yield f"{self._text(self.terms.subject(name))} {type} {self._text(self.terms.subject(each))} .\n"

    def fact(self, triple: str, said: list[tuple[str, str]], needs_reifier: bool) -> str:
        """Return the lines of a fact."""
        if not needs_reifier:
            return f"{triple} .\n"
        self._reifiers += 1
        node = f"_:nary-{self._reifiers}"
        pairs = "".join(f"{node} {attribute} {value} .\n" for attribute, value in said)
        return f"{triple} .\n{node} <{RDF}reifies> <<( {triple} )>> .\n{pairs}"

    def _entity(self, name: str) -> str:
        return self._text(self.terms.entity(name))

    def _text(self, term: object) -> str:
        return str(term)


class _Turtle(_Lines):
    """Turtle and TriG: prefixes, and a fact with qualifiers has an annotation."""

    def header(self) -> str:
        """Declare the prefixes."""
        prefixes = sorted(item for item in self.terms.prefixes.all.items() if _PREFIX.fullmatch(item[0]))
        return "".join(f"@prefix {key}: {self.terms.ox.NamedNode(iri)} .\n" for key, iri in prefixes) + "\n"

    def fact(self, triple: str, said: list[tuple[str, str]], needs_reifier: bool) -> str:
        """Return the line of a fact."""
        if not said:
            return f"{triple} ~ .\n" if needs_reifier else f"{triple} .\n"
        return f"{triple} {{| {' ; '.join(f'{attribute} {value}' for attribute, value in said)} |}} .\n"

    def _text(self, term: object) -> str:
        ox = self.terms.ox
        if isinstance(term, ox.Literal) and term.language is None and term.datatype.value != XSD + "string":
            if term.datatype.value in _BARE and _BARE[term.datatype.value].fullmatch(term.value):
                return str(term.value)
            return f"{ox.Literal(term.value)}^^{self._text(term.datatype)}"
        if isinstance(term, ox.NamedNode):
            key, colon, local = self.terms.prefixes.shorten(term.value).partition(":")
            if colon and key in self.terms.prefixes.all and _PREFIX.fullmatch(key) and _LOCAL.fullmatch(local):
                return f"{key}:{local}"
        return str(term)
