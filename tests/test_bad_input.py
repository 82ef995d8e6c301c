# ruff: noqa: E501 (a table is easier to read with a case a line)
"""Broken input through the real command: a clear message, exit code 2, no traceback, nothing left behind."""

import bz2
import errno
import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nary.apps.cli import main as cli
from nary.data.io.formats import FORMATS
from nary.data.io.reader import read
from nary.errors import NaryError

FACT = b'{"subject": "a", "relation": "r", "object": "b"}\n'
TSV = b"a\tr\tb\nb\tr\tc\n"
MANY = b"".join(b"s%d\tr%d\to%d\n" % (i, i % 7, i * i % 101) for i in range(2000))
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89"


def parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def of_facts(subjects: list[str | None]) -> pl.DataFrame:
    pairs = pl.List(pl.Struct({"attribute": pl.String, "value": pl.String}))
    schema = {"subject": pl.String(), "relation": pl.String(), "object": pl.String(), "qualifiers": pairs}
    return pl.DataFrame([(subject, "r", "o", []) for subject in subjects], schema, orient="row")


@dataclass
class Case:
    """What lies in the folder, the command, and what it should say about which file and line."""

    id: str
    files: dict[str, bytes]
    command: str
    words: str
    file: str | None = None
    line: int | None = None
    hint: str = ""
    kind: str = "data"
    stdin: bytes = field(default=b"", repr=False)


def one(id: str, name: str, content: bytes, words: str, line: int | None = None, *more: str, hint: str = "") -> Case:
    """A single broken file, and an attempt to convert it."""
    return Case(id, {name: content}, " ".join(["convert", name, "out.jsonl", *more]), words, name, line, hint)


