"""``nary evaluate``: rank the elements of facts that were held out from training."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.launch import launched
from nary.apps.cli.options import Device, Json, NumWorkers, RunPath, Threads
from nary.apps.cli.output import notice, open_data, print_json, say
from nary.errors import OutputError, SettingError
from nary.progress import progress_bar

if TYPE_CHECKING:
    from nary.facts import FactTable
    from nary.runs import TrainedModel


def evaluate(
    run: RunPath,
    data: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", show_default=False, help="Other facts to rank instead of a split of the run."),
    ] = None,
    split: Annotated[str, typer.Option("--split", help="The split to rank.")] = "test",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change the protocol: evaluation.filter=order-free"),
    ] = None,
    candidates: Annotated[
        str | None,
        typer.Option(
            "--candidates",
            metavar="WHICH",
            help="all, or seen: rank subjects and objects only among entities that are a subject or object. "
            "Short for --set evaluation.candidates=...",
        ),
    ] = None,
    given: Annotated[
        str | None,
        typer.Option(
            "--given",
            metavar="HOW MANY",
            help="How many qualifiers a query gives: all, none, at most a number, or curve for several of these. "
            "Short for --set evaluation.given=...",
        ),
    ] = None,
    ranks: Annotated[
        Path | None, typer.Option("--ranks", metavar="FILE", help="Write the rank of every query as JSON Lines.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="FOLDER", help="Also record the result in this folder.")
    ] = None,
    label: Annotated[str, typer.Option("--label", help="With --record: a word to add to the name of the result.")] = "",
    by: Annotated[
        str | None, typer.Option("--by", metavar="WHAT", help="Also show metrics by arity or relation.")
    ] = None,
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="text, csv or latex.")] = "text",
    device: Device = "auto",
    workers: NumWorkers = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Mask every element of the facts of a split in turn, rank the correct answer, and report MRR and Hits@k.

    With --workers, or started by torchrun, each process ranks a share of the queries.

    Example: nary evaluate runs/nobel-gran --given curve
    """
    from nary.config import parse_overrides
    from nary.evaluation.metrics import measure
    from nary.reproduction.records import check_recordable, record_result, recordable_run
    from nary.runs import load_model
    from nary.runs.hub import is_hub_address
    from nary.runs.run_folder import model_path_of
    from nary.workers import joined

    if launched(workers):
        return
    for option, value, expected in (("--to", to, ("text", "csv", "latex")), ("--by", by, (None, "arity", "relation"))):
        if value not in expected:
            raise SettingError(f"{option} {value}", f"Expected {' or '.join(name for name in expected if name)}.")
    if record is not None and data is not None:
        raise SettingError("--record needs the run's own data", "Leave DATA out.")
    loaded = load_model(run, device)
    names = loaded.dataset.vocabulary
    if data is None:
        notes: list[str] = []
        source, table = loaded.dataset.name, loaded.dataset[split]
    else:
        source, table, notes = _other_facts(data, split, loaded)
    overrides = parse_overrides([*(set_ or []), *([] if given is None else [f"evaluation.given={given}"])])
    if candidates is not None:
        overrides["evaluation.candidates"] = candidates
    protocol = loaded.protocol(overrides)
    if record is not None:
        recordable_run(run)
        check_recordable(loaded.recipe, split, protocol, record, label)
    with joined() as group, progress_bar("Ranking", show=not json and group.is_first) as progress:
        report, ranking = loaded.rank(table, protocol=protocol, progress=progress, workers=group)
    if not group.is_first:
        return
    report = replace(report, dataset=source, split=split, notes=[*notes, *report.notes])
    plain = report
    if by is not None:
        relations = names.relations if by == "relation" else None
        report = replace(report, metrics=measure(ranking, by_arity=by == "arity", relations=relations))
    if data is None and not is_hub_address(run):
        try:
            loaded.add_report(report, model_path_of(run))
        except OutputError as error:  # the figures are right all the same
            notice(f"the report was not fully stored in the model folder: {error.message}")
    if record is not None:
        notice(f"recorded {record_result(recordable_run(run), loaded, plain, record, label)}")
    if ranks is not None:
        ranking.write_jsonl(ranks, table, names)
    if json:
        print_json(report.as_dict())
    else:
        say({"text": report.table, "csv": report.csv, "latex": report.latex}[to]().removesuffix("\n"))


def _other_facts(data: str, split: str, model: "TrainedModel") -> tuple[str, "FactTable", list[str]]:
    """The name of ``data``, its facts under the ids of the run, and notes; a file without splits is ranked whole."""
    from nary.data.transforms.reindex import reindex

    dataset = open_data(data, quiet=True)
    facts = dataset.train if set(dataset.splits) == {"train"} else dataset[split]
    return dataset.name, *reindex(model.without_unused_qualifiers(facts), dataset.vocabulary, model.dataset.vocabulary)
