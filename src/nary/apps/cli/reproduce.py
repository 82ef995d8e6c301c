"""``nary reproduce``: make rows of the tables of results."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.opening import open_data
from nary.apps.cli.options import Json, OnError
from nary.apps.cli.output import notice, print_json, print_table, progress_bar
from nary.apps.cli.training_bar import TrainingBar

if TYPE_CHECKING:
    from nary.runs.reproduce import Job


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TABLE|NAME]...", show_default=False, help="Tables, or recipes such as gran/jf17k-4-fast."
        ),
    ] = None,
    seeds: Annotated[str, typer.Option("--seeds", metavar="N,N,...", help="One training for each seed.")] = "0",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be done.")] = False,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the runs go.")] = Path("runs"),
    results: Annotated[Path, typer.Option("--results", metavar="FOLDER", help="Where results are recorded.")] = Path(
        "results"
    ),
    json: Json = False,
) -> None:
    """Train, evaluate and record rows of the tables of results; without a name, list them and what is recorded.

    What is recorded already is passed over, and after Ctrl-C the same command goes on.

    Example: nary reproduce gran/jf17k-4-fast --seeds 0,1,2
    """
    from nary.runs.reproduce import find_rows, parse_seeds, plan

    chosen = parse_seeds(seeds)
    if not names:
        _list_tables(chosen, out, results, json)
        return
    rows = find_rows(names)
    jobs = plan(rows, chosen, out, results)
    if not dry_run:
        for number, job in enumerate(jobs, 1):
            if job.open:
                notice(f"{number} of {len(jobs)}: {job.row.name}, seed {job.seed}, in {out / job.place}")
                _do(job, out, results, quiet=json)
        jobs = plan(rows, chosen, out, results)
    if json:
        print_json([job.as_dict() for job in jobs])
    else:
        _print_jobs("", jobs)


def _list_tables(seeds: list[int], out: Path, results: Path, json: bool) -> None:
    from nary.runs.reproduce import plan
    from nary.runs.tables import TABLES, all_rows, rows_of

    listed = {table.name: (table.title, rows_of(table)) for table in TABLES}
    others = [row for row in all_rows().values() if row.label]
    listed["other settings"] = ("Ask for these by their names", others)
    planned = {name: (title, plan(rows, seeds, out, results)) for name, (title, rows) in listed.items()}
    if json:
        print_json({name: [job.as_dict() for job in jobs] for name, (_, jobs) in planned.items()})
        return
    for name, (title, jobs) in planned.items():
        _print_jobs(f"{name}: {title}", jobs)
        typer.echo()
    typer.echo("Make one: nary reproduce NAME; a whole table: nary reproduce TABLE")


def _print_jobs(title: str, jobs: "list[Job]") -> None:
    rows = [[job.row.name, job.seed, job.state, _time(job.seconds)] for job in jobs]
    print_table(title, ["row", "seed", "state", "training takes"], rows)


def _do(job: "Job", out: Path, results: Path, quiet: bool) -> None:
    from nary.runs import InterruptedRun, train_run
    from nary.runs.reproduce import record, run_of

    if (before := results / f"{job.place}.json").is_file():
        notice(f"{before} was made with other settings and will be replaced")
    run = run_of(job, out, lambda: open_data(job.row.dataset, None, OnError.stop, quiet))
    try:
        with TrainingBar(show=not quiet) as bar:
            run = train_run(run, [bar]).run
    except InterruptedRun as interrupted:
        raise InterruptedRun(interrupted.message, "The same command goes on.") from None
    with progress_bar("Ranking", show=not quiet) as progress:
        notice(f"recorded {record(job, run, results, progress)}")


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min"
