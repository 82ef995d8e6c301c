"""nary import: the mapping is shown, the facts are written, and nothing is left after an error."""

import re
from pathlib import Path

import pytest
from apps.command import Nary
from data.importers.wikidata.small import PEOPLE, write

EDGES = "start,end,type,amount\na,b,PAID,5\nb,a,PAID,7\n"


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "nodes.csv").write_text("id,name\na,Ann\n")
    return tmp_path / "edges.csv"


def test_import(nary: Nary, edges: Path, tmp_path: Path) -> None:
    outcome = nary("import", edges, "--nodes", tmp_path / "nodes.csv", "--out", tmp_path / "out")
    assert outcome.code == 0, outcome.err
    assert "edges.csv  amount  qualifier: number" in outcome.out
    assert "1 end of an edge is no node" in outcome.err
    stats = nary("stats", tmp_path / "out", "--json").json
    assert (stats["facts"], stats["entities"]) == ({"train": 2}, 4)


def test_dry_run_and_json(nary: Nary, edges: Path, tmp_path: Path) -> None:
    shown = nary("import", edges, "--dry-run", "--entity", "amount", "--json").json
    assert ["edges.csv", "amount", "qualifier: entity"] in shown["mapping"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.csv", "nodes.csv"]
    written = nary("import", edges, "--out", tmp_path / "out", "--to", "parquet", "--json").json
    assert (written["facts"], written["entities"], written["literals"]) == (2, 2, 2)
    assert (tmp_path / "out" / "train.parquet").is_file()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--out is missing"),
        (["--out", "out.jsonl"], "looks like a file"),
        (["--out", "out", "--start", "amont"], "no column is called 'amont'"),
        (["--out", "out", "--start", "end", "--end", "end"], "the column 'end' is chosen twice"),
        (["--out", "out", "--start", "start", "--ignore", "start"], "the column 'start' is chosen and ignored"),
        (
            ["--out", "out", "--type", "type", "--relation", "r"],
            "the relation of edges is given twice: by the column 'type', and as 'r'",
        ),
        (["--out", "out", "--date", "amount", "--entity", "amount"], "--date amount and --entity amount"),
        (["--out", "out", "--number", "type"], "'PAID' in column 'type' is not a number"),
        (["--out", "out", "--mapping", "m.toml", "--start", "a"], "--mapping says what every column is"),
        (["--out", "out", "--to", "xml"], "unknown format 'xml'"),
        (["--out", "out", "--from", "wikidate"], "unknown kind of source 'wikidate'"),
        (
            ["--out", "out", "--property", "P31"],
            "--property is not for this source, which is imported as property-graph",
        ),
        (["--out", "out", "--rdf-star"], "--rdf-star is not for this source"),
        (["--out", "."], "is not an empty folder"),
    ],
)
def test_errors_leave_nothing(
    nary: Nary, edges: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    options = [*options, "--relation", "r"] if "--number" in options else options
    outcome = nary("import", edges, *options, "--json")
    assert outcome.code == 2
    assert message in outcome.error["message"]
    assert outcome.error["hint"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.csv", "nodes.csv"]


def test_output_is_checked_before_reading(nary: Nary, edges: Path, tmp_path: Path) -> None:
    edges.write_text("broken")
    outcome = nary("import", edges, "--out", tmp_path / "out", "--to", "csv", "--json")
    assert outcome.error["message"] == "unknown format 'csv'"
    assert "parquet" in outcome.error["hint"]
    assert "wikipeople" not in outcome.error["hint"]


def test_a_hint_names_the_kind_of_an_option(nary: Nary, edges: Path) -> None:
    assert nary("import", edges, "--rdf-star", "--json").error["hint"].endswith("--from rdf")


def test_several_dumps_are_refused(nary: Nary, tmp_path: Path) -> None:
    dumps = [write(tmp_path / name, PEOPLE) for name in ("one.json", "two.json")]
    assert nary("import", *dumps, "--out", tmp_path / "out", "--json").error["message"] == "2 dumps"


def test_wikidata(nary: Nary, tmp_path: Path) -> None:
    dump = write(tmp_path / "dump.json", PEOPLE)
    (tmp_path / "ids.txt").write_text("Q10\nQ11\n")
    options = ("--ids", tmp_path / "ids.txt", "--property", "P108", "--best-rank", "--to", "parquet")
    outcome = nary("import", dump, *options, "--out", tmp_path / "out")
    assert outcome.code == 0, outcome.err
    assert re.search(r"^facts +2$", outcome.out, re.MULTILINE)
    assert re.search(r"^statements of other properties +2$", outcome.out, re.MULTILINE)
    written = nary("import", dump, "--class", "Q5", "--language", "de", "--out", tmp_path / "other", "--json").json
    assert (written["counts"]["facts"], written["counts"]["labels"], written["left_out"]["references"]) == (5, 0, 2)
    stats = nary("stats", tmp_path / "out", "--json").json
    assert stats["facts"] == {"train": 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--property", "31"], "'31' is not the id of a property"),
        (["--class", "P5"], "'P5' is not the id of a class"),
        (["--datatype", "external"], "no datatype to add is called 'external'"),
        (["--to", "csv"], "a dump cannot be imported as csv"),
        (["--ids", "dump.json"], "is not the id of an entity"),
        (["--number", "P31"], "--number is not for this source"),
    ],
)
def test_errors_of_wikidata_leave_nothing(
    nary: Nary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("dump.json"), PEOPLE)
    outcome = nary("import", "dump.json", "--out", "out", *options, "--json")
    assert outcome.code == 2
    assert message in outcome.error["message"]
    assert [path.name for path in tmp_path.iterdir()] == ["dump.json"]


def test_rdf_in_and_out(nary: Nary, tmp_path: Path) -> None:
    (tmp_path / "graph.nt").write_text("<< <http://a.b/s> <http://a.b/p> <http://a.b/o> >> <http://a.b/q> 5 .")
    written = nary(
        "import", tmp_path / "graph.nt", "--prefix", "x=http://a.b/", "--out", tmp_path / "out", "--json"
    ).json
    assert (written["facts"], written["entities"], written["literals"]) == (1, 2, 1)
    assert "not asserted" in written["notes"][0]
    assert nary("convert", tmp_path / "out", tmp_path / "out.ttl").code == 0
    assert (tmp_path / "out.ttl").read_text().endswith("\n\nx:s x:p x:o {| x:q 5 |} .\n")
    assert "Import it first" in nary("check", tmp_path / "out.ttl", "--json").error["hint"]
    refused = nary("import", tmp_path / "out.ttl", "--prefix", "x", "--out", tmp_path / "new", "--json").error
    assert (refused["message"], refused["hint"]) == (
        "cannot read --prefix x",
        "Write it like ex=http://example.org/",
    )
