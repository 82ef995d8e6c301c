# ruff: noqa: E501 (a table is easier to read with a case a line)
"""Broken tables, RDF and dumps through the real ``nary import``: file, line, reason and hint; nothing is left behind."""

import gzip
import json
from pathlib import Path

import pytest
from data.importers.wikidata.small import PEOPLE, as_lines, entity, item, quantity, statement, time
from test_bad_input import PNG, Case, check_json, everything, lay_out, run

EDGES = b"start,end,type,amount\na,b,PAID,5\n"
NODES = b"id,name\na,Ann\nb,Ben\n"
TTL = b"@prefix : <http://x.y/> .\n:a :b :c .\n"
GRAPHML = b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n<graph>\n<node id="a"/>\n'
APOC = b'{"type": "node", "id": "1", "labels": ["Person"]}\n'
Q1 = as_lines([entity("Q1", "one", P1=[statement(item("Q2"))])])


def one(id: str, name: str, content: bytes, words: str, line: int | None = None, *more: str, hint: str = "") -> Case:
    """A single broken file, and an attempt to import it."""
    return Case(id, {name: content}, " ".join(["import", name, "--out", "out", *more]), words, name, line, hint)


def broken_dump(id: str, entity: object, words: str, hint: str = "") -> Case:
    """A dump with a broken third line."""
    line = entity if isinstance(entity, bytes) else json.dumps(entity).encode()
    return one(
        f"dump: {id}",
        "dump.json",
        b"[\n" + Q1.strip() + b",\n" + line + b"\n]\n",
        words,
        3,
        "--from",
        "wikidata",
        hint=hint,
    )


def broken_rdf(id: str, text: bytes, words: str, line: int = 3, hint: str = "") -> Case:
    """Turtle that is broken after two correct lines."""
    return one(f"RDF: {id}", "graph.ttl", TTL + text, words, line, hint=hint)


