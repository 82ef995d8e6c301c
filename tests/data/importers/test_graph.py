"""Property graphs as facts: what each column becomes, by guess, by choice and by a stored mapping."""

import datetime
import json
from pathlib import Path

import polars as pl
import pytest

from nary.data.company import generate_property_graph
from nary.data.dataset import Dataset
from nary.data.importers.graph import GraphImport, write_imported
from nary.data.importers.guess import Choices
from nary.data.io.reader import read
from nary.errors import DataError, NaryError, OutputError, SettingError
from nary.facts import Fact

EDGES = """id,start,end,type,since,role,amount
1,p1,f1,WORKS_AT,2020-01-02,clerk,30000
2,p2,f1,WORKS_AT,2021-05-06,,42000.50
3,f1,c1,LOCATED_IN,,,
"""
NODES = """id,name,label,founded
p1,Ann,Person,
p2,Ann,Person:Author,
f1,Acme,Firm,1900
c1,"Ash
ford",City,
c9,Nowhere,City,
"""
FACTS = {
    Fact("p1", "WORKS_AT", "f1", [("since", "2020-01-02^^date"), ("role", "clerk"), ("amount", "30000^^number")]),
    Fact("p2", "WORKS_AT", "f1", [("since", "2021-05-06^^date"), ("amount", "42000.5^^number")]),
    Fact("f1", "LOCATED_IN", "c1"),
}


def write_files(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", "-").replace("_", ".")).write_text(content, encoding="utf-8")
    return folder


def facts_of(dataset: Dataset) -> set[Fact]:
    return set(dataset.facts.facts(dataset.vocabulary))


def open_graph(folder: Path, **choices: object) -> GraphImport:
    return GraphImport.open([folder / "edges.csv"], [folder / "nodes.csv"], Choices(**choices))  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "graph", edges_csv=EDGES, nodes_csv=NODES)


def test_by_guess(folder: Path) -> None:
    graph = open_graph(folder)
    dataset = graph.dataset()
    assert facts_of(dataset) == FACTS
    assert dataset.vocabulary.labels == {"p1": "Ann", "p2": "Ann", "f1": "Acme", "c1": "Ash ford"}
    assert dataset.vocabulary.types == {
        "p1": ("Person",), "p2": ("Person", "Author"), "f1": ("Firm",), "c1": ("City",)
    }  # fmt: skip
    assert dataset.notes == ("1 node has no edge and is left out",)
    becomes = {(file, column): role for file, column, role in graph.rows()}
    assert becomes["edges.csv", "since"] == "qualifier: date"
    assert becomes["edges.csv", "id"].startswith("id of the edge")
    assert becomes["nodes.csv", "founded"] == "not used"


def test_by_choice(folder: Path) -> None:
    choices = {"value_types": {"amount": "entity"}, "ignored": ["since"], "node_facts": True, "relation": "edge"}
    dataset = open_graph(folder, **choices).dataset()
    assert facts_of(dataset) == {
        Fact("p1", "edge", "f1", [("role", "clerk"), ("amount", "30000"), ("type", "WORKS_AT")]),
        Fact("p2", "edge", "f1", [("amount", "42000.50"), ("type", "WORKS_AT")]),
        Fact("f1", "edge", "c1", [("type", "LOCATED_IN")]),
        Fact("f1", "founded", "1900^^number"),
    }
    reversed_graph = open_graph(folder, start="end", end="start", type="role")
    with pytest.raises(DataError, match="no value in column 'role'") as caught:
        reversed_graph.dataset()
    assert caught.value.line == 3


