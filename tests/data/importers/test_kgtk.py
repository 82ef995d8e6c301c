"""KGTK as facts: qualifiers of edges, values, labels and what is left out, worked by hand."""

import gzip
from pathlib import Path

import pytest

from nary.data.importers.kgtk import read_kgtk
from nary.data.importers.kinds import guess_kind
from nary.errors import DataError
from nary.facts import Fact

EDGES = """id\tnode1\tlabel\tnode2\tnode1;label\trank
# a comment
e1\tQ1\tP166\tQ2\t'Marie Curie'@en\tnormal
e2\tQ1\tP31\tQ5\t\t
e3\tQ2\tlabel\t'Nobelpreis'@de\t\t
e4\tQ2\tlabel\t'Nobel Prize'@en-GB\t\t

e5\tQ1\theight\t1.60Q11573\t\t
"""
QUALIFIERS = """id\tnode1\tlabel\tnode2
q1\te1\tP585\t^1903-12-10T00:00:00Z/11
q2\te1\tP1352\t+2[1,3]
q3\tq1\tsource\tQ9
"""


def facts_of(path: Path, *more: Path) -> list[Fact]:
    dataset = read_kgtk([path, *more])
    return list(dataset.train.facts(dataset.vocabulary))


def test_edges_about_edges_are_qualifiers(tmp_path: Path) -> None:
    (tmp_path / "edges.tsv.gz").write_bytes(gzip.compress(EDGES.encode()))
    (tmp_path / "qualifiers.tsv").write_text(QUALIFIERS)
    paths = [tmp_path / "edges.tsv.gz", tmp_path / "qualifiers.tsv"]
    assert guess_kind(paths) == "kgtk"
    dataset = read_kgtk(paths)
    assert set(dataset.train.facts(dataset.vocabulary)) == {
        Fact("Q1", "P166", "Q2", [("P585", "1903-12-10^^date"), ("P1352", "2^^number")]),
        Fact("Q1", "P31", "Q5"),
        Fact("Q1", "height", "1.6^^quantity:Q11573"),
    }
    assert dataset.vocabulary.labels == {"Q1": "Marie Curie", "Q2": "Nobel Prize"}
    assert dataset.vocabulary.types == {"Q1": ("Q5",)}
    assert dataset.notes == (
        *("left out: 1 labels in other languages", "left out: 1 qualifiers of qualifiers"),
        "left out: 1 values in other columns",
    )
    assert read_kgtk(paths, ["de"]).vocabulary.labels == {"Q2": "Nobelpreis"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('"a \\"b\\" \\| c"', 'a "b" | c^^text'),
        ("'Haus'@de", "Haus^^text:de"),
        ("^1879", "1879^^date"),
        ("^1879-03-14T00:00:00Z/9", "1879^^date"),
        ("^-0044-03-15", "-0044-03-15^^date"),
        ("^2001-02-03T04:05:06Z", "2001-02-03T04:05:06Z^^datetime"),
        ("@48.850/2.35", "48.85,2.35^^point"),
        ("-12.50", "-12.5^^number"),
        ("10kg", "10^^quantity:kg"),
        ("Q42", "Q42"),
        ("True", "True"),
    ],
)
def test_values(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "x.tsv").write_text(f"node1\tlabel\tnode2\na\tr\t{text}\n")
    assert facts_of(tmp_path / "x.tsv") == [Fact("a", "r", name)]


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        ("node1\tlabel\na\tr\n", "its header has no column 'node2'", 1),
        ("node1\tlabel\tnode2\na\tr\tb\na\tr\n", "2 fields, but the header has 3", 3),
        ("node1\tlabel\tnode2\na\t\tb\n", "no value in column 'label'", 2),
        ("id\tnode1\tlabel\tnode2\ne\ta\tr\tb\ne\ta\tr\tc\n", "the id 'e' occurs twice, first on line 2", 3),
        ("node1\tlabel\tnode2\na\tr\t^when\n", "'^when' is no value of KGTK", 2),
        ("node1\tlabel\tnode2\na\tr\t@1.2.3/4\n", "'@1.2.3/4' is no value of KGTK", 2),
        ("node1\tlabel\tnode2\n", "contains no edges", None),
    ],
)
def test_broken_files(tmp_path: Path, content: str, message: str, line: int | None) -> None:
    (tmp_path / "x.tsv").write_text(content)
    with pytest.raises(DataError) as caught:
        read_kgtk([tmp_path / "x.tsv"])
    assert message in str(caught.value)
    assert caught.value.line == line
