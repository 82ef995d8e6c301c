"""Detecting formats by content and by extension, and formats of other packages."""

from importlib.metadata import EntryPoint
from pathlib import Path, PurePath

import pytest

import nary
from nary.data.io.base import Format
from nary.data.io.formats import FORMATS, detect_format, format_from_extension
from nary.data.io.lines import LineError, LineFormat, Record, make_record
from nary.errors import DataError, SettingError


@pytest.mark.parametrize(
    ("name", "line", "format"),
    [
        ("facts.jsonl", '{"subject": "s", "relation": "r", "object": "o"}', "jsonl"),
        ("facts", '{"subject": "s", "relation": "r", "object": "o", "qualifiers": []}', "jsonl"),
        ("facts.txt", '{"subject": "s", "relation": "r", "object": "o", "split": "test"}', "jsonl"),
        ("facts.json", '{"subject": "s", "relation": "r", "object": "o", "qualifers": "x"}', "jsonl"),
        ("facts.json", '{"N": 2, "relation": "r", "subject": "s", "object": "o"}', "gran"),
        ("facts.json", '{"relation": "r", "subject": "s", "object": "o", "a": ["v"]}', "gran"),
        ("facts.jsonl", '{"N": 3, "relation": "r", "subject": "s", "object": "o", "qualifiers": ["v"]}', "gran"),
        ("facts.json", '{"N": 4, "relation": "r", "subject": "s", "object": "o", "a_h": ["v"], "a_t": ["v"]}', "gran"),
        ("facts.jsonl", '{"relation": "r", "subject": "s", "object": "o", "qualifier": []}', "jsonl"),
        ("facts.jsonl", '{"relation": "r", "subject": "s", "object": "o", "qualifier": ["v"]}', "jsonl"),
        ("facts.json", '{"relation": "r", "subject": "s", "object": "o", "qualifier": [["a", "v"]]}', "jsonl"),
        ("facts.json", '{"P1_h": "s", "P1_t": "o", "N": 2}', "wikipeople"),
        ("facts.json", '{"N": 3, "P2": ["v"], "P1_t": "o", "P1_h": "s"}', "wikipeople"),
        ("facts.txt", "P1_h/P1_t\ts\to", "wikipeople-roles"),
        ("facts.tsv", "P2/P1_t/P1_h\tv\to\ts", "wikipeople-roles"),
        ("facts.txt", "P1_h/P2_t\tr\to", "hyper-relational"),
        ("facts.csv", "P1_h/P1_t,r,o", "hyper-relational"),
        ("facts.txt", "s\tr\to", "hyper-relational"),
        ("facts.csv", "s,r,o", "hyper-relational"),
        ("facts.tsv", "[s]\tr\to", "hyper-relational"),
        ("facts.csv", "{s},r,o", "hyper-relational"),
        ("facts.csv", '{"subject": "s", "relation": "r", "object": "o"}', "jsonl"),
        ("facts.tsv.gz", "[s]\tr\to", "hyper-relational"),
        ("-", "s r o", "hyper-relational"),
        ("facts.jsonl", "not json", "jsonl"),
        ("facts.ndjson", "7", "jsonl"),
        ("facts.jsonl", "{" * 100_000, "jsonl"),
        ("facts", '{"a": ' + "[" * 100_000, "jsonl"),
        ("facts", "", "hyper-relational"),
        ("facts.jsonl", "PAR1\x15\x04", "parquet"),
    ],
)
def test_formats_are_told(name: str, line: str, format: str) -> None:
    head = line.encode()
    assert detect_format(PurePath(name), head) == format
    if format != "parquet":
        for before, after in ((b"\xef\xbb\xbf", b"\n"), (b"\r\n \n", b"\r\nmore")):
            assert detect_format(PurePath(name), before + head + after) == format


