"""A table that is not a file of facts stops with an explanation; facts do not."""

from pathlib import Path

import pytest

from nary.data.io.reader import read
from nary.data.io.sanity import is_header
from nary.errors import DataError

PEOPLE = [(f"p{i}", f"c{i % 7}", "WORKS_AT", f"202{i % 5}-01-0{1 + i % 9}", str(1000 + i)) for i in range(40)]


def table(separator: str, header: str = "", rows: list[tuple[str, ...]] = PEOPLE) -> str:
    return "".join(f"{line}\n" for line in ([header] if header else []) + [separator.join(row) for row in rows])


def refused(path: Path, content: str) -> DataError:
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read(path)
    assert caught.value.file == str(path)
    if "--format" in str(caught.value.hint):
        read(path, format="hyper-relational", on_error="skip")  # whoever means it gets it
    return caught.value


@pytest.mark.parametrize(
    "header",
    ["start,end,type,since,amount", "Source,Target,Kind,date,n", ":START_ID,:END_ID,:TYPE,a,b", "from_id,to_id,t,d,a"],
)
def test_a_header_is_not_a_fact(tmp_path: Path, header: str) -> None:
    error = refused(tmp_path / "edges.csv", "\n" + table(",", header))
    assert error.message == f"this line is a header, not a fact: {', '.join(header.split(','))}"
    assert error.line == 2
    assert "nary import edges.csv" in str(error.hint)


def test_a_header_above_a_column_of_numbers(tmp_path: Path) -> None:
    rows = [("a", "r", "b", "amount", str(i)) for i in range(9)]
    assert "is a header" in refused(tmp_path / "f.csv", table(",", "who,what,whom,kind,how much", rows)).message
    (tmp_path / "g.csv").write_text(table(",", "x,r,y,role,chief", rows))  # the relation occurs again: a fact
    assert len(read(tmp_path / "g.csv").train) == 10


@pytest.mark.parametrize(("separator", "word"), [(";", "semicolons"), ("|", "vertical bars")])
def test_another_delimiter(tmp_path: Path, separator: str, word: str) -> None:
    for rows in (PEOPLE, [(*row[:4], row[4] + ",5") for row in PEOPLE]):  # with decimal commas, too
        error = refused(tmp_path / "f.csv", table(separator, rows=rows))
        assert f"separated by {word}, not by commas" in error.message


def test_numbers_as_relations(tmp_path: Path) -> None:
    error = refused(tmp_path / "f.tsv", table("\t", rows=[(row[0], row[4], row[2]) for row in PEOPLE]))
    assert "the relations, in column 2, are numbers or dates: 1000, 1001, 1002" in error.message
    assert "Column 3 has only 1 different names" in str(error.hint)


def test_as_many_relations_as_facts(tmp_path: Path) -> None:
    error = refused(tmp_path / "f.tsv", table("\t", rows=[(f"a{i}", f"b{i}", "knows") for i in range(600)]))
    assert "600 facts with 600 different relations: b0, b1, b10, ..." in error.message
    rows = [(f"a{i}", f"b{i % 600}", f"c{i}") for i in range(12_100)]  # 600 relations with 20 facts each are fine
    (tmp_path / "g.tsv").write_text(table("\t", rows=rows))
    assert len(read(tmp_path / "g.tsv").train) == 12_100


@pytest.mark.parametrize(
    ("fields", "answer"),
    [("subject relation object", True), ("head_id rel tail_id", True), ("node1 label node2", True),
     (":START_ID(Person) role :END_ID(Firm) :TYPE", True), ("s r o", False), ("start r b", False), ("a r b", False)],
)  # fmt: skip
def test_headers(fields: str, answer: bool) -> None:
    assert is_header(fields.split(" ")) is answer