def test_the_mapping_is_stored_and_can_be_used_again(folder: Path, tmp_path: Path) -> None:
    graph = open_graph(folder, value_types={"amount": "entity"}, node_facts=True)
    write_imported(graph.dataset(), tmp_path / "out", graph.mapping)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "labels.tsv", "mapping.toml", "train.jsonl", "types.tsv"
    ]  # fmt: skip
    again = GraphImport.open([folder / "edges.csv"], [folder / "nodes.csv"], mapping=tmp_path / "out" / "mapping.toml")
    assert again.mapping == graph.mapping
    stored = read(tmp_path / "out")
    assert facts_of(stored) == facts_of(again.dataset())
    assert stored.vocabulary.types["p2"] == ("Person", "Author")
    with pytest.raises(OutputError, match="not an empty folder"):
        write_imported(graph.dataset(), tmp_path / "out", graph.mapping)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("edges = 1", "is not a mapping: edges"),
        ("[[edges]]\nfile = 'edges.csv'", "is not a mapping: edges.0.start"),
        ("x", "is not a mapping"),
        (
            "[[edges]]\nfile = 'a.csv'\nstart = 's'\nend = 'e'\n[[edges]]\nfile = 'b.csv'\nstart = 's'\nend = 'e'",
            "no table is called 'a.csv'",
        ),
        ("[[edges]]\nfile = 'edges.csv'\nstart = 'start'\nend = 'end'", "has neither a type nor a relation"),
        ("[[edges]]\nfile = 'edges.csv'\nstart = 'strat'\nend = 'end'", "edges.csv has no column 'strat'"),
    ],
)
def test_mappings_that_do_not_fit(folder: Path, tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "m.toml").write_text(content)
    with pytest.raises(DataError, match=message) as caught:
        GraphImport.open([folder / "edges.csv"], [folder / "nodes.csv"], mapping=tmp_path / "m.toml")
    assert caught.value.file == str(tmp_path / "m.toml")


def test_parquet_keeps_types_and_lists(tmp_path: Path) -> None:
    pl.DataFrame(
        {
            "source": [1, 2],
            "target": [2, 3],
            "relation": ["r", "s"],
            "when": [datetime.date(2025, 1, 2), None],
            "code": ["007", "8"],
            "tags": [["a", "b"], None],
            "numbers": [[1.5], [2.0, 3.0]],
            "nested": [{"x": 1}, {"x": 2}],
        }
    ).write_parquet(tmp_path / "edges.parquet")
    dataset = GraphImport.open([tmp_path / "edges.parquet"]).dataset()
    assert facts_of(dataset) == {
        Fact("1", "r", "2", [("when", "2025-01-02^^date"), ("code", "007"), ("tags", "a"), ("tags", "b"),
                             ("numbers", "1.5^^number")]),
        Fact("2", "s", "3", [("code", "8"), ("numbers", "2^^number"), ("numbers", "3^^number")]),
    }  # fmt: skip


def test_several_files_and_relations_by_file_name(tmp_path: Path) -> None:
    folder = write_files(
        tmp_path / "g", knows_csv="from,to\na,b\n", likes_csv="from,to,n\nb,c,5\n", people_csv="id,name\na,Ann\n",
        cities_tsv="cityId\tname\nc\tClerford\n", notes_md="nothing",
    )  # fmt: skip
    dataset = GraphImport.open([folder]).dataset()
    assert facts_of(dataset) == {Fact("a", "knows", "b"), Fact("b", "likes", "c", [("n", "5^^number")])}
    assert dataset.vocabulary.types == {"a": ("people",), "c": ("cities",)}
    assert dataset.notes == ("knows.csv: 1 end of an edge is no node of the tables of nodes, such as 'b'",
                             "likes.csv: 1 end of an edge is no node of the tables of nodes, such as 'b'")  # fmt: skip


def test_other_tables_in_a_folder_are_left_out_with_a_note(tmp_path: Path) -> None:
    files = {"edges_csv": EDGES, "nodes_csv": NODES, "errors_csv": "line,error\n7,empty\n"}
    folder = write_files(tmp_path / "g", **files, jobs_csv="id,state\n17,done\n18,done\n")
    graph = GraphImport.open([folder])
    left_out = tuple(
        f"{name} is left out: no column holds ids at which edges end" for name in ("errors.csv", "jobs.csv")
    )
    assert graph.notes == left_out
    assert facts_of(graph.dataset()) == FACTS
    assert graph.dataset().notes[:2] == left_out
    assert {file for file, *_ in graph.rows()} == {"edges.csv", "nodes.csv"}
    with_facts = GraphImport.open([folder], choices=Choices(node_facts=True))  # which jobs have even without edges
    assert Fact("17", "state", "done") in facts_of(with_facts.dataset())
    with pytest.raises(DataError, match="which column is the id of a node"):
        GraphImport.open([folder / "edges.csv"], [folder / "errors.csv"])


