"""nary import: the mapping is shown, the facts are written, and nothing is left after an error."""

from pathlib import Path

import pytest
from apps.command import Nary

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
    assert "1 ends of edges are no nodes" in outcome.err
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
        ([], "where shall the facts go?"),
        (["--out", "out.jsonl"], "looks like a file"),
        (["--out", "out", "--start", "amont"], "no column is called 'amont'"),
        (["--out", "out", "--number", "type"], "'PAID' in column 'type' is not a number"),
        (["--out", "out", "--mapping", "m.toml", "--start", "a"], "--mapping says what every column is"),
        (["--out", "out", "--to", "xml"], "unknown format 'xml'"),
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
