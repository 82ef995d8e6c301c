"""``nary reproduce``: train and record the experiments of the results page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Json
from nary.apps.cli.output import notice, open_data, print_json, print_table, progress_bar
from nary.apps.cli.training_bar import TrainingBar

if TYPE_CHECKING:
    from nary.reproduction.queue import Job


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TABLE|NAME]...", show_default=False, help="Tables, or recipes such as gran/jf17k-4-fast."
        ),
    ] = None,
    seeds: Annotated[str, typer.Option("--seeds", metavar="N,N,...", help="Train once for each seed.")] = "0",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the jobs without running them.")] = False,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The folder of runs.")] = Path("runs"),
    results: Annotated[Path, typer.Option("--results", metavar="FOLDER", help="The folder of result records.")] = Path(
        "results"
    ),
    json: Json = False,
) -> None:
    """Train, evaluate and record rows of the results page; without names, list all tables and what is recorded.

    Recorded results are skipped. After Ctrl-C, run the same command again to resume.

    Example: nary reproduce gran/jf17k-4-fast --seeds 0,1,2
    """
    from nary.reproduction.experiments import find_experiments
    from nary.reproduction.queue import parse_seeds, plan

    chosen_seeds = parse_seeds(seeds)
    if not names:
        _list_tables(chosen_seeds, out, results, json)
        return
    experiments = find_experiments(names)
    jobs = plan(experiments, chosen_seeds, out, results)
    if not dry_run:
        for number, job in enumerate(jobs, 1):
            if job.pending:
                notice(f"{number} of {len(jobs)}: {job.experiment.name}, seed {job.seed}, in {out / job.path}")
                _run(job, out, results, quiet=json)
        jobs = plan(experiments, chosen_seeds, out, results)
    if json:
        print_json([job.as_dict() for job in jobs])
    else:
        _print_jobs("", jobs)


def _list_tables(seeds: list[int], out: Path, results: Path, json: bool) -> None:
    from nary.reproduction.experiments import RESULT_TABLES, all_experiments, experiments_in
    from nary.reproduction.queue import plan

    listed = {table.name: (table.title, experiments_in(table)) for table in RESULT_TABLES}
    others = [experiment for experiment in all_experiments().values() if experiment.label]
    listed["other settings"] = ("Run these by name", others)
    planned = {name: (title, plan(experiments, seeds, out, results)) for name, (title, experiments) in listed.items()}
    if json:
        print_json({name: [job.as_dict() for job in jobs] for name, (_, jobs) in planned.items()})
        return
    for name, (title, jobs) in planned.items():
        _print_jobs(f"{name}: {title}", jobs)
        typer.echo()
    typer.echo("Run one: nary reproduce NAME; a whole table: nary reproduce TABLE")


def _print_jobs(title: str, jobs: "list[Job]") -> None:
    rows = [[job.experiment.name, job.seed, job.state, _time(job.seconds)] for job in jobs]
    print_table(title, ["name", "seed", "state", "training time"], rows)


def _run(job: "Job", out: Path, results: Path, quiet: bool) -> None:
    from nary.reproduction.queue import record_job, train_job
    from nary.runs import InterruptedRun

    if (record := results / f"{job.path}.json").is_file():
        notice(f"{record} was made with other settings and will be replaced")
    try:
        with TrainingBar(show=not quiet) as bar:
            result = train_job(job, out, lambda: open_data(job.experiment.dataset, quiet=quiet), [bar])
    except InterruptedRun as interrupted:
        raise InterruptedRun(interrupted.message, "Run the same command again to resume.") from None
    with progress_bar("Ranking", show=not quiet) as progress:
        notice(f"recorded {record_job(job, result, results, progress)}")


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min"