def test_headers_of_neo4j(tmp_path: Path) -> None:
    folder = write_files(
        tmp_path / "g",
        person__header_csv="personId:ID(Person),name,:LABEL,born:int,tags:string[]",
        person_csv='1,Ann,Person;Author,1970,"x;y"\n2,Bob,Person,,\n',
        firm_csv=":ID(Firm),name\n1,Acme\n",
        works_csv=":START_ID(Person),:END_ID(Firm),:TYPE,since:date,shares:double,skip:IGNORE,seen:datetime\n"
        "1,1,WORKS_AT,2020-01-02,0.50,x,2020-01-02T03:04:05Z\n2,1,OWNS,,,,\n",
    )
    dataset = GraphImport.open([folder], choices=Choices(node_facts=True)).dataset()
    assert facts_of(dataset) == {
        Fact("Person:1", "WORKS_AT", "Firm:1",
             [("since", "2020-01-02^^date"), ("shares", "0.5^^number"), ("seen", "2020-01-02T03:04:05Z^^datetime")]),
        Fact("Person:2", "OWNS", "Firm:1"),
        Fact("Person:1", "born", "1970^^number"),
        Fact("Person:1", "tags", "x"),
        Fact("Person:1", "tags", "y"),
    }  # fmt: skip
    assert dataset.vocabulary.labels["Firm:1"] == "Acme"
    assert dataset.vocabulary.types == {
        "Person:1": ("Person", "Author"), "Person:2": ("Person",), "Firm:1": ("firm",)
    }  # fmt: skip


def test_generated_files_with_either_header_are_the_same_facts(tmp_path: Path) -> None:
    graph = generate_property_graph(400)
    graph.write(tmp_path / "plain")
    graph.write(tmp_path / "neo4j", neo4j=True)
    plain, neo4j = (open_graph(tmp_path / name).dataset() for name in ("plain", "neo4j"))
    assert plain.fingerprint == neo4j.fingerprint
    assert len(plain.train) == 400
    assert plain.vocabulary.types == neo4j.vocabulary.types


def test_exports_of_apoc(tmp_path: Path) -> None:
    text = (
        "_id,_labels,name,born,_start,_end,_type,since\n"
        "0,:Person:Author,Ann,1970,,,,\n1,:Firm,Acme,,,,,\n,,,,0,1,WORKS_AT,2020-01-02\n"
    )
    lines = [
        {"type": "node", "id": "0", "labels": ["Person", "Author"], "properties": {"name": "Ann", "born": 1970}},
        {"type": "node", "id": "1", "labels": ["Firm"], "properties": {"name": "Acme"}},
        {"id": "7", "type": "relationship", "label": "WORKS_AT", "properties": {"since": "2020-01-02"},
         "start": {"id": "0", "labels": ["Person"]}, "end": {"id": "1", "labels": ["Firm"]}},
    ]  # fmt: skip
    write_files(tmp_path, all_csv=text, all_json="\n".join(map(json.dumps, lines)))
    for name in ("all.csv", "all.json"):
        dataset = GraphImport.open([tmp_path / name]).dataset()
        assert facts_of(dataset) == {Fact("0", "WORKS_AT", "1", [("since", "2020-01-02^^date")])}
        assert dataset.vocabulary.labels == {"0": "Ann", "1": "Acme"}
        assert dataset.vocabulary.types == {"0": ("Person", "Author"), "1": ("Firm",)}


def test_graphml(tmp_path: Path) -> None:
    text = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="n" for="node" attr.name="name" attr.type="string"/>
  <key id="d" for="edge" attr.name="since" attr.type="string"/>
  <key id="a" for="edge" attr.name="amount" attr.type="double"/>
  <graph edgedefault="directed">
    <node id="p1" labels=":Person:Author"><data key="n">Ann &amp; Co</data></node>
    <node id="f1"><data key="n">Acme</data></node>
    <edge id="e1" source="p1" target="f1" label="WORKS_AT">
      <data key="d">2020-01-02</data><data key="a">5.50</data></edge>
    <edge source="f1" target="p1" label="EMPLOYS"/>
  </graph>
