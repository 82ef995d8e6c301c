"""RDF as facts: annotations, reifiers, literals, labels, types, prefixes, several files."""

import gzip
import sys
from pathlib import Path

import pytest

from nary.data.dataset import Dataset
from nary.data.rdf.reading import read_rdf
from nary.errors import DataError, MissingExtraError

HEAD = """@prefix : <http://example.org/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def read(folder: Path, text: str, name: str = "graph.ttl", **options: object) -> Dataset:
    (folder / name).write_text(text if name.endswith((".nt", ".nq")) else HEAD + text)
    return read_rdf([folder / name], **options)


def facts(dataset: Dataset) -> list[str]:
    return sorted(str(fact) for fact in dataset.train.facts(dataset.vocabulary))


ANNOTATED = [':a | :b | :c | ":q": :v']


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":a :b :c .", [":a | :b | :c"]),
        (":a :b :c, :d ; :e :f .", [":a | :b | :c", ":a | :b | :d", ":a | :e | :f"]),
        (":a :b :c {| :q :v |} .", ANNOTATED),
        (":a :b :c . << :a :b :c >> :q :v .", ANNOTATED),
        (":a :b :c ~ :r . :r :q :v .", ANNOTATED),
        (":r rdf:reifies <<( :a :b :c )>> ; :q :v .", ANNOTATED),
        (":r a rdf:Statement ; rdf:subject :a ; rdf:predicate :b ; rdf:object :c ; :q :v .", ANNOTATED),
        (":r rdf:subject :a, :b .", [":r | rdf:subject | :a", ":r | rdf:subject | :b"]),  # no statement
        (":r :q :v . :r rdf:reifies <<( :a :b :c )>> .", ANNOTATED),  # in any order
        (":a :b :c {| :q :v ; :q :w |} .", [':a | :b | :c | ":q": :v | ":q": :w']),
        (":a :b :c {| :q :v |} {| :q :w |} .", [':a | :b | :c | ":q": :v', ':a | :b | :c | ":q": :w']),
        (":a :b :c {| :q :v |} ~ .", [":a | :b | :c", ':a | :b | :c | ":q": :v']),
        (":a :b [ :c :d ] .", [":a | :b | _:anonymous1", "_:anonymous1 | :c | :d"]),
        (":a :b _:x .", [":a | :b | _:x"]),
    ],
)
def test_statements(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert facts(read(tmp_path, text)) == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("66000", "66000^^number"),
        ("6.50", "6.5^^number"),
        ("66e3", "66000^^number"),
        ('"7"^^xsd:int', "7^^number"),
        ('"2025-03-01"^^xsd:date', "2025-03-01^^date"),
        ('"2025"^^xsd:gYear', "2025^^date"),
        ('"2025-03"^^xsd:gYearMonth', "2025-03^^date"),
        ('"14:30:00"^^xsd:time', "14:30:00^^time"),
        ('"2025-03-01T14:30:00Z"^^xsd:dateTime', "2025-03-01T14:30:00Z^^datetime"),
        ('"Haus"@de', "Haus^^text:de"),
        ('"house"', "house^^text"),
        ('"house"@en--ltr', "house^^text:en"),
        ("true", "true^^http://www.w3.org/2001/XMLSchema#boolean"),
        ('"INF"^^xsd:double', "INF^^http://www.w3.org/2001/XMLSchema#double"),
        ('"x"^^:mine', "x^^http://example.org/mine"),
        ('"POINT(2.35 48.85)"^^<http://www.opengis.net/ont/geosparql#wktLiteral>', "48.85,2.35^^point"),
        ('"5"^^<urn:nary:quantity:kg>', "5^^quantity:kg"),
        ("<urn:nary:Marie%20Curie>", "Marie Curie"),
        ("<http://other.org/x>", "http://other.org/x"),
    ],
)
def test_objects(tmp_path: Path, text: str, name: str) -> None:
    dataset = read(tmp_path, f":a :b {text} .")
    assert [fact.object for fact in dataset.train.facts(dataset.vocabulary)] == [name]


def test_labels_types_and_prefixes(tmp_path: Path) -> None:
    text = """:a :b :c ; a :T ; rdfs:label "ah"@de, "A  a"@en-GB . :c rdfs:label "untagged" . :T rdfs:label "Type"@en .
    :unused a :T ; rdfs:label "not here"@en ."""
    dataset = read(tmp_path, text)
    assert facts(dataset) == [":a | :b | :c"]
    assert dataset.vocabulary.labels == {":a": "A a", ":c": "untagged", ":T": "Type"}
    assert dataset.vocabulary.types == {":a": (":T",)}
    assert dataset.prefixes[""] == "http://example.org/"
    assert dataset.notes == ("left out: 1 labels in other languages",)
    assert read(tmp_path, text, languages=["de"]).vocabulary.label(":a") == "ah"


def test_annotated_types_are_facts(tmp_path: Path) -> None:
    assert facts(read(tmp_path, ":a a :T {| :q :v |} .")) == [':a | rdf:type | :T | ":q": :v']


def test_rdf_star_makes_one_fact_of_several_annotations(tmp_path: Path) -> None:
    text = "<< :a :b :c >> :q :v . << :a :b :c >> :r :w . :a :b :c ."
    several = read(tmp_path, text)
    assert len(several.train) == 2
    assert "1 triple has several annotations" in several.notes[0]
    assert facts(read(tmp_path, text, rdf_star=True)) == [':a | :b | :c | ":q": :v | ":r": :w']


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    text = """:x :says << :a :b :c >> . << << :a :b :c >> :q :v >> :r :w . :a :b "" . :a :b "x"^^<urn:own> ."""
    dataset = read(tmp_path, text)
    assert ":a | :b | :c" in facts(dataset)
    notes = " ".join(dataset.notes)
    assert "2 statements about statements" in notes
    assert "2 literals that are empty or of a datatype without a full IRI" in notes
    assert "reified, but not asserted" in notes


def test_trig_and_quads(tmp_path: Path) -> None:
    dataset = read(tmp_path, ":g { :a :b :c {| :q :v |} } :a :b :c .", "graph.trig")
    assert facts(dataset) == ANNOTATED
    assert "names of graphs" in dataset.notes[0]
    quads = "<http://a.b/s> <http://a.b/p> <http://a.b/o> <http://a.b/g> .\n"
    assert facts(read(tmp_path, quads, "graph.nq", prefixes={"x": "http://a.b/"})) == ["x:s | x:p | x:o"]


def test_quoted_triples_of_rdf_star_in_n_triples(tmp_path: Path) -> None:
    lines = '<< <http://a.b/s> <http://a.b/p> <http://a.b/o> >> <http://a.b/q> "v" .\n'
    assert facts(read(tmp_path, lines, "graph.nt", prefixes={"x": "http://a.b/"})) == [
        'x:s | x:p | x:o | "x:q": v^^text'
    ]


def test_blank_nodes_of_several_files_differ(tmp_path: Path) -> None:
    for name in ("one.ttl", "two.ttl.gz"):
        text = (HEAD + ":a :b _:x .").encode()
        (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    assert facts(read_rdf([tmp_path / "one.ttl", tmp_path / "two.ttl.gz"])) == [":a | :b | _:x", ":a | :b | _:x.file2"]


def test_a_truthy_dump_is_explained(tmp_path: Path) -> None:
    wikidata = "http://www.wikidata.org"
    line = f"<{wikidata}/entity/Q1> <{wikidata}/prop/direct/P2> <{wikidata}/entity/Q3> .\n"
    with pytest.raises(DataError, match="truthy dump of Wikidata, which has no qualifiers"):
        read(tmp_path, line, "truthy.nt")
    assert len(read(tmp_path, line, "truthy.nt", without_qualifiers=True).train) == 1


def test_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(MissingExtraError) as caught:
        read(tmp_path, ":a :b :c .")
    assert "nary[rdf]" in caught.value.hint


def test_the_examples_of_the_page_are_one_fact(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "importing.md").read_text()
    lines = page.partition("```turtle\n")[2].partition("```")[0].splitlines()
    assert len(lines) == 5
    for line in lines:
        assert facts(read(tmp_path, line)) == [':ada | :employer | :works | ":since": 2001^^number']
