"""Making rows of the tables of results: what is to do, what it will cost, and doing it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any, Literal

from nary.data import catalog
from nary.data.catalog.locate import find
from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.progress import Progress, no_progress
from nary.recipe import recipe_from
from nary.runs.results import FORMAT, read_results, record_result
from nary.runs.resuming import seedless, start_or_resume
from nary.runs.run import RECIPE, Run
from nary.runs.tables import TABLES, Row, find_row, rows_of

State = Literal["recorded", "started", "to do", "incomplete data"]


@dataclass(frozen=True)
class Job:
    """One training of a row, and what is known of it."""

    row: Row
    """With the seed of this training."""
    state: State
    seconds: float | None
    """What such a training took before; None where nobody knows."""

    @property
    def seed(self) -> int:
        """Its seed."""
        return self.row.recipe.training.seed

    @property
    def place(self) -> Path:
        """Where its run and its result are, below the folder of runs and below that of results."""
        return Path(self.row.dataset) / f"{self.row.file}-seed{self.seed}"

    @property
    def open(self) -> bool:
        """Whether there is something to do that can be done; facts that are incomplete reproduce nothing."""
        return self.state in ("started", "to do")

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        own = {"row": self.row.name, "dataset": self.row.dataset, "seed": self.seed}
        return {**own, "state": self.state, "seconds": self.seconds}


def find_rows(names: Sequence[str]) -> list[Row]:
    """The rows that tables and rows of these names mean, each once."""
    tables = {table.name: table for table in TABLES}
    rows = [row for name in names for row in (rows_of(tables[name]) if name in tables else [find_row(name)])]
    return list({row.name: row for row in rows}.values())


def plan(rows: Iterable[Row], seeds: Sequence[int], out: Path, results: Path) -> list[Job]:
    """The trainings of ``rows``, one for each seed; runs go below ``out``, results below ``results``."""
    recorded = [(result, settings_of(result)) for result in read_results(results) if result["split"] == "test"]
    return [_job(_seeded(row, seed), out, recorded) for row in rows for seed in seeds]


def settings_of(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a result was made with, whatever its seed; None if no training of today can be the same.

    A setting that is younger than the result had its default value then.
    """
    if result["format"] != FORMAT:
        return None
    try:
        return seedless(recipe_from(result["recipe"]))
    except SettingError:  # it has a setting that no longer exists
        return None


def run_of(job: Job, out: Path, load: Callable[[], Dataset]) -> Run:
    """The run of ``job``, to train or to go on with; ``load`` is asked for the dataset if there is none yet."""
    return start_or_resume(job.row.recipe, out / job.place, load)


def record(job: Job, run: Run, results: Path, progress: Progress = no_progress) -> Path:
    """Rank the test split with the trained ``run`` and record the result; returns its path."""
    report = run.evaluate("test", progress=progress)
    run.keep(report)
    return record_result(run, report, results, job.row.label)


def parse_seeds(text: str) -> list[int]:
    """Seeds written ``0,1,2``."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) < 1 << 31 for part in parts):
        raise SettingError(f"cannot read the seeds {text!r}", "Write whole numbers with commas: --seeds 0,1,2")
    return list(dict.fromkeys(map(int, parts)))


def _seeded(row: Row, seed: int) -> Row:
    training = row.recipe.training.model_copy(update={"seed": seed})
    return Row(row.name, row.recipe.model_copy(update={"training": training}))


def _job(row: Row, out: Path, recorded: Sequence[tuple[Mapping[str, Any], object]]) -> Job:
    wanted = seedless(row.recipe)
    own = [result for result, settings in recorded if settings == wanted and result["dataset"] == row.dataset]
    times = [result["seconds"] for result in own if result["seconds"]]
    job = Job(row, "to do", mean(times) if times else None)
    if any(result["seed"] == job.seed for result in own):
        return replace(job, state="recorded")
    if _incomplete(row.dataset):
        return replace(job, state="incomplete data")
    return replace(job, state="started") if (out / job.place / RECIPE).is_file() else job


def _incomplete(dataset: str) -> bool:
    location = find(catalog.dataset_info(dataset))
    return location is not None and not location.variant.complete
