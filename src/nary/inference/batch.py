"""Predict from a file of queries to a file of answers: a line each, in the same order, or a table.

Every answer has the number of the line it is for; a line without an answer has its reason. Answers are written a batch
at a time, so that an interruption loses at most the last batch. A second call continues after the last complete line,
if the file beside the answers says that the model and the options are the same. A table is written whole, at the end.

Several workers take the batches in turn. All read the file of queries, and the first one writes.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

import orjson

from nary.data.files import Source, display_name
from nary.data.io.sanity import is_header
from nary.errors import FactError, NaryError, OutputError, SettingError
from nary.facts import Query
from nary.facts.json import parse_line
from nary.facts.text import as_query
from nary.files.locks import file_lock
from nary.files.writing import reporting, resolve_output, write_all
from nary.inference.export.tables import PARTS, prediction_table, write_table
from nary.inference.prediction import Known
from nary.inference.predictor import Predictor
from nary.inference.results import Prediction
from nary.inference.sidecar import check_sidecar, write_sidecar
from nary.progress import Progress, no_progress
from nary.workers import ALONE, Workers

_BATCH = 256


@dataclass(frozen=True)
class Job:
    """What to answer and how: ``skip`` writes an error for a line that is no query; otherwise the work stops there.

    ``out`` is ``-`` for standard output. ``model`` is the fingerprint of the model. ``columns`` names subject, relation
    and object in a table.
    """

    queries: Path
    out: Path
    k: int = 10
    known: Known = "first"
    skip: bool = False
    model: str = ""
    columns: Sequence[str] = PARTS

    @property
    def to_stdout(self) -> bool:
        """Whether the answers go to standard output."""
        return str(self.out) == "-"

    @property
    def about(self) -> dict[str, Any]:
        """What all answers in a file must have in common."""
        return {"model": self.model, "k": self.k, "known": self.known}


@dataclass(frozen=True)
class Answered:
    """How many lines were written, how many of them are errors, and how many stood there before."""

    written: int
    errors: int
    before: int

    @property
    def total(self) -> int:
        """The lines in the file of answers."""
        return self.before + self.written


def predict_file(
    predictor: Predictor, job: Job, progress: Progress = no_progress, workers: Workers = ALONE
) -> Answered:
    """Answer every query of a file; see the module. Only one process at a time can write to ``job.out``."""
    if job.to_stdout:
        return _predict_file(predictor, job, progress, workers)
    with reporting(job.out):
        job = replace(job, out=resolve_output(job.out))
    with file_lock(job.out) if workers.is_first else nullcontext():
        return _predict_file(predictor, job, progress, workers)


def _predict_file(predictor: Predictor, job: Job, progress: Progress, workers: Workers) -> Answered:
    once = is_read_once(job.queries)  # and therefore not counted before
    if once and workers.size > 1:
        raise SettingError("several workers cannot read the same pipe", "Give --facts a file.")
    total = None if once else sum(1 for _ in _lines(job.queries))
    lines = _lines(job.queries)
    before = _go_on(predictor, job, lines) if workers.is_first else 0
    skipped = int(workers.from_first(b"%d" % before))
    if not workers.is_first:
        next(islice(lines, skipped, skipped), None)
    done, errors = before, 0
    progress(done, total)
    try:
        with _opened(job) if workers.is_first else nullcontext() as file:
            size = _BATCH * workers.size
            while batch := [_read(predictor, number, line) for number, line in islice(lines, size)]:
                stop = None if job.skip else next((i for i, one in enumerate(batch) if one.error), None)
                whole = batch[:stop]
                mine = whole[_BATCH * workers.rank : _BATCH * (workers.rank + 1)]
                answers = workers.bytes_to_first(b"".join(_answers(predictor, job, mine)))
                if file is not None:
                    write_all(file, b"".join(answers))
                done, errors = done + len(whole), errors + sum(one.error is not None for one in whole)
                progress(done, total)
                if stop is not None:
                    raise _at(job.queries, batch[stop])
    except BrokenPipeError:  # the reader has seen enough
        raise
    except OSError as error:
        raise OutputError(f"cannot write {job.out}: {error.strerror or error}") from None
    return Answered(done - before, errors, before)


def _opened(job: Job) -> AbstractContextManager[IO[bytes]]:
    """The output, unbuffered: what is written is safe, even if the process is killed."""
    if job.to_stdout:
        return open(sys.stdout.fileno(), "wb", buffering=0, closefd=False)
    return job.out.open("ab", buffering=0)


def predict_to_table(predictor: Predictor, job: Job, progress: Progress = no_progress) -> Answered:
    """Answer every query of a file, each with one gap, and write a table with a row for each answer."""
    results: list[tuple[int, Prediction | NaryError]] = []
    errors = 0
    lines = _lines(job.queries)
    while batch := [_read_single(predictor, number, line) for number, line in islice(lines, _BATCH)]:
        for line in batch:
            if line.error and not job.skip:
                raise _at(job.queries, line)
        answers = iter(predictor.predict_many([line.query for line in batch if line.query], job.k, job.known))
        results += [(line.number, line.error or next(answers)) for line in batch]
        errors += sum(line.error is not None for line in batch)
        progress(len(results), None)
    write_table(prediction_table(results, job.columns), job.out)
    write_sidecar(job.out, job.about)
    return Answered(len(results), errors, 0)


def unknown_queries(predictor: Predictor, path: Path) -> Iterator[Query]:
    """The queries of a file with names that ``predictor`` does not know; lines that are no queries are left out."""
    for _, line in _lines(path):
        try:
            query = _query(line.decode())
        except (UnicodeDecodeError, NaryError):
            continue
        try:
            predictor.check(query)
        except NaryError:
            yield query


def is_read_once(path: Path) -> bool:
    """Whether the queries come from standard input or a pipe."""
    return str(path) == "-" or path.is_fifo()


def _read_single(predictor: Predictor, number: int, line: bytes) -> "_Line":
    read = _read(predictor, number, line)
    if read.query is None or len(read.query.gaps) == 1:
        return read
    return _Line(number, None, FactError("a table cannot hold answers to several gaps", "Write .jsonl instead."))


@dataclass(frozen=True)
class _Line:
    """A line of the input: a query, or what is wrong with it."""

    number: int
    query: Query | None
    error: NaryError | None = None


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers."""
    with Source(path) as source:
        number = 0
        for chunk in source.chunks():
            for line in chunk.split(b"\n"):
                number += 1
                if line.strip():
                    yield number, line