def test_what_is_no_file_of_facts() -> None:
    with pytest.raises(DataError, match="not a Parquet file"):
        detect_format(PurePath("facts.parquet"), b"text")
    for name in ("facts.json", "facts.jsonl", "facts.csv", "-"):
        with pytest.raises(DataError, match="contains a JSON array") as error:
            detect_format(PurePath(name), b'[{"subject": "s"}]')
        assert error.value.file == ("standard input" if name == "-" else name)


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.jsonl", "jsonl"),
        ("a.b.ndjson.zst", "jsonl"),
        ("a.parquet", "parquet"),
        ("a.tsv.bz2", "hyper-relational"),
        ("a.csv.gz", "hyper-relational"),
        ("a.gz", None),
        ("a.txt", None),
        ("jsonl", None),
    ],
)
def test_extensions(name: str, format: str | None) -> None:
    assert format_from_extension(PurePath(name)) == format


def test_names_of_formats() -> None:
    assert all(issubclass(FORMATS.get(name), Format) for name in FORMATS)
    with pytest.raises(SettingError, match="unknown format 'tuple'") as error:
        FORMATS.get("tuple")
    assert error.value.hint is not None
    assert "tuples" in error.value.hint


class Arrows(LineFormat):
    """``subject -relation-> object``."""

    extensions = (".arrows",)
    output_extension = ".arrows"

    def parse(self, line: str) -> Record:
        subject, _, rest = line.partition(" -")
        relation, arrow, object = rest.partition("-> ")
        if not arrow:
            raise LineError("no arrow", "no arrow on this line", "Write subject -relation-> object.")
        return make_record(subject, relation, object, [])

    def format_line(self, record: Record) -> str:
        return f"{record.subject} -{record.relation}-> {record.object}"


@pytest.fixture
def arrows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FORMATS, "_registered", dict(FORMATS._registered))
    nary.register_format("arrows")(Arrows)


@pytest.mark.usefixtures("arrows")
def test_a_registered_format_is_read_written_and_detected(tmp_path: Path) -> None:
    path = tmp_path / "facts.arrows"
    path.write_text("Ada -knows-> Bob\n\nBob -knows-> Ada\n")
    dataset = nary.read(path)
    facts = [nary.Fact("Ada", "knows", "Bob"), nary.Fact("Bob", "knows", "Ada")]
    assert list(dataset.train.facts(dataset.vocabulary)) == facts
    nary.write(dataset, tmp_path / "again.arrows.gz")
    assert nary.read(tmp_path / "again.arrows.gz").train == dataset.train
    nary.write(dataset, tmp_path / "folder", format="arrows")
    assert (tmp_path / "folder" / "train.arrows").read_text() == "Ada -knows-> Bob\nBob -knows-> Ada\n"
    (tmp_path / "facts.txt").write_text("Ada -knows-> Bob\n")
    assert len(nary.read(tmp_path / "facts.txt", format="arrows").train) == 1


@pytest.mark.usefixtures("arrows")
def test_errors_of_a_registered_format_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "facts.arrows"
    path.write_text("Ada -knows-> Bob\n\noops\n")
    with pytest.raises(DataError, match="no arrow on this line") as caught:
        nary.read(path)
    assert (caught.value.file, caught.value.line) == (str(path), 3)
    assert "1 line skipped (1 no arrow)" in nary.read(path, on_error="skip").notes[0]


@pytest.mark.usefixtures("arrows")
def test_a_taken_name_is_refused() -> None:
    for name in ("arrows", "jsonl"):
        with pytest.raises(SettingError, match="exists already"):
            nary.register_format(name)(type("Other", (Arrows,), {}))


def test_other_packages_are_not_asked_about_built_in_extensions(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("broken", "no_such_module:Broken", "nary.formats")
    monkeypatch.setitem(FORMATS.__dict__, "_entry_points", {"broken": point})
    assert detect_format(PurePath("facts.tsv"), b"a\tr\tb\n") == "hyper-relational"
    with pytest.raises(SettingError, match="cannot be imported"):
        detect_format(PurePath("facts.broken"), b"a\tr\tb\n")
