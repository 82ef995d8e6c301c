"""Numbers and dates on the way from a table of edges to a table of answers."""

import json
from pathlib import Path

import polars as pl
import pytest
from apps.command import Nary
from runs.small import small_run

from nary import read

_EDGES = "id,from,to,kind,paid,since\n" + "".join(
    f"E{i},P{i % 7},F{i % 3},WORKS_AT,{1000 + 10 * i},{2000 + i % 20}-01-01\n" for i in range(60)
)
_NEW = "id,from,to,kind,paid,since\nE99,P99,F1,WORKS_AT,1234,2031-05-06\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables of edges."""
    path = tmp_path_factory.mktemp("graph")
    (path / "edges.csv").write_text(_EDGES)
    (path / "new.csv").write_text(_NEW)
    return path


@pytest.fixture
def run(nary: Nary, folder: Path) -> Path:
    """A model that embeds numbers and dates by their value, and the facts it was trained on."""
    if not (folder / "run").exists():
        columns = ("--start", "from", "--end", "to", "--type", "kind")
        assert nary("import", folder / "edges.csv", *columns, "--out", folder / "graph").code == 0
        assert nary("split", folder / "graph", "--out", folder / "parts").code == 0
        small_run(folder / "run", dataset=read(folder / "parts"), model__value_knots=4, training__epochs=1)
    return folder / "run"


def test_answers_have_the_median_and_the_interval(nary: Nary, run: Path, folder: Path, tmp_path: Path) -> None:
    queries = [
        {"subject": "P1", "relation": "WORKS_AT", "object": "F1", "qualifiers": [["paid", "?"]]},
        {"subject": "P1", "relation": "WORKS_AT", "object": "?", "qualifiers": [["paid", 1005]]},  # never seen
    ]
    (tmp_path / "q.jsonl").write_text("".join(f"{json.dumps(query)}\n" for query in queries))
    asked = ("predict", run, "--facts", tmp_path / "q.jsonl", "-k", 2, "--known", "hide")
    assert nary(*asked, "--out", tmp_path / "a.csv", "--like", folder / "parts").code == 0
    table = pl.read_csv(tmp_path / "a.csv", infer_schema=False)
    assert table.columns[:4] == ["from", "kind", "to", "paid"]  # the split has the mapping, too
    assert nary(*asked, "--out", tmp_path / "a.jsonl").code == 0
    first, second = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    expected = tuple(first["value"][part].removesuffix("^^number") for part in ("median", "low", "high"))
    assert table.select("value_median", "value_low", "value_high").rows() == [expected] * 2 + [(None,) * 3] * 2
    assert table["paid"].to_list() == ["?", "?", "1005", "1005"]
    assert second["notes"][0] == "'1005^^number' is known by its value only: no fact has it"


def test_a_pipe_is_read_once(nary: Nary, run: Path, tmp_path: Path) -> None:
    refused = nary("predict", run, "--facts", "-", "--out", tmp_path / "a.jsonl", "--unseen")
    assert (refused.code, "a pipe cannot be" in refused.err) == (2, True)


def test_columns_are_only_known_of_imported_tables(nary: Nary, run: Path, tmp_path: Path) -> None:
    refused = nary("predict", run, "--facts", "q", "--out", tmp_path / "a.csv", "--like", tmp_path)
    assert (refused.code, "has no mapping.toml" in refused.err) == (2, True)


def test_new_edges_are_imported_with_the_mapping_of_the_old(
    nary: Nary, run: Path, folder: Path, tmp_path: Path
) -> None:
    mapping = ("--mapping", folder / "graph" / "mapping.toml")
    assert nary("import", folder / "new.csv", *mapping, "--out", tmp_path / "new").code == 0
    shown = nary("update", run, tmp_path / "new", "--out", tmp_path / "grown").out
    assert "1 new entity: 'P99'\n" in shown
    assert "2 new numbers, dates and texts: '1234', '2031-05-06'\n" in shown


def test_an_update_in_words_has_values_too(nary: Nary, run: Path, tmp_path: Path) -> None:
    shown = nary("update", run, "P1 | WORKS_AT | F9 | paid: 66001", "--out", tmp_path / "grown").out
    assert "1 new entity: 'F9'\n" in shown
    assert "1 new number, date or text: '66001'\n" in shown