CASES = [
    # tables of edges
    one("an empty table", "edges.csv", b"", "has no header", 1, hint="first line"),
    one("a header alone", "edges.csv", b"start,end,type\n", "has a header, but no rows"),
    one("one column", "edges.csv", b"start\na\n", "its header has one column", 1, hint="Separate columns"),
    one("another delimiter", "edges.csv", b"start:end:type\na:b:c\n", "its header has one column", 1, hint="commas, tabs or semicolons"),
    one("too few fields", "edges.csv", EDGES + b"a,b\n", "2 fields, but the header has 4", 3),
    one("too many fields", "edges.csv", EDGES + b"a,b,PAID,1,000\n", "5 fields, but the header has 4", 3, hint="double quotes"),
    one("a quote that is not closed", "edges.csv", EDGES + b'a,"b,PAID,5\n', "bad quotes", 3, hint='""'),
    one("text after a quote", "edges.csv", EDGES + b'a,"b"c,PAID,5\n', "bad quotes", 3),
    one("two columns of a name", "edges.csv", b"start,end,start\na,b,c\n", "two columns are called 'start'", 1, hint="Rename"),
    one("a column without name", "edges.csv", b"start,end,,type\na,b,c,d\n", "column 3 of the header has no name", 1),
    one("no ends", "edges.csv", b"x,y,z\na,b,c\n", "cannot tell which columns are the ends", None, hint="--start COLUMN"),
    one("no start in a row", "edges.csv", EDGES + b",b,PAID,5\n", "no value in column 'start'", 3),
    one("no type in a row", "edges.csv", EDGES + b'"a\nb",b,,5\n', "no value in column 'type'", 3),
    one("a number that is none", "edges.csv", EDGES + b"a,b,PAID,many\n", "'many' in column 'amount' is not a number", 3, "--number", "amount", hint="--entity amount"),
    one("a date that is none", "edges.csv", EDGES, "'5' in column 'amount' is not a date", 2, "--date", "amount"),
    one("carriage returns alone", "edges.csv", EDGES.replace(b"\n", b"\r"), "its header holds a carriage return", 1, hint="LF"),
    one("a spreadsheet", "edges.xlsx", b"PK\3\4", "is a spreadsheet", hint="Save it as CSV"),
    one("RDF/XML", "graph.rdf", b"<rdf:RDF/>", "is RDF in a syntax that is not read", hint="Turtle"),
    one("a Neo4j header that is none", "edges.csv", b":START_ID,:END_ID,:TYP\na,b,PAID\n", "the header ':TYP' is none of Neo4j's", hint=":TYPE"),
    one("a file given twice", "edges.csv", EDGES, "is given twice", None, "--nodes", "edges.csv", hint="once"),
    one("bad UTF-8", "edges.csv", EDGES + b"a,\xe9,PAID,5\n", "not UTF-8: byte 0xe9", 3, hint="to UTF-8"),
    one("NUL", "edges.csv", EDGES + b"a,\0,PAID,5\n", "contains a NUL character", 3),
    one("truncated gzip", "edges.csv.gz", gzip.compress(EDGES * 50)[:-9], "gzip data end too early"),
    one("text named Parquet", "edges.parquet", EDGES, "cannot be read as Parquet"),
    one("KGTK: too few fields", "x.tsv", b"node1\tlabel\tnode2\na\tr\tb\na\tr\n", "2 fields, but the header has 3", 3, hint="tabs"),
    one("KGTK: bad UTF-8", "x.tsv", b"node1\tlabel\tnode2\na\tr\t\xe9\n", "not UTF-8: byte 0xe9", 2, hint="to UTF-8"),
    one("KGTK: no value", "x.tsv", b"node1\tlabel\tnode2\na\tr\t^then\n", "'^then' is no value of KGTK", 2),
    Case("a missing table", {}, "import edges.csv --out out", "cannot be opened: No such file", "edges.csv", hint="Check the path"),
    Case("a node twice", {"edges.csv": EDGES, "nodes.csv": NODES + b"a,Anna\n"}, "import edges.csv --nodes nodes.csv --out out",
         "the id 'a' occurs twice, first on line 2", "nodes.csv", 4),
    Case("a node without id", {"edges.csv": EDGES, "nodes.csv": NODES + b",Cy\n"}, "import edges.csv --nodes nodes.csv --out out",
         "no value in column 'id'", "nodes.csv", 4),
    Case("nodes without ids", {"edges.csv": EDGES, "nodes.csv": b"name,age\na,5\n"}, "import edges.csv --nodes nodes.csv --out out",
         "cannot tell which column is the id", "nodes.csv", hint="--node-id"),
    Case("a missing mapping", {"edges.csv": EDGES}, "import edges.csv --mapping m.toml --out out", "cannot be opened: No such file", "m.toml", hint="path"),
    Case("RDF beside a table", {"g.ttl": TTL, "edges.csv": EDGES}, "import g.ttl edges.csv --out out", "is RDF, but edges.csv is not", "g.ttl", hint="by itself"),
    Case("a folder without tables", {"d/readme.md": b"x"}, "import d --out out", "holds no tables", "d", hint=".csv"),
    # GraphML and APOC
    one("GraphML: not closed", "g.graphml", GRAPHML, "not XML: no element found", 4),
    one("GraphML: an edge without target", "g.graphml", GRAPHML + b'<edge source="a"/></graph></graphml>', "<edge> without target", 4),
    one("GraphML: a document type", "g.graphml", b'<!DOCTYPE x [<!ENTITY a "b">]>\n<graphml/>', "has a document type", 1),
    one("APOC: not JSON", "all.json", APOC + b"{\n", "not JSON", 2),
    one("APOC: neither node nor edge", "all.json", APOC + b'{"type": "relationship", "id": "7"}\n', "neither a node nor a relationship", 2),
    # RDF
    broken_rdf("no object", b":a :b .\n", ". is not a valid RDF object", hint="Correct the line."),
    broken_rdf("an unknown prefix", b"ex:a :b :c .\n", "The prefix ex: has not been declared", hint="@prefix ex:"),
    broken_rdf("a relative IRI", b":a :b <c> .\n", "No scheme found", hint="@base"),
    broken_rdf("a text that is not closed", b':a :b "c .\n:d :e :f .\n', "Unexpected end of file", hint="does not end"),
    broken_rdf("an annotation that is not closed", b":a :b :c {| :q :v .\n", "|}"),
    broken_rdf("a literal as subject", b"5 :b :c .\n", "5"),
    broken_rdf("bad UTF-8", b':a :b "\xff" .\n', "Invalid UTF-8"),
    broken_rdf("a bad escape", b':a :b "\\x" .\n', "\\x"),
    one("RDF: N-Triples with a prefix name", "g.nt", b"<http://x.y/a> <http://x.y/b> x:c .\n", "The prefix x: has not been declared", 1),
    one("RDF: RDF-star in N-Quads", "g.nq", b"<< <a:b> <a:c> <a:d> >> <a:e> <a:f> .\n", "The subject of a triple must be", 1, hint="RDF-star"),
    one("RDF: empty", "g.ttl", b"# nothing\n", "contains no statements"),
    one("RDF: labels only", "g.ttl", b'<a:b> <http://www.w3.org/2000/01/rdf-schema#label> "x" .', "contains labels and types only"),
    one("RDF: truncated gzip", "g.ttl.gz", gzip.compress(TTL * 50)[:-9], "gzip data end too early"),
    one("RDF: a truthy dump", "truthy.nt", b"<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/direct/P1> <a:b> .\n",
        "truthy dump of Wikidata, which has no qualifiers", hint="latest-all.json.gz"),
    # dumps of Wikidata
    broken_dump("not JSON", b'{"id": "Q2",', "not JSON"),
    broken_dump("a number", 5, "expected the JSON object of an entity", hint="one entity per line"),
    broken_dump("no id", {"labels": {}, "claims": {}}, "an entity without id: it has labels, claims"),
    broken_dump("several entities on a line", Q1.strip() + b"," + Q1.strip(), "several entities on one line", hint="jq"),
    broken_dump("simplified claims", {"id": "Q2", "claims": {"P1": ["Q3"]}}, "a statement without mainsnak: simplified claims have no qualifiers"),
    broken_dump("no datavalue", entity("Q2", P1=[statement({"snaktype": "value"})]), "the key 'datavalue' is missing"),
    broken_dump("claims as a text", {"id": "Q2", "claims": "none"}, "its claims are no object"),
    broken_dump("an unknown kind of snak", entity("Q2", P1=[statement({"snaktype": "maybe"})]), "the snaktype 'maybe' is unknown"),
    broken_dump("an amount that is none", entity("Q2", P1=[statement(quantity("lots"))]), "'lots' is not a number"),
    broken_dump("a time that is none", entity("Q2", P1=[statement(time("1999", 11))]), "'1999' is not a time"),
    broken_dump("a label without value", {**entity("Q2"), "labels": {"en": {}}}, "the key 'value' is missing"),
    one("dump: RDF", "dump.json", b"<http://www.wikidata.org/entity/Q1> <http://p.q/r> <a:b> .\n", "is RDF, not JSON", 1, "--from", "wikidata", hint="truthy"),
    one("dump: a picture", "dump.json", PNG, "not JSON", 1, "--from", "wikidata"),
    one("dump: empty", "dump.json", b"[\n]\n", "no facts to import", None, "--from", "wikidata"),
    one("dump: no facts", "dump.json", Q1, "no facts to import", None, "--property", "P2", hint="filters"),
    one("dump: truncated gzip", "dump.json.gz", gzip.compress(as_lines(PEOPLE))[:-9], "gzip data end too early", None, "--from", "wikidata"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_broken_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], case: Case
) -> None:
    lay_out(case, tmp_path)
    before = everything(tmp_path)
    assert run(monkeypatch, tmp_path, [*case.command.split(), "--json"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    check_json(err, case)
    assert everything(tmp_path) == before
