"""Data frames in and out: the same facts, with numbers and dates as literals."""

import datetime
import sys

import polars as pl
import pytest

from nary.data.dataset import Dataset
from nary.errors import DataError, NaryError, SettingError
from nary.facts import Fact

EDGES = {
    "person": ["p1", "p2"],
    "firm": ["f1", "f1"],
    "rel": ["WORKS_AT", "OWNS"],
    "since": [datetime.date(2020, 1, 2), None],
    "share": [None, 0.5],
    "code": ["007", "8"],
}
FACTS = {
    Fact("p1", "WORKS_AT", "f1", [("since", "2020-01-02^^date"), ("code", "007")]),
    Fact("p2", "OWNS", "f1", [("share", "0.5^^number"), ("code", "8")]),
}


def facts_of(dataset: Dataset) -> set[Fact]:
    return set(dataset.facts.facts(dataset.vocabulary))


def test_edges_and_nodes() -> None:
    nodes = pl.DataFrame({"id": ["p1", "f1"], "name": ["Ann", "Acme"], "type": ["Person", "Firm"]})
    frame = pl.DataFrame(EDGES)
    dataset = Dataset.from_dataframe(frame, nodes, start="person", end="firm", name="staff")
    assert facts_of(dataset) == FACTS
    assert (dataset.name, dataset.vocabulary.label("f1"), dataset.vocabulary.types["p1"]) == (
        "staff",
        "Acme",
        ("Person",),
    )
    lazy = Dataset.from_dataframe(frame.lazy(), start="person", end="firm", ignored=["since", "share", "code"])
    assert facts_of(lazy) == {Fact("p1", "WORKS_AT", "f1"), Fact("p2", "OWNS", "f1")}


def test_there_and_back() -> None:
    facts = [Fact("b", "r", "a", [("q", "5^^number"), ("q", "x")]), Fact("a", "r", "b")]
    dataset = Dataset.from_facts("toy", {"train": facts, "test": facts[1:]})
    frame = dataset.to_polars()
    assert frame.columns == ["subject", "relation", "object", "qualifiers", "split"]
    assert frame["split"].to_list() == ["train", "train", "test"]
    assert Dataset.from_dataframe(frame).fingerprint == dataset.fingerprint
    assert Dataset.from_facts("none", {"train": []}).to_polars().height == 0
    with pytest.raises(DataError, match="a label is missing"):
        Dataset.from_dataframe(frame.with_columns(subject=pl.lit(None, pl.String)))


def test_pandas_in_and_out() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({**EDGES, "since": pandas.to_datetime(["2020-01-02", None])})
    assert facts_of(Dataset.from_dataframe(frame, start="person", end="firm")) == FACTS
    dataset = Dataset.from_facts("toy", {"train": sorted(FACTS, key=str)})
    assert dataset.to_pandas()["subject"].tolist() == ["p1", "p2"]
    assert dataset.to_pandas()["qualifiers"][0] == [
        {"attribute": "code", "value": "007"}, {"attribute": "since", "value": "2020-01-02^^date"}
    ]  # fmt: skip


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SettingError, match="pandas is not installed"):
        Dataset.from_facts("toy", {"train": [Fact("a", "r", "b")]}).to_pandas()


def test_columns_of_pandas_that_cannot_be_read() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(SettingError, match="two columns are called 'end'"):
        Dataset.from_dataframe(pandas.DataFrame([["a", "b", "c"]], columns=["start", "end", "end"]))
    mixed = pandas.DataFrame({"start": ["a", "b"], "end": ["b", "c"], "tags": [{"x": 1}, ["y"]]})
    with pytest.raises(SettingError, match="the column 'tags' holds Python objects"):
        Dataset.from_dataframe(mixed)


@pytest.mark.parametrize(
    ("frame", "choices", "message"),
    [
        ({"a": [1]}, {}, "dict is no data frame"),
        (pl.DataFrame({"a": [1], "b": [2]}), {}, "cannot tell which columns are the ends"),
        (pl.DataFrame({"start": [], "end": []}), {}, "has no rows"),
        (pl.DataFrame({"start": ["a"], "end": [None]}), {}, "no value in column 'end'"),
        (pl.DataFrame({"start": ["a"], "end": ["b"]}), {"begin": "start"}, "'begin'"),
    ],
)
def test_what_is_wrong(frame: object, choices: dict[str, str], message: str) -> None:
    with pytest.raises(NaryError, match=message):
        Dataset.from_dataframe(frame, **choices)
