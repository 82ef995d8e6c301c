"""``nary score``: how plausible facts are, and which of their elements fit least."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Device, RunPath, Threads, Unseen, is_one_fact
from nary.apps.cli.output import known_by, notice, open_data, print_json, print_table
from nary.errors import DataError, NaryError, SettingError
from nary.progress import progress_bar
from nary.wording import counted

if TYPE_CHECKING:
    from nary.facts import FactTable, Vocabulary
    from nary.inference.predictor import Predictor
    from nary.inference.results import Plausibility
    from nary.inference.scoring import Place, ScoredFact

_SHOWN = 10
_EXAMPLES = 3


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
        typer.Option(
            "--worst", metavar="N", help="Only the N least plausible facts, worst first (10 by default in the table)."
        ),
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
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per fact, in the order of FACTS.")
    ] = False,
) -> None:
    """Score the plausibility of facts, and show the element that fits least and the expected one.

    Example: nary score runs/nobel-gran my-facts.jsonl --worst 20
    """
    from nary.inference.export.tables import check_table_name, column_names, score_table, write_table
    from nary.inference.scoring import score_facts
    from nary.inference.sidecar import write_sidecar
    from nary.runs import load_model

    if worst is not None and worst < 1:
        raise SettingError(f"--worst {worst}", "Ask for one or more.")
    if out is not None:
        check_table_name(out)
    loaded = load_model(run, device)
    table, names, places = _read(facts, split)
    if unseen or loaded.module.embeds_values:
        loaded = loaded.with_unseen_names([*table.facts(names)], only_values=not unseen)
    predictor = loaded.predictor
    with progress_bar("Scoring", show=not json) as progress:
        scored = score_facts(predictor, *_resolved(predictor, table, names, facts), places, progress)
    _check(scored)
    if out is not None:
        write_table(score_table(scored, column_names(Path(facts))), out)
        write_sidecar(out, {"model": loaded.fingerprint})
        notice(f"wrote {counted(len(scored), 'fact')} to {out}")
    if json and worst is None:
        for one in scored:
            print_json(one.as_dict())
        return
    with_score = [(one, one.score) for one in scored if not isinstance(one.score, NaryError)]
    ranked = sorted(with_score, key=lambda pair: pair[1].plausibility)[: worst or _SHOWN]
    if json:
        for one, _ in ranked:
            print_json(one.as_dict())
    else:
        _print(predictor, ranked, len(with_score))


def _read(facts: str, split: str | None) -> "tuple[FactTable, Vocabulary, list[Place] | None]":
    """One fact, or those of a dataset, with their names and, if they are in files, their places."""
    from nary.data.catalog import is_dataset
    from nary.data.dataset import Dataset
    from nary.data.io.reader import read_with_places
    from nary.facts import parse_fact

    if is_one_fact(facts):
        one = Dataset.from_facts("fact", {"train": [parse_fact(facts)]})
        return one.train, one.vocabulary, None
    if is_dataset(facts) or not (facts == "-" or os.path.exists(facts)):  # noqa: PTH110 (Path.exists raises for long ones)
        dataset = open_data(facts, quiet=True)
        return dataset[split] if split else dataset.facts, dataset.vocabulary, None
    dataset, places = read_with_places(facts)
    for note in dataset.notes:
        notice(note)
    splits = [split] if split else list(dataset.splits)
    table = dataset[split] if split else dataset.facts
    return table, dataset.vocabulary, [place for one in splits for place in places.of(one)]


def _resolved(
    predictor: "Predictor", table: "FactTable", names: "Vocabulary", facts: str
) -> "tuple[FactTable, Vocabulary]":
    """A single fact may give labels, or names in another case."""
    from nary.facts import FactTable

    if not is_one_fact(facts):
        return table, names
    resolved = [predictor.names.resolve(fact) for fact in table.facts(names)]
    return FactTable.from_facts(resolved, predictor.context.vocabulary), predictor.context.vocabulary


def _check(scored: "list[ScoredFact]") -> None:
    """Say how many facts have no score; an error if none has one."""
    reasons = [one.score.message for one in scored if isinstance(one.score, NaryError)]
    if len(reasons) == len(scored):
        raise DataError(
            f"every fact has an unknown name, such as {reasons[0].partition(' ')[2]}",
            "Add new names with nary update, or treat them as averages with --unseen.",
        )
    if reasons:
        examples = ", ".join(dict.fromkeys(reasons[:_EXAMPLES]))
        more = ", ..." if len(reasons) > _EXAMPLES else ""
        notice(f"{counted(len(reasons), 'fact has', 'facts have')} no score: {examples}{more}")


def _print(predictor: "Predictor", ranked: "list[tuple[ScoredFact, Plausibility]]", total: int) -> None:
    from nary.facts import Position, parse_fact

    for note in dict.fromkeys(note for _, score in ranked for note in score.notes):
        notice(note)
    odd = [score.elements[0] for _, score in ranked]
    facts = [parse_fact(score.fact) for _, score in ranked]
    queries = [fact.query(Position.parse(element.position)) for fact, element in zip(facts, odd, strict=True)]
    expected = [prediction.answers[0] for prediction in predictor.predict_many(queries, k=1, known="mark")]
    placed = any(one.place for one, _ in ranked)
    rows = [
        [
            f"{score.plausibility:.1%}",
            predictor.names.labeled(fact),
            f"{element.position}: {element.label} (rank {element.rank:,g})",
            "itself" if answer.name == element.name else f"{answer.label} ({answer.probability:.1%})",
            known_by(score, score.fact),
            *(["" if one.place is None else f"{one.place[0]}:{one.place[1]}"] if placed else []),
        ]
        for (one, score), fact, element, answer in zip(ranked, facts, odd, expected, strict=True)
    ]
    title = f"The {len(rows):,} least plausible of {total:,} facts" if total > len(rows) else ""
    titles = ["plausibility", "fact", "worst element", "predicted", "known from", *(["line"] if placed else [])]
    print_table(title, titles, rows)
