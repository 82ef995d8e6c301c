"""What every format with a fact a line must do: golden lines, and the fast and the exact way agree."""

import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nary.data import files
from nary.data.files import Source
from nary.data.io import lines as io_lines
from nary.data.io.base import ParsedChunk
from nary.data.io.formats import FORMATS
from nary.data.io.lines import LineFormat, Record
from nary.data.io.reader import read
from nary.errors import DataError
from nary.facts import Fact

JSON, FIELDS, TUPLES, NUMBERED = (FORMATS.get(n) for n in ("jsonl", "hyper-relational", "tuples", "numbered-tuples"))

MARIE = Fact("Marie", "award", "Physics", [("year", "1903"), ("with", "Pierre"), ("with", "Henri")])
GOLDEN = {
    "jsonl": '{"subject": "Marie", "relation": "award", "object": "Physics", '
    '"qualifiers": [["year", "1903"], ["with", "Pierre"], ["with", "Henri"]]}\n'
    '{"object": "P", "relation": "born in", "subject": "\\u00c4"}\n',
    "hyper-relational": "Marie\taward\tPhysics\tyear\t1903\twith\tPierre\twith\tHenri\nÄ\tborn in\tP\n",
    "gran": '{"N": 5, "relation": "award", "subject": "Marie", "object": "Physics", "year": ["1903"], '
    '"with": ["Pierre", "Henri"]}\n{"N": 2, "relation": "born in", "subject": "Ä", "object": "P"}\n',
    "wikipeople": '{"award_h": "Marie", "award_t": "Physics", "with": ["Pierre", "Henri"], "year": ["1903"], "N": 5}\n'
    '{"N": 2, "born in_t": "P", "born in_h": "Ä"}\n',
    "wikipeople-roles": "with/award_h/award_t/year/with\tPierre\tMarie\tPhysics\t1903\tHenri\n"
    "born in_t/born in_h\tP\tÄ\n",
}
TUPLE_GOLDEN = {
    "tuples": "award\tMarie\tPhysics\t1903\tPierre\nborn in\tÄ\tP\n",
    "numbered-tuples": "i0\taward\tMarie\tPhysics\t1903\tPierre\ni1\tborn in\tÄ\tP\n",
}
TUPLE_FACTS = [
    Fact("Marie", "award", "Physics", [("award_0", "1903"), ("award_1", "Pierre")]),
    Fact("Ä", "born in", "P"),
]
WRITTEN = {**GOLDEN, **TUPLE_GOLDEN}


def facts_of(path: Path, format: str) -> list[Fact]:
    dataset = read(path, format=format)
    return list(dataset.train.facts(dataset.vocabulary))


def expected(format: str) -> list[Fact]:
    return TUPLE_FACTS if format in TUPLE_GOLDEN else [MARIE, Fact("Ä", "born in", "P")]


def test_every_format_has_golden_lines() -> None:
    assert WRITTEN.keys() == {name for name in FORMATS if issubclass(FORMATS.get(name), LineFormat)}


@pytest.mark.parametrize("format", WRITTEN)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_golden_files(tmp_path: Path, format: str, line_end: str, encoding: str) -> None:
    path = tmp_path / "facts"
    text = WRITTEN[format].replace("\n", line_end)
    for content in (text, text.removesuffix(line_end), f"{line_end} {line_end}{text}\t{line_end}"):
        path.write_text(content, encoding=encoding, newline="")
        assert facts_of(path, format) == expected(format)


@pytest.mark.parametrize("format", WRITTEN)
def test_the_line_of_a_mistake_counts_blank_lines(tmp_path: Path, format: str) -> None:
    path = tmp_path / "facts"
    first, second = WRITTEN[format].splitlines()
    for line_end in ("\n", "\r\n"):
        path.write_text(line_end.join(["", first, "", " ", second, "oops", second]), newline="")
        with pytest.raises(DataError) as error:
            read(path, format=format)
        assert (error.value.file, error.value.line) == (str(path), 6)