CASES = [
    # fields
    one("two fields", "f.tsv", TSV + b"a\tr\n", "2 of at least three fields", 3, hint="--format tuples"),
    one("fields in csv", "f.csv", b"a,r,b\na\n", "separated by commas", 2),
    one("odd qualifier fields", "f.tsv", b"a\tr\tb\tq\n", "odd number of qualifier fields (1)", 1, hint="--format tuples"),
    one("odd fields in csv", "f.csv", b"a,r,b\n\na,r,b,q,v,q\n", "odd number of qualifier fields (3)", 3),
    one("a tuple of two", "f.txt", b"r\ta\tb\nr\ta\n", "2 of at least 3", 2, "--format tuples", hint="hyper-relational"),
    one("a numbered tuple of three", "f.txt", b"i\tr\ta\n", "3 of at least 4", 1, "--format numbered-tuples"),
    one("empty label", "f.tsv", b"a\t\tb\n", "the relation: a label is empty", 1),
    one("a gap", "f.tsv", TSV + b"?\tr\tb\n", "the subject is ?, which marks a gap", 3, hint="nary predict"),
    one("bad quotes", "f.csv", b'a,r,b\n"a,r,b\n', "bad quotes", 2, hint="is written"),
    one("text after quotes", "f.csv", b'"a"b,r,b\n', "bad quotes", 1),
    one("carriage returns alone", "f.tsv", b"a\tr\tb\rb\tr\tc\r", "a carriage return within the line", 1, hint="line feeds"),
    # JSON Lines
    one("bad JSON", "f.jsonl", FACT + b'{"subject": "a",\n', "not JSON", 2, hint="Expected: {"),
    one("a JSON array", "f.jsonl", b'[{"subject": "a"}]', "contains a JSON array", hint="one JSON object per line"),
    one("a number", "f.jsonl", FACT + b"7\n", "expected a JSON object, not a number", 2),
    one("a duplicate key", "f.jsonl", b'{"subject": "a", "subject": "b"}', "the key 'subject' occurs twice", 1),
    one("an unknown key", "f.jsonl", FACT[:-2] + b', "qualifier": []}', "unknown key 'qualifier'", 1, hint="qualifiers"),
    one("a missing key", "f.jsonl", b'\n\n{"subject": "a", "relation": "r"}', "no 'object' in this fact", 3),
    one("a number as subject", "f.jsonl", FACT.replace(b'"a"', b"7"), "the subject: a label is a string, not int 7", 1),
    one("qualifiers as an object", "f.jsonl", FACT[:-2] + b', "qualifiers": {"q": "v"}}', "is an object, not a list", 1),
    one("a pair of three", "f.jsonl", FACT[:-2] + b', "qualifiers": [["q", "v", "w"]]}', "qualifier 1 is not an [attr", 1),
    one("an empty label in JSON", "f.jsonl", FACT.replace(b'"b"', b'""'), "the object: a label is empty", 1),
    one("a gap in JSON", "f.jsonl", FACT + FACT.replace(b'"b"', b'"?"'), "the object is ?", 2),
    one("half a character", "f.jsonl", FACT.replace(b'"b"', b'"\\udc00"'), "half a surrogate pair", 1),
    one("an endless number", "f.jsonl", b'{"subject": ' + b"1" * 5000 + b"}", "a number with too many digits", 1),
    one("deep nesting", "f.jsonl", b'{"subject": ' + b"[" * 200_000 + b"\n", "nested too deeply", 1),
    one("a bad split name", "f.jsonl", FACT[:-2] + b', "split": "dev"}', "unknown split 'dev'", 1, hint="train, valid"),
    # the formats of the benchmarks
    one("no P_h", "f.json", b'{"P1_t": "o"}', "expected one role P_h", 1, "--format wikipeople", hint="WikiPeople"),
    one("N does not agree", "f.json", b'{"N": 3, "P1_h": "s", "P1_t": "o"}', "N is 3, but the fact has arity 2", 1),
    one("N in gran", "f.json", b'{"N": 3, "relation": "r", "subject": "s", "object": "o"}', "N is 3, but", 1),
    one("roles and values", "f.txt", b"P1_h/P1_t/P2\ts\to\n", "3 roles but 2 values", 1),
    # bytes
    one("bad UTF-8", "f.tsv", TSV + b"a\tr\t\xe9t\xe9\n", "not UTF-8: byte 0xe9 at position 5", 3, hint="to UTF-8"),
    one("NUL bytes", "f.tsv", TSV + b"a\tr\tb\0\n", "contains a NUL character", 3, hint="text file"),
    one("UTF-16", "f.tsv", "a\tr\tb\n".encode("utf-16"), "not UTF-8: byte 0xff at position 1", 1),
    one("an empty file", "f.tsv", b"", "is empty", hint="at least one fact"),
    one("only blank lines", "f.tsv", b"\n  \n\t\r\n", "is empty"),
    one("only blank lines in JSON", "f.jsonl", b"\n\n", "is empty"),
    one("a huge line", "f.tsv", TSV + b"a" * (3 << 20), "a line of more than 1,048,576 bytes", 3, hint="another kind"),
    one("truncated gzip", "f.tsv.gz", gzip.compress(MANY)[:-20], "gzip data end too early", hint="get it again"),
    one("truncated bzip2", "f.tsv.bz2", bz2.compress(MANY)[:-20], "bzip2 data end too early"),
    one("truncated zstd", "f.tsv.zst", zstandard.compress(MANY)[:-20], "zstd data end too early"),
    one("damaged gzip", "f.tsv.gz", gzip.compress(MANY)[:100] + gzip.compress(MANY)[200:], "damaged gzip data"),
    one("a picture", "f.jsonl", PNG, "not UTF-8: byte 0x89 at position 1", 1),
    one("a picture named tsv", "f.tsv", PNG, "not UTF-8", 1),
    # Parquet
    one("text named parquet", "f.parquet", TSV, "is not a Parquet file", hint="--format"),
    one("text read as parquet", "f.tsv", TSV, "cannot be read as Parquet", None, "--format parquet"),
    one("Parquet read as JSON", "f.jsonl", parquet(of_facts(["a"])), "not ", 1, "--format jsonl"),
    one("truncated Parquet", "f.jsonl", parquet(of_facts(["a"]))[:-7], "cannot be read as Parquet"),
    one("other columns", "f.parquet", parquet(pl.DataFrame({"x": [1]})), "it has the columns x: Int64", hint="Expected subject"),
    one("a missing label", "f.parquet", parquet(of_facts(["a", None])), "a label is missing", 2),
    one("packed Parquet", "f.parquet.gz", gzip.compress(parquet(of_facts(["a"]))), "only read from a plain file"),
    # folders and names
    Case("no train file", {"d/test.tsv": TSV}, "stats d", "no train file in this folder", "d", hint="train.jsonl"),
    Case("two train files", {"d/train.tsv": TSV, "d/train.jsonl": FACT}, "stats d", "two train files: train.jsonl and", "d"),
    Case("a broken valid file", {"d/train.tsv": TSV, "d/dev.tsv": b"a"}, "check d", "1 of at least", "d/dev.tsv", 1),
    Case("an empty test file", {"d/train.tsv": TSV, "d/test.tsv": b""}, "check d", "is empty", "d/test.tsv"),
    Case("a label without a tab", {"d/train.tsv": TSV, "d/labels.tsv": b"a\tA\nb\n"}, "stats d", "no label after the name",
         "d/labels.tsv", 2),
    Case("a missing file", {}, "convert nowhere.tsv out.jsonl", "cannot be opened: No such file", "nowhere.tsv"),
    Case("a name that is too long", {}, f"stats {'x' * 300}.tsv", "cannot be opened: File name too long", "x" * 300 + ".tsv"),
    Case("an unknown dataset", {}, "stats jf17", "no dataset is called 'jf17'", hint="jf17k", kind="dataset"),
    Case("a broken standard input", {}, "convert - out.jsonl", "2 of at least three", "standard input", 2, stdin=b"a\tr\tb\na\tr"),
    Case("an empty standard input", {}, "stats -", "is empty", "standard input"),
    Case("every line skipped", {"f.tsv": b"a\nb\n"}, "stats f.tsv --on-error skip", "contains no facts", "f.tsv"),
    # output
    Case("an unknown extension", {"f.tsv": TSV}, "convert f.tsv out.xyz", "cannot tell a format from the name 'out.xyz'",
         hint=".jsonl", kind="output"),
    Case("an unknown --to", {"f.tsv": TSV}, "convert f.tsv out.x --to json", "unknown format 'json'", hint="jsonl", kind="setting"),
    Case("a --to for reading only", {"f.tsv": TSV}, "convert f.tsv out.x --to tuples", "cannot be written as tuples", kind="output"),
    Case("splits in tsv", {"d/train.tsv": TSV, "d/test.tsv": TSV}, "convert d out.tsv", "cannot name the split",
         hint="Give a folder", kind="output"),
    Case("line ends in tsv", {"f.jsonl": FACT.replace(b'"a"', b'"a\\nb"')}, "convert f.jsonl out.tsv", "'a\\nb' contains a line end",
         kind="output"),
    Case("no room in gran", {"f.tsv": b"a\tr\tb\tN\tv\n"}, "convert f.tsv out.json --to gran", "cannot hold an attribute",
         kind="output"),
    Case("a folder that is not empty", {"f.tsv": TSV, "out/mine": b"x"}, "convert f.tsv out", "not an empty folder", kind="output"),
    Case("a file where a folder should be", {"f.tsv": TSV, "out": b"x"}, "convert f.tsv out", "not an empty folder", kind="output"),
    Case("a file on the way", {"f.tsv": TSV, "x": b""}, "convert f.tsv x/out.jsonl", "cannot write x/out.jsonl", kind="output"),
    # the command line
    Case("an unknown --format", {"f.tsv": TSV}, "stats f.tsv --format tuple", "unknown format 'tuple'", hint="tuples",
         kind="setting"),
    Case("an unknown --on-error", {"f.tsv": TSV}, "stats f.tsv --on-error ignore", "'ignore' is not one of", kind="setting"),
    Case("an unknown option", {"f.tsv": TSV}, "stats f.tsv --color", "No such option: --color", hint="nary stats --help",
         kind="setting"),
    Case("an unknown command", {}, "statistics", "No such command 'statistics'", hint="nary --help", kind="setting"),
    Case("a missing argument", {}, "convert f.tsv", "Missing argument 'OUT'", hint="nary convert --help", kind="setting"),
    Case("one argument too many", {"f.tsv": TSV}, "stats f.tsv more", "unexpected extra argument", kind="setting"),
    Case("a name that is not UTF-8", {}, "stats \udcff.tsv", r"'\udcff.tsv' is not UTF-8", hint="Rename", kind="setting"),
]  # fmt: skip


