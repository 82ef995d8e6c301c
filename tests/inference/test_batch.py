"""File to file: a line a query, in order; it can be stopped anywhere and goes on."""

import json
import os
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import polars as pl
import pytest
from inference.memory import remembering
from runs.small import dataset_of

from nary.errors import DataError, FactError, OutputError
from nary.facts import Fact
from nary.facts.json import parse_line
from nary.inference import batch
from nary.inference.batch import Job, predict_file, predict_to_table
from nary.inference.sidecar import write_sidecar

FACTS = [
    Fact("Ada", "likes", "Ben"),
    Fact("Cy", "likes", "Ben"),
    Fact("Dee", "likes", "Ada", [("since", "1900")]),
]
PREDICTOR = remembering(dataset_of(train=FACTS))
QUERIES = [
    '{"subject": "Ada", "relation": "likes", "object": "?"}',
    "Dee | likes | Ada | since: ?",
    "",
    "? | likes | ?",
    '{"subject": "dee", "relation": "?", "object": "Ada", "qualifiers": [["since", "1900"]], "split": "test"}',
    "? | likes | Ben",
]
ANSWERED = 5


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "_BATCH", 2)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "in.jsonl").write_text("\n".join(QUERIES))
    return Job(tmp_path / "in.jsonl", tmp_path / "out.jsonl", k=2)


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_pipe_can_be_read_only_once(job: Job) -> None:
    pipe = job.queries.with_name("pipe")
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=["\n".join(QUERIES)])
    writer.start()
    seen: list[tuple[int, int | None]] = []
    done = predict_file(PREDICTOR, replace(job, queries=pipe), lambda done, total: seen.append((done, total)))
    writer.join()
    assert (done.written, seen[-1]) == (ANSWERED, (ANSWERED, None))


def test_a_line_a_query_in_their_order(job: Job) -> None:
    seen: list[tuple[int, int | None]] = []
    done = predict_file(PREDICTOR, job, lambda done, total: seen.append((done, total)))
    assert (done.written, done.before, done.errors, done.total) == (ANSWERED, 0, 0, ANSWERED)
    assert seen == [(0, 5), (2, 5), (4, 5), (5, 5)]
    found = _read(job.out)
    queries = [parse_line(line) for line in QUERIES if line]
    expected = [(PREDICTOR.complete if len(query.gaps) > 1 else PREDICTOR.predict)(query, 2) for query in queries]
    assert [one.pop("line") for one in found] == [1, 2, 4, 5, 6]  # the third is blank
    assert found == [one.as_dict() for one in expected]
    assert [one["query"] for one in found[1:4]] == [
        "Dee | likes | Ada | since: ?",
        "? | likes | ?",
        "Dee | ? | Ada | since: 1900",
    ]


def test_wherever_it_was_stopped_it_goes_on_to_the_same_file(job: Job) -> None:
    predict_file(PREDICTOR, job)
    whole = job.out.read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    for length in {0, 1, *range(5, len(whole), 211), *ends, *(end - 1 for end in ends)}:
        job.out.write_bytes(whole[:length])
        done = predict_file(PREDICTOR, job)
        assert job.out.read_bytes() == whole
        assert done.before == whole[:length].count(b"\n")
        assert done.total == ANSWERED