def _read(predictor: Predictor, number: int, line: bytes) -> _Line:
    try:
        return _Line(number, predictor.check(_query(line.decode())))
    except UnicodeDecodeError:
        return _Line(number, None, FactError("not UTF-8", "Convert the file to UTF-8."))
    except NaryError as error:
        return _Line(number, None, error)


def _query(text: str) -> Query:
    """The query in a line; that of a table, mostly its header, is an error that says how to write queries."""
    fields = max((text.split(separator) for separator in "\t,;"), key=len)
    if len(fields) >= 3 and "|" not in text and not text.lstrip().startswith("{"):
        line = "a header" if is_header([field.strip(' "') for field in fields]) else "a line of a table"
        raise FactError(
            f"{text.strip()!r} is {line}, not a query",
            'Write one query per line: Marie Curie | award received | ?, or JSON: {"subject": ..., "object": "?"}',
        )
    return as_query(parse_line(text))


def _answers(predictor: Predictor, job: Job, lines: Sequence[_Line]) -> Iterator[bytes]:
    """A line of JSON for each: queries with one gap are asked together."""
    single = [line.query for line in lines if line.query and len(line.query.gaps) == 1]
    predictions = iter(predictor.predict_many(single, job.k, job.known))
    for line in lines:
        answer: dict[str, Any]
        if line.error is not None:
            answer = {"error": line.error.as_dict()}
        elif line.query is not None and len(line.query.gaps) > 1:
            answer = predictor.complete(line.query, job.k, job.known).as_dict()
        else:
            answer = next(predictions).as_dict()
        yield orjson.dumps({"line": line.number, **answer}, option=orjson.OPT_APPEND_NEWLINE)


def _at(path: Path, line: _Line) -> NaryError:
    """The error of a line, with its place."""
    if line.error is None:
        raise AssertionError("only lines that are no queries stop the work")
    line.error.file, line.error.line = display_name(path), line.number
    return line.error


def _go_on(predictor: Predictor, job: Job, lines: Iterator[tuple[int, bytes]]) -> int:
    """Step over the lines that have their answer already, and return how many there are."""
    if job.to_stdout:
        return 0
    if not job.out.exists() or not job.out.stat().st_size:
        write_sidecar(job.out, job.about)
        return 0
    try:
        with job.out.open("r+b") as file:
            check_sidecar(job.out, job.about)
            answered, end, last, unfinished = _whole_lines(file)
            reached = next(islice(lines, answered - 1, None), None) if answered else None
            same = not answered or (reached is not None and _identity(last) == _expected(_read(predictor, *reached)))
            if not same or not _begins_like_ours(unfinished):
                raise OutputError(
                    f"{job.out} does not hold answers to {display_name(job.queries)}", "Give another --out."
                )
            file.truncate(end)
            return answered
    except OSError as error:
        raise OutputError(f"cannot write {job.out}: {error.strerror or error}") from None


def _whole_lines(file: IO[bytes]) -> tuple[int, int, bytes, bytes]:
    """How many lines are complete, where they end, the last of them, and what comes after it."""
    count, end, last = 0, 0, b""
    for line in file:
        if not line.endswith(b"\n"):
            return count, end, last, line
        count, end, last = count + 1, end + len(line), line
    return count, end, last, b""


def _begins_like_ours(unfinished: bytes) -> bool:
    """Whether what follows the last complete line is the beginning of a line of answers, and may be written anew."""
    return unfinished.startswith(b'{"line":'[: len(unfinished)])


def _identity(line: bytes) -> object:
    """What a line of answers says it answers: the number of a line, and the query there if it is one."""
    try:
        answer = orjson.loads(line)
        return answer["line"], answer.get("query")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _expected(line: _Line) -> object:
    return line.number, None if line.query is None else str(line.query)