def lay_out(case: Case, folder: Path) -> None:
    for name, content in case.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


def everything(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, arguments: list[str], stdin: bytes = b"") -> object:
    """The exit code of ``nary`` in ``folder``."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["nary", *arguments])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    return stopped.value.code


def check_text(stderr: str, case: Case) -> None:
    place = ":".join(str(part) for part in (case.file, case.line) if part is not None)
    message, _, hint = stderr.partition("\n")
    assert message.startswith(f"error: {place}: " if place else "error: ")
    assert case.words in message
    assert case.hint in hint
    assert "Traceback" not in stderr


def check_json(stderr: str, case: Case) -> None:
    [error] = json.loads(stderr).values()
    assert case.words in error["message"]
    assert case.hint in (error["hint"] or "")
    assert error["kind"] == case.kind
    assert (error.get("file"), error.get("line")) == (case.file, case.line)
    assert error.keys() >= {"kind", "message", "hint"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_broken_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], case: Case
) -> None:
    lay_out(case, tmp_path)
    before = everything(tmp_path)
    for options, check in (([], check_text), (["--json"], check_json)):
        assert run(monkeypatch, tmp_path, [*case.command.split(), *options], case.stdin) == 2
        out, err = capfd.readouterr()
        assert out == ""
        check(err, case)
        assert everything(tmp_path) == before


def fail(code: int, words: str) -> Callable[..., None]:
    """A stand-in for an operation that the system refuses."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, words)

    return refuse