def parse(path: Path, format: LineFormat) -> Iterable[ParsedChunk]:
    with Source(path) as source:
        yield from format.read(source)


def records(chunk: ParsedChunk) -> dict[int, Record]:
    """The facts of a chunk by their row in the file."""
    found = {}
    for columns in chunk.columns:
        names, rows = columns.names.to_list(), columns.rows.tolist()
        splits = [None] * len(rows) if columns.splits is None else columns.splits.to_list()
        at = 3 * len(rows)
        for i, (row, count) in enumerate(zip(rows, columns.counts.tolist(), strict=True)):
            pairs = list(zip(names[at : at + 2 * count : 2], names[at + 1 : at + 2 * count : 2], strict=True))
            relation, subject, object = names[3 * i : 3 * i + 3]
            assert row not in found
            found[row] = Record(subject, relation, object, pairs, splits[i])
            at += 2 * count
        assert at == len(names)
    return found


def outcome(path: Path, format: LineFormat) -> tuple[object, ...]:
    """Everything that reading a file gives."""
    chunks = list(parse(path, format))
    facts = {row: record for chunk in chunks for row, record in records(chunk).items()}
    problems = [problem for chunk in chunks for problem in chunk.problems]
    return facts, problems, sum(chunk.blank for chunk in chunks), sum(chunk.lines for chunk in chunks)


def check_both_ways(path: Path, kind: type[LineFormat], text: str) -> tuple[object, ...]:
    """Read ``text`` once as usual and once with every line left to ``parse``."""
    exact = type("Exact", (kind,), {"parse_many": LineFormat.parse_many})
    path.write_text(text, encoding="utf-8", newline="")
    usual = outcome(path, kind())
    assert usual == outcome(path, exact())
    return usual


characters = st.characters(exclude_categories=["Cs"], exclude_characters="\n")
odd = st.sampled_from(["?", "??", '"', '"a"', "a|b", " ", "\x1c", "\x85", "\u2028", "\r", "\0", "é", "split", "", "]}"])
labels = st.sampled_from(["a", "b", "award", "1903"]) | odd | st.text(characters, max_size=4)


@st.composite
def broken(draw: st.DrawFn, lines: st.SearchStrategy[str]) -> str:
    """A text of several lines, some of them damaged."""
    found = []
    for line in draw(st.lists(lines, min_size=1, max_size=6)):
        damage = draw(st.sampled_from(["none"] * 5 + ["cut", "insert", "other"]))
        at = draw(st.integers(0, len(line)))
        if damage == "cut":
            line = line[:at] + line[at + 1 :]
        elif damage == "insert":
            line = line[:at] + draw(odd | st.sampled_from(["\t", ",", " ", "\\", "{"])) + line[at:]
        elif damage == "other":
            line = draw(st.text(characters, max_size=12))
        found.append(line)
    return draw(st.sampled_from(["\n", "\r\n"])).join(found)


numbers = st.integers() | st.floats() | st.sampled_from([0, -0.0, 5.0, 1e50, 10**40])
literals = st.fixed_dictionaries(
    {
        "value": st.sampled_from(["5", "5.0", "2025-01-02", "x"]),
        "type": st.sampled_from(["number", "date", "text", "x"]),
    },
    optional={"unit": st.sampled_from(["kg", "a^^b", "c:d"])},
)


@st.composite
def json_line(draw: st.DrawFn) -> str:
    content: dict[str, object] = {key: draw(labels) for key in ("subject", "relation")}
    content["object"] = draw(labels | numbers | literals)
    if draw(st.integers(0, 4)):
        content["qualifiers"] = draw(st.lists(st.tuples(labels, labels | numbers | literals), max_size=3))
    if draw(st.integers(0, 3)) == 0:
        content["split"] = draw(st.sampled_from(["train", "valid", "test", "context", "dev", None]))
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]))
    return json.dumps(content, ensure_ascii=draw(st.booleans()), separators=separators)


