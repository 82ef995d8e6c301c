"""``nary predict``: fill in what is missing, in one query or in a file of them."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.evaluate import Run
from nary.apps.cli.options import Json, OnError, OnErrorOption
from nary.apps.cli.output import notice, print_json, print_table, progress_bar
from nary.errors import SettingError

if TYPE_CHECKING:
    from nary.inference.batch import Job
    from nary.inference.predictor import Predictor
    from nary.inference.results import Completions, Prediction

Answers = Annotated[int, typer.Option("-k", help="How many answers.")]


class KnownAnswer(StrEnum):
    """What to do with answers that make a known fact."""

    mark = "mark"
    hide = "hide"
    only = "only"


def predict(
    run: Run,
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="[QUERY]",
            show_default=False,
            help="subject | relation | object | attribute: value | ..., with ? for each element to fill in.",
        ),
    ] = None,
    k: Answers = 10,
    known: Annotated[
        KnownAnswer, typer.Option("--known", help="Mark answers that make a known fact, hide them, or show only them.")
    ] = KnownAnswer.mark,
    facts: Annotated[
        Path | None,
        typer.Option("--facts", metavar="FILE", help="Many queries, one a line: JSON with ? for the gap, or as QUERY."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="With --facts: the answers as JSON Lines; goes on with what is there."
        ),
    ] = None,
    on_error: OnErrorOption = OnError.stop,
    json: Json = False,
) -> None:
    """Answer a query: the best candidates for its gap, with their probability; known answers are marked.

    With several gaps, the best ways to fill them all (experimental).

    Example: nary predict runs/nobel-gran "Marie Curie | award received | ? | point in time: 1911"
    """
    from nary.inference.batch import Job
    from nary.runs import load_run

    if (query is None) == (facts is None) or (facts is None) != (out is None):
        raise SettingError("give either a QUERY, or --facts FILE and --out FILE", "See: nary predict --help")
    predictor = load_run(run).predictor
    if facts is not None and out is not None:
        _answer_file(predictor, Job(facts, out, k, known.value, on_error is OnError.skip), json)
    elif query is not None:
        _answer(predictor, query, k, known, json)


def _answer(predictor: "Predictor", query: str, k: int, known: KnownAnswer, json: bool) -> None:
    from nary.facts import parse_query
    from nary.inference.results import Completions

    asked = parse_query(query)
    predict = predictor.complete if len(asked.gaps) > 1 else predictor.predict
    found = predict(asked, k, known.value)
    if json:
        print_json(found.as_dict())
        return
    for note in found.notes:
        notice(note)
    if isinstance(found, Completions):
        _print_completions(found)
    else:
        _print_prediction(found)


def _print_prediction(found: "Prediction") -> None:
    rows = [
        [answer.label, f"{answer.probability:.1%}", f"{answer.score:.2f}", "known" if answer.known else ""]
        for answer in found.answers
    ]
    print_table(f"{found.query}   ({found.position})", ["answer", "probability", "score", ""], rows)


def _print_completions(found: "Completions") -> None:
    notice("filling several gaps at once is experimental")
    rows = [
        [
            *(element.label for element in answer.elements),
            f"{answer.probability:.2%}",
            "known" if answer.known else "",
        ]
        for answer in found.answers
    ]
    print_table(found.query, [*found.positions, "probability", ""], rows)


def _answer_file(predictor: "Predictor", job: "Job", json: bool) -> None:
    from nary.inference.batch import predict_file

    with progress_bar("Answering", show=not json) as progress:
        done = predict_file(predictor, job, progress)
    if json:
        print_json({"out": str(job.out), "lines": done.total, "before": done.before, "errors": done.errors})
        return
    if done.before and not done.written:
        typer.echo(f"{job.out} is complete: {done.total:,} lines.")
        return
    before = f", {done.before:,} of them from before" if done.before else ""
    typer.echo(f"{job.out}: {done.total:,} lines{before}.")
    if done.errors:
        notice(f"{done.errors:,} lines are no queries; their errors stand in their places")