def test_answers_are_written_as_they_are_found(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    predict_file(PREDICTOR, job, lambda done, total: seen.append(len(_read(job.out)) if job.out.exists() else 0))
    assert seen == [0, 2, 4, 5]


@pytest.mark.parametrize(
    "content",
    [
        b"some notes",
        b"some notes\n",
        b'{"line":1,"query":"Ben | likes | ?"}\n',
        b'{"line":1}\n',
        b"[]\n",
        b'{"line":6,"query":"? | likes | Ben"}\n' * 6,
        b'{"line":1,"query":"Ada | likes | ?"}\nsome notes',
    ],
)
def test_another_file_is_not_touched(job: Job, content: bytes) -> None:
    for match in (r"out\.jsonl\.meta\.json is missing or damaged", r"does not hold answers to .*in\.jsonl"):
        job.out.write_bytes(content)
        with pytest.raises(OutputError, match=match):
            predict_file(PREDICTOR, job)
        assert job.out.read_bytes() == content
        write_sidecar(job.out, job.about)


def test_answers_of_another_model_or_by_other_options_are_not_continued(job: Job) -> None:
    job = replace(job, model="abc")
    predict_file(PREDICTOR, job)
    whole = job.out.read_bytes()
    others = {"from another model": replace(job, model="def"), "with k 2, not 3": replace(job, k=3)}
    others["with known first, not hide"] = replace(job, known="hide")
    for match, other in others.items():
        with pytest.raises(OutputError, match=f"holds answers {match}"):
            predict_file(PREDICTOR, other)
    assert job.out.read_bytes() == whole
    assert predict_file(PREDICTOR, replace(job, skip=True)).before == ANSWERED  # which changes no answer


def test_answers_on_standard_output(job: Job, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    predict_file(PREDICTOR, job)
    predict_file(PREDICTOR, replace(job, out=Path("-")))
    assert capfdbinary.readouterr().out == job.out.read_bytes()
    assert not Path("-").exists()


def test_a_table_has_a_row_for_every_line(job: Job, tmp_path: Path) -> None:
    job.queries.write_text("\n".join(["Ada | likes | ?", "Zoe | likes | ?", "", "Ben | likes | ?", "? | likes | ?"]))
    out = tmp_path / "out.csv"
    done = predict_to_table(PREDICTOR, Job(job.queries, out, k=1, known="only", skip=True, model="abc"))
    assert (done.written, done.errors) == (4, 2)
    table = pl.read_csv(out)
    assert table["line"].to_list() == [1, 2, 4, 5]
    assert table["answer"].to_list() == ["Ben", None, None, None]  # nobody knows whom Ben likes
    assert table["error"].to_list() == [
        None,
        "unknown entity 'Zoe'",
        None,
        "a table cannot hold answers to several gaps",
    ]
    assert json.loads((tmp_path / "out.csv.meta.json").read_text())["model"] == "abc"


BAD = ["Ada | likes | ?", "Ada | likes", "Zoe | likes | ?", "? | likes | Ben"]


def test_a_bad_line_stops_and_nothing_is_lost(job: Job) -> None:
    job.queries.write_text("\n".join(BAD))
    with pytest.raises(FactError, match="2 of the three parts") as caught:
        predict_file(PREDICTOR, job)
    assert (caught.value.file, caught.value.line) == (str(job.queries), 2)
    assert [one["query"] for one in _read(job.out)] == BAD[:1]
    job.queries.write_text("\n".join([BAD[0], "Cy | likes | ?", *BAD[2:]]))
    with pytest.raises(DataError, match="unknown entity 'Zoe'") as unknown:
        predict_file(PREDICTOR, job)
    assert unknown.value.line == 3
    assert [one["query"] for one in _read(job.out)] == [BAD[0], "Cy | likes | ?"]


def test_bad_lines_are_reported_in_their_places_on_request(job: Job) -> None:
    job.queries.write_text("\n".join([*BAD, "Ada | likes | Ben", '{"subject": 1}', "{]"]))
    skipping = Job(job.queries, job.out, skip=True)
    done = predict_file(PREDICTOR, skipping)
    assert (done.written, done.errors) == (7, 5)
    found = _read(job.out)
    assert [one["line"] for one in found] == [1, 2, 3, 4, 5, 6, 7]
    assert ["error" in one for one in found] == [False, True, True, False, True, True, True]
    assert found[2]["error"]["message"] == "unknown entity 'Zoe'"
    whole = job.out.read_bytes()
    for lines in range(7):
        job.out.write_bytes(b"".join(whole.splitlines(keepends=True)[:lines]))
        assert predict_file(PREDICTOR, skipping).before == lines
        assert job.out.read_bytes() == whole


def test_what_cannot_be_opened(job: Job, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be opened"):
        predict_file(PREDICTOR, Job(tmp_path / "none", job.out))
    for out in (tmp_path, tmp_path / "none" / "out.jsonl"):
        with pytest.raises(OutputError, match="cannot write"):
            predict_file(PREDICTOR, Job(job.queries, out))
    assert not job.out.exists()


def test_no_queries(job: Job) -> None:
    job.queries.write_text("\n\n")
    assert predict_file(PREDICTOR, job).total == 0
    assert job.out.read_text() == ""


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("subject,relation,object", "is a header, not a query"),
        ('"Subject"\t"Relation"\t"Object"', "is a header, not a query"),
        ("Ada;likes;?", "is a line of a table, not a query"),
    ],
)
def test_tables_are_refused_with_how_to_write_queries(job: Job, line: str, named: str) -> None:
    job.queries.write_text(f"{line}\n")
    with pytest.raises(FactError, match=named) as error:
        predict_file(PREDICTOR, job)
    assert error.value.line == 1
    assert "Marie Curie | award received | ?" in str(error.value.hint)