@st.composite
def keyed_line(draw: st.DrawFn) -> str:
    """A fact with its attributes as keys, in the format of GRAN or of WikiPeople."""
    keys = labels | st.sampled_from(["N", "relation", "object", "a_h", "a_t", "_h"])
    qualifiers = draw(
        st.lists(st.tuples(keys, st.lists(labels, min_size=draw(st.integers(0, 1)), max_size=3)), max_size=3)
    )
    arity = 2 + sum(len(values) for _, values in qualifiers) + draw(st.sampled_from([0] * 5 + [1]))
    number = [("N", draw(st.sampled_from([arity] * 5 + [float(arity), str(arity)])))] * draw(st.integers(0, 1))
    subject, relation, object = draw(st.tuples(labels, labels, labels))
    if draw(st.booleans()):
        content = [*number, ("relation", relation), ("subject", subject), ("object", object), *qualifiers]
    else:
        other = draw(st.sampled_from([relation] * 5 + ["b"]))
        head = [(f"{relation}_h", subject), (f"{other}_t", object)]
        content = [*head, *number, *qualifiers] if draw(st.booleans()) else [*head, *qualifiers, *number]
    if draw(st.integers(0, 9)) == 0:
        content = draw(st.permutations(content))
    comma, colon = draw(st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]))
    ascii = draw(st.booleans())
    dump = partial(json.dumps, ensure_ascii=ascii, separators=(comma, colon))
    return "{" + comma.join(f"{dump(key)}{colon}{dump(value)}" for key, value in content) + "}"


def separated_line(separator: str) -> st.SearchStrategy[str]:
    return st.lists(labels, min_size=1, max_size=8).map(separator.join)


EFFORT = settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])


@EFFORT
@given(broken(json_line()))
@example('{"subject":"?a","relation":"a?","object":"?","qualifiers":[]}')
@example('{"subject":"s","relation":"split","object":"o","qualifiers":[["split","train"]]}')
@example('{"subject":"s","relation":"r","object":"o","qualifiers":[],"split":"test"}\n{"subject":"s","relation":"r",'
         '"object":"o","qualifiers":[]}')  # fmt: skip
@example('{"subject":"s","relation":"r","object":"o","qualifiers":[["a","b"],]}')
@example('{"subject":"s","relation":"r","object":"o","qualifiers":[[", 5]",7],["a",", 5]"],["b, ",5]]}')
@example(
    '{"subject":"s","relation":"r","object":5,"qualifiers":[["a",-0],["b",1.50],["c",{"value":"5","type":"date"}]]}'
)
@example('{"subject":"s\u2028","relation":"r","object":"o","qualifiers":[]}')
def test_json_lines_both_ways(tmp_path: Path, text: str) -> None:
    check_both_ways(tmp_path / "facts", JSON, text)


@EFFORT
@given(broken(keyed_line()), st.sampled_from(["gran", "wikipeople"]))
@example('{"N":3,"relation":"r","subject":"s","object":"o","a":["v"],"a":["w"]}', "gran")
@example('{"N":4,"relation":"r","subject":"s","object":"o","a":["v"],"object":["w"]}', "gran")
@example('{"N":3,"relation":"r","subject":"s","object":"o","a":["v"]}\n{"N":3,"relation":"r","subject":"s","object":"o"}',
         "gran")  # fmt: skip
@example(
    '{"a_h":"s","a_t":"o","N":2}\n{"a_h":"s","b_t":"o","N":2}\n{"a_h":"s","a_t":"o","N":4,"b":["v","w"]}', "wikipeople"
)
@example('{"?_h":"s","?_t":"o"}\n{"_h":"s","_t":"o"}\n{"a_h_h":"s","a_h_t":"o"}', "wikipeople")
@example('{"a_h":"s","a_t":"o","b_t":["v"],"N":3}\n{"a_h":"s","a_t":"o","N":3,"b":["v"],"N":3}', "wikipeople")
def test_keyed_lines_both_ways(tmp_path: Path, text: str, format: str) -> None:
    check_both_ways(tmp_path / "facts", FORMATS.get(format), text)


