"""The work queue of ``nary reproduce``: which trainings are left, in which order, and running one of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Annotated, Any, Literal

from pydantic import Field

from nary.config import Settings, read_toml, validate_settings
from nary.data.catalog import catalog_entry
from nary.data.catalog.locate import find
from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.progress import Progress, no_progress
from nary.reproduction.claims import is_claimed
from nary.reproduction.experiments import Experiment, find_experiments
from nary.reproduction.records import read_results, record_result, recorded_settings
from nary.runs import TrainingResult, prepare_dataset, start_blend, train_or_resume
from nary.runs.run_folder import is_run_folder
from nary.runs.training import seedless_settings
from nary.training.callbacks import Callback

QUEUE = "queue.toml"
"""The file of queued rows in a folder of results."""
State = Literal["recorded", "running", "started", "to do", "incomplete data"]


@dataclass(frozen=True)
class Job:
    """One training of an experiment and its state."""

    experiment: Experiment
    state: State
    seconds: float | None
    """The mean time of recorded trainings with these settings; None if there are none."""

    @property
    def title(self) -> str:
        """The experiment and its seed."""
        return f"{self.experiment.name}, seed {self.experiment.seed}"

    @property
    def path(self) -> Path:
        """Where the run is, relative to the folder of runs, and the result record, relative to that of results."""
        return Path(self.experiment.dataset) / f"{self.experiment.stem}-seed{self.experiment.seed}"

    @property
    def pending(self) -> bool:
        """Whether the job waits for a worker; incomplete data cannot reproduce anything."""
        return self.state in ("started", "to do")

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "name": self.experiment.name,
            "dataset": self.experiment.dataset,
            "seed": self.experiment.seed,
            "state": self.state,
            "seconds": self.seconds,
        }


class QueuedRow(Settings):
    """A ``[[row]]`` of a queue."""

    name: str
    """A table or a recipe, as ``nary reproduce`` takes them."""
    seeds: list[Annotated[int, Field(ge=0, lt=1 << 31)]] = Field([0], min_length=1)
    priority: int = 1
    """Rows with smaller numbers come first."""


def read_queue(path: Path) -> list[Experiment]:
    """The experiments of a queue with their seeds, the most urgent first, each once."""
    tables = read_toml(path)
    rows = tables.pop("row", [])
    if tables or not isinstance(rows, list):
        hint = 'Write [[row]] and below it: name = "gran/nobel"'
        raise SettingError("not a queue: expected [[row]] and nothing else", hint, str(path))
    queued = [validate_settings(QueuedRow, row, "row", str(path)) for row in rows]
    ordered = sorted(queued, key=lambda row: row.priority)
    chosen = [one for row in ordered for one in with_seeds(find_experiments([row.name]), row.seeds)]
    return list({(one.name, one.seed): one for one in chosen}.values())


def with_seeds(experiments: Iterable[Experiment], seeds: Sequence[int]) -> list[Experiment]:
    """Each experiment with each seed."""
    return [experiment.with_seed(seed) for experiment in experiments for seed in seeds]


def plan(experiments: Iterable[Experiment], runs: Path, results: Path) -> list[Job]:
    """One job for each experiment; ``runs`` and ``results`` are the folders to look for earlier work."""
    recorded = [(result, recorded_settings(result)) for result in read_results(results) if result["split"] == "test"]
    return [_job(experiment, runs, recorded) for experiment in experiments]


def train_job(job: Job, runs: Path, load: Callable[[], Dataset], callbacks: Sequence[Callback] = ()) -> TrainingResult:
    """Train or resume the run of ``job``; ``load`` provides the dataset of a new run.

    Parts of a blend that are finished runs in the folder of runs are not trained again.
    """
    recipe, path = job.experiment.recipe, runs / job.path
    if recipe.parts and not is_run_folder(path):
        siblings = sorted(run for run in path.parent.glob("*") if is_run_folder(run))
        start_blend(prepare_dataset(load(), recipe), recipe, path, siblings)
    return train_or_resume(recipe, path, load, callbacks)


def record_job(job: Job, result: TrainingResult, results: Path, progress: Progress = no_progress) -> Path:
    """Evaluate the trained model on the test split, record the result and return the path of the record."""
    run = result.run_folder
    report = result.model.evaluate("test", progress=progress)
    result.model.add_report(report, run.model_path)
    return record_result(run, result.model, report, results, job.experiment.label)


def parse_seeds(text: str) -> list[int]:
    """Parse seeds such as ``0,1,2``."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) < 1 << 31 for part in parts):
        raise SettingError(f"cannot read the seeds {text!r}", "Separate whole numbers by commas: --seeds 0,1,2")
    return list(dict.fromkeys(map(int, parts)))


def _job(experiment: Experiment, runs: Path, recorded: Sequence[tuple[Mapping[str, Any], object]]) -> Job:
    wanted = seedless_settings(experiment.recipe)
    same = [result for result, settings in recorded if settings == wanted and result["dataset"] == experiment.dataset]
    times = [result["seconds"] for result in same if result["seconds"]]
    job = Job(experiment, "to do", mean(times) if times else None)
    if any(result["seed"] == experiment.seed for result in same):
        return replace(job, state="recorded")
    if is_claimed(runs / job.path):
        return replace(job, state="running")
    if _is_incomplete(experiment.dataset):
        return replace(job, state="incomplete data")
    return replace(job, state="started") if is_run_folder(runs / job.path) else job


def _is_incomplete(dataset: str) -> bool:
    location = find(catalog_entry(dataset))
    return location is not None and not location.variant.complete
