"""``nary score``: how plausible facts are, and which of their elements are odd."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Device, RunPath, Threads, Unseen, is_one_fact
from nary.apps.cli.output import known_by, notice, open_data, print_json, print_table
from nary.errors import SettingError
from nary.progress import progress_bar

if TYPE_CHECKING:
    from nary.facts import Fact, FactTable, Vocabulary
    from nary.inference.predictor import Predictor
    from nary.inference.results import Plausibility
    from nary.runs import TrainedModel

_SHOWN = 10


def score(
    run: RunPath,
    facts: Annotated[
        str,
        typer.Argument(
            metavar="FACTS",
            show_default=False,
            help="One fact, subject | relation | object | ..., or any DATA: a dataset, a file, a folder.",
        ),
    ],
    split: Annotated[str | None, typer.Option("--split", help="Only the facts of this split of DATA.")] = None,
    worst: Annotated[
        int | None,
        typer.Option("--worst", metavar="N", help="The N least plausible facts, worst first (the table shows 10)."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="Write the scores as a table, .csv or .parquet, to join with FACTS."
        ),
    ] = None,
    unseen: Unseen = False,
    device: Device = "auto",
    threads: Threads = None,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON object a fact, in the order of FACTS.")] = False,
) -> None:
    """Tell how probable it is that facts are true, which element fits least, and what was expected in its place.

    Example: nary score runs/nobel-gran my-facts.jsonl --worst 20
    """
    from nary.runs import load_model

    if worst is not None and worst < 1:
        raise SettingError(f"--worst {worst}", "Ask for one or more.")
    loaded = load_model(run, device)
    given = _read(facts, split)
    if unseen or loaded.module.embeds_values:
        statements = [*given[0].facts(given[1])] if isinstance(given, tuple) else [given]
        loaded = loaded.with_unseen_names(statements, only_values=not unseen)
    table = _table(loaded, given)
    with progress_bar("Scoring", show=not json) as progress:
        scores = loaded.predictor.score_table(table, progress)
    if out is not None:
        _write(scores, facts, out)
    if worst is not None or not json:
        scores = sorted(scores, key=lambda one: one.plausibility)[: worst or _SHOWN]
    if json:
        for one in scores:
            print_json(one.as_dict())
    else:
        _print(loaded.predictor, scores, len(table))


def _read(facts: str, split: str | None) -> "tuple[FactTable, Vocabulary] | Fact":
    """One fact, or a table of facts with their names."""
    from nary.facts import parse_fact

    if is_one_fact(facts):
        return parse_fact(facts)
    dataset = open_data(facts, quiet=True)
    return dataset[split] if split else dataset.facts, dataset.vocabulary


def _table(loaded: "TrainedModel", given: "tuple[FactTable, Vocabulary] | Fact") -> "FactTable":
    """The facts under the ids of the run; those with names it does not know are left out, with a note."""
    from nary.data.transforms.reindex import reindex
    from nary.facts import Fact, FactTable

    if isinstance(given, Fact):
        return FactTable.from_facts([loaded.predictor.names.resolve(given)], loaded.vocabulary)
    table, notes = reindex(*given, loaded.vocabulary)
    for note in notes:
        notice(note)
    return table


def _write(scores: "list[Plausibility]", facts: str, out: Path) -> None:
    from nary.inference.export.tables import column_names, score_table, write_table

    write_table(score_table(scores, column_names(Path(facts))), out)
    notice(f"wrote {len(scores):,} scores to {out}")


def _print(predictor: "Predictor", scores: "list[Plausibility]", total: int) -> None:
    from nary.facts import Position, parse_fact

    for note in dict.fromkeys(note for one in scores for note in one.notes):
        notice(note)
    odd = [one.elements[0] for one in scores]
    facts = [parse_fact(one.fact) for one in scores]
    queries = [fact.query(Position.parse(element.position)) for fact, element in zip(facts, odd, strict=True)]
    expected = [prediction.answers[0] for prediction in predictor.predict_many(queries, k=1, known="mark")]
    rows = [
        [
            f"{one.plausibility:.1%}",
            predictor.names.labeled(fact),
            f"{element.position}: {element.label} (rank {element.rank:,g})",
            "itself" if answer.name == element.name else f"{answer.label} ({answer.probability:.1%})",
            known_by(one, one.fact),
        ]
        for one, fact, element, answer in zip(scores, facts, odd, expected, strict=True)
    ]
    title = f"The {len(rows):,} least plausible of {total:,} facts" if total > len(rows) else ""
    print_table(title, ["plausible", "fact", "fits least", "expected there", "known from"], rows)