@EFFORT
@given(broken(separated_line("\t") | separated_line(",")), st.sampled_from(["facts.tsv", "facts.csv", "facts"]))
@example(" \t \t \na\tb\tc", "facts")
@example("a,b,c\n\x1c,\x1c,\x1c", "facts.csv")
@example('"a\tb",c,d', "facts.csv")
@example('a\t"b', "facts.tsv")
def test_fields_both_ways(tmp_path: Path, text: str, name: str) -> None:
    check_both_ways(tmp_path / name, FIELDS, text)


@EFFORT
@given(broken(separated_line("\t") | separated_line(" ")), st.sampled_from([TUPLES, NUMBERED]))
@example("r a b  c", TUPLES)
@example("r \x1d \x1d\nr a b c d", TUPLES)
def test_tuples_both_ways(tmp_path: Path, text: str, kind: type[LineFormat]) -> None:
    check_both_ways(tmp_path / "facts", kind, text)


@pytest.mark.parametrize("format", ["jsonl", "gran", "wikipeople", "hyper-relational", "tuples", "numbered-tuples"])
def test_the_fast_way_takes_usual_lines(tmp_path: Path, format: str) -> None:
    """Otherwise the comparison above would compare nothing."""
    path = tmp_path / "facts"
    path.write_text(WRITTEN[format].splitlines()[0])
    kind = type("Fast", (FORMATS.get(format),), {"parse": LineFormat.parse})
    assert len(records(next(iter(parse(path, kind()))))) == 1


def test_the_fast_way_takes_literals(tmp_path: Path) -> None:
    path = tmp_path / "facts"
    written = Record(
        "s", "r", "-0.5^^number", [("a", "66000^^number"), ("b", "2025-01^^date"), ("c", "5^^quantity:kg")]
    )
    path.write_text(JSON().format_line(written))  # type: ignore[attr-defined]
    kind = type("Fast", (JSON,), {"parse": LineFormat.parse})
    assert records(next(iter(parse(path, kind())))) == {0: written}


@pytest.mark.parametrize("format", WRITTEN)
def test_borders_between_chunks_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    lines = [*WRITTEN[format].splitlines(), "", "oops", "  "] * 5
    path = tmp_path / "facts"
    for line_end in ("\n", "\r\n"):
        path.write_text("\n" * 9 + line_end.join(lines), newline="", encoding="utf-8-sig")
        whole = outcome(path, FORMATS.get(format)())
        for size in (4, 5, 17, 64, 200):
            monkeypatch.setattr(files, "CHUNK", size)
            assert outcome(path, FORMATS.get(format)()) == whole
        monkeypatch.undo()


def test_a_line_that_is_too_long_is_one_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (files, io_lines):
        monkeypatch.setattr(module, "MAX_LINE", 40)
    path = tmp_path / "facts"
    lines = ["a\tr\tb", "a\tr\t" + "é" * 18, "a\tr\t" + "é" * 19, "a\tr\tc", "a\tr\t" + "x" * 900, "a\tr\td", "x" * 41]
    path.write_text("\n".join(lines))  # 40, 42, 904 and 41 bytes
    for size in (5, 30, 64, 2000):
        monkeypatch.setattr(files, "CHUNK", size)
        facts, problems, *_ = check_both_ways(path, FIELDS, "\n".join(lines))
        assert list(facts) == [0, 1, 3, 5]  # type: ignore[call-overload]
        assert [(p.line, p.reason) for p in problems] == [(line, "huge line") for line in (3, 5, 7)]  # type: ignore[attr-defined]


def test_one_line_that_is_not_utf8_among_others(tmp_path: Path) -> None:
    path = tmp_path / "facts"
    path.write_bytes("a\tr\té\r\n\r\n".encode() + b"a\tr\t\xe9\r\n" + b"b\tr\tc")
    facts, problems, blank, lines = outcome(path, FIELDS())
    assert facts == {0: Record("a", "r", "é", []), 3: Record("b", "r", "c", [])}
    assert [(p.line, p.message) for p in problems] == [(3, "not UTF-8: byte 0xe9 at position 5")]  # type: ignore[attr-defined]
    assert (blank, lines) == (1, 4)
