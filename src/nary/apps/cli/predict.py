"""``nary predict``: predict missing elements, for one query or a file of queries."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.launch import in_several, launched
from nary.apps.cli.options import (
    Answers,
    Device,
    Json,
    KnownAnswer,
    KnownOption,
    NumWorkers,
    OnError,
    OnErrorOption,
    RunPath,
    Threads,
    Unseen,
)
from nary.apps.cli.output import known_by, notice, print_json, print_table, say
from nary.errors import SettingError
from nary.progress import progress_bar
from nary.wording import counted

if TYPE_CHECKING:
    from nary.inference.batch import Job
    from nary.inference.predictor import Predictor
    from nary.inference.results import Completions, Prediction


def predict(
    run: RunPath,
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="[QUERY]",
            show_default=False,
            help="subject | relation | object | attribute: value | ..., with ? for each missing element.",
        ),
    ] = None,
    k: Answers = 10,
    known: KnownOption = KnownAnswer.first,
    facts: Annotated[
        Path | None,
        typer.Option(
            "--facts", metavar="FILE", help="A file with one query per line, as JSON with ? for the gap or as QUERY."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="With --facts: a file for the answers as JSON Lines, continued if it exists, - for standard output, "
            "or a .csv or .parquet table.",
        ),
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(
            "--like",
            metavar="DATA",
            help="Name the columns of the table as in the graph that this folder was imported from.",
        ),
    ] = None,
    on_error: OnErrorOption = OnError.stop,
    unseen: Unseen = False,
    device: Device = "auto",
    workers: NumWorkers = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Answer a query: list the answers found in stored facts, then the model's best candidates, with probabilities.

    An answer is known if a stored fact contains the query with this answer; the fact is shown.

    For several gaps, predict the best ways to fill them all (experimental).

    With --facts and --workers, or if started by torchrun, processes share the queries of the file.

    Every answer to --facts has the line number of its query. OUT.meta.json records the model and options; a file with
    answers from another model or with other options is not continued.

    Example: nary predict runs/nobel-gran --facts questions.jsonl --out - | head

    Example: nary predict runs/nobel-gran "Marie Curie | award received | ? | point in time: 1911"
    """
    from nary.data.importers.mapping import FILE as MAPPING
    from nary.inference.batch import Job, is_read_once, unknown_queries
    from nary.inference.export.tables import LINES, PARTS, check_table_name, column_names, is_table
    from nary.runs import load_model

    if (query is None) == (facts is None) or (facts is None) != (out is None):
        raise SettingError("give either a QUERY, or --facts FILE and --out FILE", "See: nary predict --help")
    if out is not None:
        check_table_name(out, LINES)
    if unseen and facts is not None and is_read_once(facts):
        raise SettingError("--unseen reads the queries twice, and a pipe cannot be", "Give --facts a file.")
    if in_several(workers) and (out is None or is_table(out)):
        raise SettingError("several workers answer --facts and write JSON Lines", "Give --out a name with .jsonl.")
    if like is not None and (out is None or not is_table(out)):
        raise SettingError("--like names the columns of a table", "Give --out a name with .csv or .parquet.")
    if like is not None and not (like / MAPPING).is_file():
        raise SettingError(f"{like} has no {MAPPING}", "Give a folder that nary import made of tables.")
    if launched(workers):
        return
    loaded = load_model(run, device)
    if facts is not None and out is not None:
        columns = PARTS if like is None else column_names(like)
        job = Job(facts, out, k, known.value, on_error is OnError.skip, loaded.fingerprint, columns)
        if (unseen or loaded.module.embeds_values) and not is_read_once(facts):
            queries = [*unknown_queries(loaded.predictor, facts)]
            loaded = loaded.with_unseen_names(queries, only_values=not unseen)
        _answer_file(loaded.predictor, job, json)
    elif query is not None:
        loaded = loaded.with_unseen_names([query], only_values=not unseen)
        _answer(loaded.predictor, query, k, known, json)


def _answer(predictor: "Predictor", query: str, k: int, known: KnownAnswer, json: bool) -> None:
    from nary.facts import parse_query

    parsed = parse_query(query)
    if len(parsed.gaps) > 1:
        completions = predictor.complete(parsed, k, known.value)
        print_json(completions.as_dict()) if json else _print_completions(completions)
    else:
        prediction = predictor.predict(parsed, k, known.value)
        print_json(prediction.as_dict()) if json else _print_prediction(prediction)


def _print_prediction(prediction: "Prediction") -> None:
    for note in prediction.notes:
        notice(note)
    rows = [
        [answer.label, f"{answer.probability:.1%}", f"{answer.score:.2f}", known_by(answer)]
        for answer in prediction.answers
    ]
    print_table(f"{prediction.query}   ({prediction.position})", ["answer", "probability", "score", "known from"], rows)
    if prediction.value is not None:
        say(f"\nvalue: {prediction.value.label}")
    _count_hidden(prediction)


def _print_completions(completions: "Completions") -> None:
    for note in completions.notes:
        notice(note)
    notice("filling several gaps at once is experimental")
    rows = [
        [
            *(element.label for element in answer.elements),
            f"{answer.probability:.2%}",
            known_by(answer, answer.fact),
        ]
        for answer in completions.answers
    ]
    print_table(completions.query, [*completions.positions, "probability", "known from"], rows)
    _count_hidden(completions)


def _count_hidden(result: "Prediction | Completions") -> None:
    """Say so if stored answers leave no room for predictions."""
    if result.answers and all(answer.known for answer in result.answers) and result.matches > len(result.answers):
        stored = counted(result.matches, "stored fact matches", "stored facts match")
        notice(f"{stored}; --known hide shows predictions, nary facts lists all facts")


def _answer_file(predictor: "Predictor", job: "Job", json: bool) -> None:
    from nary.inference.batch import predict_file, predict_to_table
    from nary.inference.export.tables import is_table
    from nary.workers import joined

    with joined() as group, progress_bar("Answering", show=not json and group.is_first) as progress:
        if is_table(job.out):
            done = predict_to_table(predictor, job, progress)
        else:
            done = predict_file(predictor, job, progress, group)
    if not group.is_first:
        return
    if job.to_stdout:
        notice(f"{counted(done.total, 'line')}, {done.errors:,} of them errors")
        return
    if json:
        print_json({"out": str(job.out), "lines": done.total, "before": done.before, "errors": done.errors})
        return
    if done.before and not done.written:
        say(f"{job.out} is complete: {counted(done.total, 'line')}.")
        return
    before = f", {done.before:,} of them already there" if done.before else ""
    say(f"{job.out}: {counted(done.total, 'line')}{before}.")
    if done.errors:
        notice(f"{counted(done.errors, 'line is no query', 'lines are no queries')}; their errors are in the output")
