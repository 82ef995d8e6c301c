"""``nary reproduce``: train and record the experiments of the results page."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Json
from nary.apps.cli.output import notice, open_data, print_json, print_table, say
from nary.apps.cli.training_bar import TrainingBar
from nary.progress import progress_bar
from nary.threads import available_cores

if TYPE_CHECKING:
    from nary.reproduction.experiments import Experiment
    from nary.reproduction.queue import Job

_CURVE_SHOWN = 6  # the newest validations


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TABLE|NAME|FILE|queue]...",
            show_default=False,
            help="Tables, recipes such as gran/jf17k-4-fast, recipe files, or queue for the rows of queue.toml in the "
            "folder of results; trained in this order.",
        ),
    ] = None,
    seeds: Annotated[
        str, typer.Option("--seeds", metavar="N,N,...", help="Train once with each seed; queue.toml has its own seeds.")
    ] = "0",
    workers: Annotated[
        int,
        typer.Option(
            "--workers", metavar="N", min=1, help="How many rows to train in parallel; by default one per core."
        ),
    ] = available_cores(),
    status: Annotated[
        bool,
        typer.Option("--status", help="Show the progress of each row (by default of the queue), without running any."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the jobs without running them.")] = False,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The folder of runs.")] = Path("runs"),
    results: Annotated[Path, typer.Option("--results", metavar="FOLDER", help="The folder of result records.")] = Path(
        "results"
    ),
    json: Json = False,
) -> None:
    """Train, evaluate and record rows of the results page; without names, list all tables and recorded rows.

    Several rows are trained in parallel, each with one thread. Recorded results are skipped. After Ctrl-C or a crash,
    run the same command again to resume, also on another machine with a copy of the folder of runs.

    Example: nary reproduce gran/jf17k-4-fast --seeds 0,1,2
    """
    from nary.reproduction.queue import parse_seeds, plan

    chosen_seeds = parse_seeds(seeds)
    if not names and not status:
        _list_tables(chosen_seeds, out, results, json)
        return
    experiments = _experiments(names or ["queue"], chosen_seeds, results)
    jobs = plan(experiments, out, results)
    if status:
        _print_status(jobs, out, workers, json)
        return
    failed = 0
    if not dry_run:
        failed = _run_all(jobs, out, results, workers, json)
        jobs = plan(experiments, out, results)
    if json:
        print_json([job.as_dict() for job in jobs])
    else:
        _print_jobs("", jobs)
    if failed:
        raise typer.Exit(1)


def _experiments(names: list[str], seeds: list[int], results: Path) -> "list[Experiment]":
    from nary.reproduction.experiments import find_experiments
    from nary.reproduction.queue import QUEUE, read_queue, with_seeds

    chosen: list[Experiment] = []
    for name in names:
        chosen += read_queue(results / QUEUE) if name == "queue" else with_seeds(find_experiments([name]), seeds)
    return list({(one.name, one.seed): one for one in chosen}.values())


def _list_tables(seeds: list[int], out: Path, results: Path, json: bool) -> None:
    from nary.reproduction.experiments import RESULT_TABLES, all_experiments, experiments_in
    from nary.reproduction.queue import plan, with_seeds

    listed = {table.name: (table.title, experiments_in(table)) for table in RESULT_TABLES}
    others = [experiment for experiment in all_experiments().values() if experiment.label]
    listed["other settings"] = ("Run these by name", others)
    planned = {
        name: (title, plan(with_seeds(experiments, seeds), out, results))
        for name, (title, experiments) in listed.items()
    }
    if json:
        print_json({name: [job.as_dict() for job in jobs] for name, (_, jobs) in planned.items()})
        return
    for name, (title, jobs) in planned.items():
        _print_jobs(f"{name}: {title}", jobs)
        say()
    say("Run one: nary reproduce NAME; a whole table: nary reproduce TABLE")


def _print_jobs(title: str, jobs: "list[Job]") -> None:
    rows = [[job.experiment.name, job.experiment.seed, job.state, _time(job.seconds)] for job in jobs]
    print_table(title, ["name", "seed", "state", "training time"], rows)


def _print_status(jobs: "list[Job]", out: Path, workers: int, json: bool) -> None:
    from nary.reproduction.status import status_of

    statuses = status_of(jobs, out, workers)
    if json:
        print_json([one.as_dict() for one in statuses])
        return
    rows = []
    for one in statuses:
        curve = " ".join(f"{mrr:.3f}" for _, mrr in one.curve[-_CURVE_SHOWN:])
        epochs = f"{one.epoch:.1f} of {one.epochs}"
        name, seed = one.job.experiment.name, one.job.experiment.seed
        rows.append([name, seed, one.job.state, epochs, curve or "–", _end(one.ends_in)])
    print_table("", ["name", "seed", "state", "epoch", "valid MRR", "expected end"], rows)


def _run_all(jobs: "list[Job]", out: Path, results: Path, workers: int, quiet: bool) -> int:
    """Run the pending jobs and return how many failed; a single job gets all threads and a progress bar."""
    pending = [job for job in jobs if job.pending]
    for job in pending:
        if (record := results / f"{job.path}.json").is_file():
            notice(f"{record} was made with other settings and will be replaced")
    if min(workers, len(pending)) > 1:
        return _run_side_by_side(pending, out, results, workers, quiet)
    for number, job in enumerate(jobs, 1):
        if job.pending:
            notice(f"{number} of {len(jobs)}: {job.title}, in {out / job.path}")
            _run(job, out, results, quiet)
    return 0


def _run_side_by_side(jobs: "list[Job]", out: Path, results: Path, workers: int, quiet: bool) -> int:
    from nary.apps.cli.job_bars import job_bars
    from nary.reproduction.workers import run_jobs
    from nary.runs import InterruptedRun

    notice(f"{len(jobs)} trainings, {workers} at a time; see how far they are with: nary reproduce --status")
    failed = 0
    try:
        with job_bars(out, show=not quiet) as watch:
            for event in run_jobs(jobs, out, results, workers, watch):
                notice(": ".join(part for part in (f"{event.kind} {event.job.title}", event.detail) if part))
                failed += event.kind == "failed"
    except KeyboardInterrupt:
        raise InterruptedRun("stopped; all trainings are saved", "Run the same command again to resume.") from None
    return failed


def _run(job: "Job", out: Path, results: Path, quiet: bool) -> None:
    from nary.reproduction.claims import claim
    from nary.reproduction.queue import record_job, train_job
    from nary.runs import InterruptedRun

    with claim(out / job.path) as claimed:
        if not claimed:
            notice(f"skipped {job.title}: another process works on it")
            return
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


def _end(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{datetime.now() + timedelta(seconds=seconds):%Y-%m-%d %H:%M}"
