"""RDF out and in again: the same facts, whatever their names."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nary.data.dataset import Dataset
from nary.data.io.reader import read
from nary.data.io.writer import write
from nary.data.rdf.reading import read_rdf
from nary.data.rdf.terms import Terms
from nary.facts import Fact, Vocabulary

PREFIXES = {"ex": "http://example.org/", "": "http://example.org/deep#"}
plain = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
iris = st.sampled_from(
    ["ex:ada", ":b", "http://example.org/c", "http://other.org/é?x=1#y", "urn:x:y", "urn:nary:z", "a:b", "http:"]
)
strange = [
    "_:b1",
    "_:nary-1",
    "_:" + "a" * 32,
    "_:",
    "_:é",
    "rdf:type",
    "rdfs:label",
    "ex:a b",
    "ex:",
    "ex",
    "%41",
    "a%2",
]
values = [
    "66000",
    "-0.5",
    "1e300",
    "2025",
    "2025-03-01",
    "14:30",
    "14:30:00",
    "2025-03-01T14:30:00Z",
    "48.85,2.35",
    "é",
    "a^^b",
    "",
]
types = [
    "number",
    "quantity:kg",
    "date",
    "date:julian",
    "time",
    "datetime",
    "point",
    "point:Q405",
    "text",
    "text:en",
    "text:EN x",
]
literals = st.builds("{}^^{}".format, st.sampled_from(values), st.sampled_from([*types, "http://a.b/c", "urn:c"]))
names = st.one_of(plain, iris, st.sampled_from(strange), literals)
statements = st.builds(Fact, names, names, names, st.lists(st.tuples(names, names), max_size=2, unique=True))


@pytest.mark.parametrize("file", ["graph.ttl", "graph.nt", "graph.trig", "graph.nq.gz"])
@settings(max_examples=30)
@given(facts=st.lists(statements, min_size=1, max_size=6))
def test_the_same_facts_come_back(file: str, facts: list[Fact]) -> None:
    dataset = Dataset.from_facts("all", {"train": facts})
    dataset = Dataset("all", dataset.vocabulary, dataset.splits, prefixes=PREFIXES)
    with TemporaryDirectory() as folder:
        write(dataset, Path(folder) / file)
        again = read_rdf([Path(folder) / file], prefixes=PREFIXES)
    assert set(again.train.facts(again.vocabulary)) == set(facts)


@given(name=names)
def test_a_name_is_that_of_its_terms(name: str) -> None:
    terms = Terms(PREFIXES)
    assert [terms.name(make(name)) for make in (terms.subject, terms.iri, terms.entity)] == [name] * 3


def test_turtle_is_readable(tmp_path: Path) -> None:
    pairs = [("ex:since", "2001^^number"), ("ex:to", "2003-05^^date"), ("ex:note", 'a "b"^^text:en')]
    facts = [Fact("ex:ada", "ex:employer", "ex:works", pairs), Fact("Ben Moss", "ex:weighs", "70.5^^quantity:kg")]
    dataset = Dataset.from_facts("all", {"train": facts[:1], "test": facts[1:]})
    vocabulary = Vocabulary(
        dataset.vocabulary.entities, dataset.vocabulary.relations, {"ex:ada": "Ada"}, {"ex:ada": ("ex:Person",)}
    )
    write(Dataset("all", vocabulary, dataset.splits, prefixes=PREFIXES), tmp_path / "out.ttl")
    assert (tmp_path / "out.ttl").read_text().partition("\n\n")[2].splitlines() == [
        'ex:ada ex:employer ex:works {| ex:note "a \\"b\\""@en ; ex:since 2001 ; ex:to "2003-05"^^xsd:gYearMonth |} .',
        '<urn:nary:Ben%20Moss> ex:weighs "70.5"^^<urn:nary:quantity:kg> .',
        'ex:ada rdfs:label "Ada" .',
        "ex:ada rdf:type ex:Person .",
    ]


def test_prefixes_labels_and_types_stay_with_the_data(tmp_path: Path) -> None:
    (tmp_path / "in.ttl").write_text(
        "@prefix x: <http://x.y/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        'x:a x:b x:c ; a x:T ; rdfs:label "A" .'
    )
    imported = read_rdf([tmp_path / "in.ttl"])
    write(imported, tmp_path / "data")
    stored = read(tmp_path / "data")
    assert stored.prefixes == imported.prefixes
    write(stored, tmp_path / "out.nt")
    written = read_rdf([tmp_path / "out.nt"], prefixes={"x": "http://x.y/"})
    assert written.vocabulary == imported.vocabulary
    assert (written.vocabulary.labels, written.vocabulary.types) == ({"x:a": "A"}, {"x:a": ("x:T",)})