def test_no_permission_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "f.tsv").write_bytes(TSV)
    monkeypatch.setattr(Path, "open", fail(errno.EACCES, "Permission denied"))
    assert run(monkeypatch, tmp_path, ["convert", "f.tsv", "out.jsonl"]) == 2
    assert capfd.readouterr().err == (
        "error: f.tsv: cannot be opened: Permission denied\nCheck the path and its permissions.\n"
    )


@pytest.mark.parametrize("out", ["out.jsonl", "out.tsv.gz", "out.tsv.bz2", "out.csv.zst", "out.parquet", "out"])
def test_a_disk_that_takes_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], out: str
) -> None:
    resource = pytest.importorskip("resource")
    (tmp_path / "f.tsv").write_bytes(MANY)
    (tmp_path / "out.jsonl").write_bytes(b"old")
    before = everything(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    try:
        code = run(monkeypatch, tmp_path, ["convert", "f.tsv", out])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert code == 2
    found = capfd.readouterr()
    assert found.out == ""
    assert found.err.startswith(f"error: cannot write {out}: ")
    assert "File too large" in found.err
    assert everything(tmp_path) == before


def test_no_permission_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "f.tsv").write_bytes(TSV)
    for operation, out in (("mkdir", "new/out.jsonl"), ("mkdir", "out"), ("write_bytes", "out.jsonl")):
        with monkeypatch.context() as patch:
            patch.setattr("nary.data.io.lines.open_to_write", fail(errno.EACCES, "Permission denied"))
            patch.setattr(Path, operation, fail(errno.EACCES, "Permission denied"))
            assert run(patch, tmp_path, ["convert", "f.tsv", out]) == 2
        assert capfd.readouterr().err.startswith(f"error: cannot write {out}: Permission denied\n")
    assert [path.name for path in tmp_path.iterdir()] == ["f.tsv"]


@pytest.mark.parametrize("id", ["odd qualifier fields", "a missing label", "an unknown command"])
def test_as_the_shell_runs_it(tmp_path: Path, id: str) -> None:
    [case] = [case for case in CASES if case.id == id]
    lay_out(case, tmp_path)
    before = everything(tmp_path)
    nary = Path(sys.executable).with_name("nary")
    ended = subprocess.run([nary, *case.command.split()], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    check_text(ended.stderr, case)
    assert everything(tmp_path) == before


@given(
    st.binary(max_size=60) | st.text(st.sampled_from('{}[]"\\,:\t\n ?abN_h/'), max_size=60).map(str.encode),
    st.sampled_from(["f", "f.tsv", "f.csv", "f.jsonl", "f.json"]),
    st.sampled_from([None, *(name for name in FORMATS if name != "parquet")]),
    st.sampled_from(["stop", "skip"]),
)
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_facts_or_an_error(tmp_path: Path, content: bytes, name: str, format: str, on_error: str) -> None:
    (tmp_path / name).write_bytes(content)
    with suppress(NaryError):
        dataset = read(tmp_path / name, format=format, on_error=on_error)
        assert all(fact.arity >= 2 for fact in dataset.facts.facts(dataset.vocabulary))
