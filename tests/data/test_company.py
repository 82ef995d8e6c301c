"""The generated property graph: always the same, with structure, shared names, and errors whose truth is known."""

import hashlib
from pathlib import Path

import polars as pl
import pytest

from nary.data.company import PropertyGraph, generate_property_graph
from nary.errors import OutputError, SettingError


@pytest.fixture(scope="module")
def graph() -> PropertyGraph:
    return generate_property_graph(2000, error_fraction=0.03)


def test_it_is_always_the_same(graph: PropertyGraph, tmp_path: Path) -> None:
    """Whoever repeats a measurement with another version must get the same files."""
    graph.write(tmp_path / "a")
    digest = hashlib.sha256(b"".join((tmp_path / "a" / f"{n}.csv").read_bytes() for n in ("nodes", "edges", "errors")))
    assert digest.hexdigest()[:16] == "9876aefd89452299"
    other = generate_property_graph(2000, error_fraction=0.03, seed=1)
    assert not other.edges.equals(graph.edges)


def test_ends_are_nodes_of_the_right_kind(graph: PropertyGraph) -> None:
    assert graph.nodes["id"].is_unique().all()
    label = dict(graph.nodes.select("id", "label").iter_rows())
    kinds = {
        (type, label[start], label[end]) for start, end, type in graph.edges.select("start", "end", "type").iter_rows()
    }
    assert kinds == {
        ("WORKS_AT", "Person", "Firm"),
        ("LIVES_IN", "Person", "City"),
        ("REPORTS_TO", "Person", "Person"),
        ("KNOWS", "Person", "Person"),
        ("BOUGHT", "Person", "Product"),
        ("SUPPLIES", "Firm", "Firm"),
        ("LOCATED_IN", "Firm", "City"),
    }
    assert graph.nodes.filter(pl.col("label") == "Person")["name"].is_duplicated().any()
    assert graph.edges.drop("id").is_unique().all()


def test_the_truth_is_beside_the_errors(graph: PropertyGraph) -> None:
    assert graph.errors.height == 60
    assert set(graph.errors["column"]) == {"end", "role", "product", "amount"}
    by_id = {row["id"]: row for row in graph.edges.iter_rows(named=True)}
    for id, column, planted, truth in graph.errors.iter_rows():
        assert str(by_id[id][column]) == planted != truth
    clean = generate_property_graph(2000, error_fraction=0)
    changed = {
        row["id"] for row, true in zip(by_id.values(), clean.edges.iter_rows(named=True), strict=True) if row != true
    }
    assert changed == set(graph.errors["id"])


def test_there_is_structure() -> None:
    """Without noise and errors everybody reports to one head a team, and lives where the firm is."""
    graph = generate_property_graph(1000, error_fraction=0, noise=0)
    work = graph.edges.filter(pl.col("type") == "WORKS_AT").select("start", firm="end", department="department")
    reports = graph.edges.filter(pl.col("type") == "REPORTS_TO").select("start", head="end").join(work, "start")
    assert (reports.group_by("firm", "department").agg(pl.col("head").n_unique())["head"] == 1).all()
    city = graph.edges.filter(pl.col("type") == "LOCATED_IN").select(firm="start", city="end")
    homes = (
        graph.edges.filter(pl.col("type") == "LIVES_IN")
        .select("start", home="end")
        .join(work, "start")
        .join(city, "firm")
    )
    assert (homes["home"] == homes["city"]).all()


def test_headers_of_neo4j(graph: PropertyGraph, tmp_path: Path) -> None:
    graph.write(tmp_path / "neo4j", neo4j=True)
    edges, nodes = (pl.read_csv(tmp_path / "neo4j" / f"{name}.csv") for name in ("edges", "nodes"))
    assert {":START_ID", ":END_ID", ":TYPE", "date:date", "amount:int"} <= set(edges.columns)
    assert {"id:ID", ":LABEL"} <= set(nodes.columns)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"edges": 10}, "number of edges is 10"),
        ({"error_fraction": 0.6}, "fraction of errors is 0.6"),
        ({"noise": -1}, "noise is -1"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_settings_that_make_no_graph(settings: dict[str, float], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        generate_property_graph(**settings)  # type: ignore[arg-type]


def test_a_folder_with_something_in_it_is_kept(graph: PropertyGraph, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(OutputError, match="not an empty folder"):
        graph.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_folder_is_not_named_like_a_file(graph: PropertyGraph, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="has the name of a file") as caught:
        graph.write(tmp_path / "facts.jsonl")
    assert caught.value.hint == "Such as facts."
    assert not list(tmp_path.iterdir())