</graphml>"""
    dataset = GraphImport.open([write_files(tmp_path / "g", g_graphml=text) / "g.graphml"]).dataset()
    assert facts_of(dataset) == {
        Fact("p1", "WORKS_AT", "f1", [("since", "2020-01-02^^date"), ("amount", "5.5^^number")]),
        Fact("f1", "EMPLOYS", "p1"),
    }
    assert dataset.vocabulary.labels == {"p1": "Ann & Co", "f1": "Acme"}
    assert dataset.vocabulary.types == {"p1": ("Person", "Author")}


@pytest.mark.parametrize(
    ("files", "choices", "message", "line"),
    [
        ({"edges_csv": "a,b,c\n1,2,3\n"}, {}, "cannot tell which columns are the ends", None),
        ({"edges_csv": "start,end\na,\n"}, {}, "no value in column 'end'", 2),
        ({"edges_csv": "start,end\na,?\n"}, {}, "no value in column 'end'", 2),
        ({"edges_csv": "start,end,type\na,b,r\n\na,b,\n"}, {}, "no value in column 'type'", 4),
        ({"edges_csv": EDGES}, {"start": "strat"}, "no column is called 'strat'", None),
        ({"edges_csv": EDGES}, {"value_types": {"role": "number"}}, "'clerk' in column 'role' is not a number", 2),
        ({"edges_csv": EDGES}, {"value_types": {"role": "colour"}}, "the type of column 'role' is 'colour'", None),
        ({"nodes_csv": "name,label\nAnn,Person\n"}, {}, "cannot tell which column is the id", None),
        ({"nodes_csv": "id,name\np1,Ann\np2,Bob\np1,Eve\n"}, {}, "the id 'p1' occurs twice, first on line 2", 4),
        ({"nodes_csv": "id,name\n,Ann\n"}, {}, "no value in column 'id'", 2),
    ],
)
def test_what_is_wrong(
    tmp_path: Path, files: dict[str, str], choices: dict[str, object], message: str, line: int | None
) -> None:
    folder = write_files(tmp_path / "g", **{"edges_csv": EDGES, "nodes_csv": NODES, **files})
    with pytest.raises(NaryError, match=message) as caught:
        open_graph(folder, **choices).dataset()
    assert caught.value.line == line
    assert caught.value.hint
    assert caught.value.file or isinstance(caught.value, SettingError)


@pytest.mark.parametrize(
    ("name", "content", "message", "line"),
    [
        ("g.graphml", "<graphml><graph><node/></graph></graphml>", "<node> without id", 1),
        ("g.graphml", "<graphml><graph>\n<edge source='a'/></graph></graphml>", "<edge> without target", 2),
        ("g.graphml", "<graphml>\n<graph>", "not XML: no element found", 2),
        ("g.graphml", "<html></html>", "contains <html>, which is not GraphML", 1),
        ("g.graphml", "<graphml><graph><node id='a'/></graph></graphml>", "has no edges", None),
        ("g.graphml", '<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', "has a document type", 1),
        ("g.graphml", "<graphml><key id='k' attr.type='int'/><graph><edge source='a' target='b'>\n"
         "<data key='k'>x</data></edge></graph></graphml>", "'x' is not of the type int", 2),
        ("g.json", '{"type": "node", "id": 1}\n{"type": "thing"}', "neither a node nor a relationship", 2),
        ("g.json", '{"type": "node", "id": 1}\n{', "not JSON", 2),
        ("g.json", "[1]", "expected a JSON object", 1),
        ("g.json", '{"type": "node", "id": 1}', "has no relationships", None),
    ],
)  # fmt: skip
def test_broken_exports(tmp_path: Path, name: str, content: str, message: str, line: int | None) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message) as caught:
        GraphImport.open([tmp_path / name])
    assert (caught.value.file, caught.value.line) == (str(tmp_path / name), line)
    assert caught.value.hint


def test_folders_without_edges(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no tables"):
        GraphImport.open([tmp_path])
    for name in ("people.csv", "firms.csv"):
        (tmp_path / name).write_text(NODES)
    with pytest.raises(DataError, match="no table has columns for the two ends"):
        GraphImport.open([tmp_path])


def test_a_column_of_numbers_with_a_mistake_is_noted(tmp_path: Path) -> None:
    rows = "".join(f"p{i},f,WORKS_AT,{i},c{i % 2}\n" for i in range(20))
    folder = write_files(tmp_path / "graph", edges_csv=f"start,end,type,amount,code\n{rows}p20,f,WORKS_AT,12O,c1\n")
    [note] = GraphImport.open([folder / "edges.csv"]).notes
    assert note.startswith("all values of 'amount' in edges.csv are read as names, because '12O' is not a number")
    assert not GraphImport.open([folder / "edges.csv"], choices=Choices(value_types={"amount": "entity"})).notes
