"""Reading RDF into a dataset.

Each reifier of a triple is a fact, with a qualifier for everything that is said about it. A triple without reifiers is
a fact without qualifiers. Labels (rdfs:label) and types (rdf:type) go to the vocabulary.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from nary.data.dataset import Dataset
from nary.data.files import Source, display_name
from nary.data.importers.wikidata.statements import NO_QUALIFIERS
from nary.data.io.encoder import Encoder
from nary.data.io.lines import Record, to_columns
from nary.data.rdf.graph import TYPE, Graph, Triple
from nary.data.rdf.terms import RDFS, Terms
from nary.errors import DataError
from nary.facts import FactTable
from nary.facts.literal import MARK, Literal
from nary.progress import Progress, no_progress
from nary.wording import counted

_TRUTHY = b"wikidata.org/prop/direct/"
_LABEL = RDFS + "label"
_RECORDS = 1 << 17


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
    graph = Graph()
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


class _Builder:
    """Makes a dataset of a graph."""

    def __init__(self, graph: Graph, terms: Terms, languages: Collection[str], rdf_star: bool) -> None:
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

    def _is_plain(self, triple: Triple) -> bool:
        """Whether a triple is about no other statement; else it is a qualifier, or left out."""
        subject, predicate, object = triple
        if subject in self._reifiers and object not in self._reifiers:
            self._said.setdefault(subject, []).append((self._name(predicate), self._name(object)))
            return False
        return not self._mentions_reifier(triple)

    def _mentions_reifier(self, triple: Triple) -> bool:
        mentioned = triple[0] in self._reifiers or triple[2] in self._reifiers
        self._left_out["statements about statements"] += mentioned
        return mentioned

    def _reified(self, triple: Triple) -> Iterator[Record]:
        nodes = self._graph.reified[triple]
        pairs = [self._said.get(node, []) for node in dict.fromkeys(nodes)]
        if self._rdf_star:
            pairs = [list(dict.fromkeys(pair for each in pairs for pair in each))]
        for each in pairs:
            yield self._record(triple, each)

    def _record(self, triple: Triple, pairs: Sequence[tuple[str, str]]) -> Record:
        subject, predicate, object = map(self._name, triple)
        return Record(subject, predicate, object, pairs)

    def _is_label(self, triple: Triple) -> bool:
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

    def _is_type(self, triple: Triple) -> bool:
        """Whether a triple is a type; keep it."""
        subject, predicate, object = triple
        if predicate != TYPE or MARK in object:
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
            yield f"{counted(n, 'statement is', 'statements are')} reified, but not asserted: facts all the same"
        several = sum(len(set(nodes)) > 1 for nodes in reified.values())
        if several and not self._rdf_star:
            triples = counted(several, "triple has", "triples have")
            yield f"{triples} several annotations, each a fact; --rdf-star makes one fact of them"
        yield from (f"left out: {n:,} {reason}" for reason, n in sorted(self._left_out.items()) if n)
