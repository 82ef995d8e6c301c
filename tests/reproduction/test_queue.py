"""The work queue: states of jobs, recording their results, and interrupted work."""

import signal
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from runs.small import small_data, small_recipe, weights
from training.small import OnStep

from nary.data.dataset import Dataset
from nary.errors import OutputError, SettingError
from nary.reproduction.experiments import Experiment, find_experiment
from nary.reproduction.queue import Job, parse_seeds, plan, record_job, train_job
from nary.reproduction.records import read_results
from nary.runs import InterruptedRun
from nary.training.callbacks import Callback, StepReport


@pytest.fixture
def data() -> Dataset:
    return replace(small_data(), name="nobel")  # so that the catalog knows it


@pytest.fixture
def experiment(data: Dataset) -> Experiment:
    return Experiment("gran/nobel-tiny", small_recipe(data))


def make(job: Job, folder: Path, data: Dataset, *callbacks: Callback) -> Path:
    result = train_job(job, folder / "runs", lambda: data, callbacks)
    return record_job(job, result, folder / "results")


def jobs(experiment: Experiment, folder: Path, *seeds: int) -> list[Job]:
    return plan([experiment], seeds or [0], folder / "runs", folder / "results")


def test_a_result_is_recorded_under_its_recipe_and_seed(data: Dataset, experiment: Experiment, tmp_path: Path) -> None:
    first, second = jobs(experiment, tmp_path, 0, 1)
    assert (first.state, first.seconds, first.pending) == ("to do", None, True)
    path = make(second, tmp_path, data)
    assert path == tmp_path / "results" / "nobel" / "gran-hete-tiny-seed1.json"
    (result,) = read_results(tmp_path / "results")
    assert (result["seed"], result["split"], result["recipe"]["training"]["seed"]) == (1, "test", 1)
    first, second = jobs(experiment, tmp_path, 0, 1)
    assert (first.state, second.state, second.pending) == ("to do", "recorded", False)
    assert first.seconds == second.seconds == result["seconds"]


def test_resuming_gives_the_same_weights(data: Dataset, experiment: Experiment, tmp_path: Path) -> None:
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    (job,) = jobs(experiment, whole)
    make(job, whole, data)

    def interrupt(report: StepReport) -> None:
        if report.step == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(InterruptedRun):
        make(job, parted, data, OnStep(interrupt))
    assert not (parted / "results").exists()
    (again,) = jobs(experiment, parted)
    assert again.state == "started"
    make(again, parted, data)
    assert weights(parted / "runs" / job.path) == weights(whole / "runs" / job.path)


def test_other_settings_are_another_experiment(data: Dataset, experiment: Experiment, tmp_path: Path) -> None:
    (job,) = jobs(experiment, tmp_path)
    make(job, tmp_path, data)
    longer = Experiment(experiment.name, small_recipe(data, training__epochs=5))
    (other,) = jobs(longer, tmp_path)
    assert (other.state, other.seconds) == ("started", None)
    with pytest.raises(OutputError, match="holds a run with other settings"):
        train_job(other, tmp_path / "runs", lambda: data)
    elsewhere = Experiment(
        experiment.name, small_recipe(data, training__device="cpu", training__checkpoint_minutes=1.0)
    )
    assert jobs(elsewhere, tmp_path)[0].state == "recorded"  # neither changes what comes out


def test_a_result_counts_by_its_recorded_settings(data: Dataset, experiment: Experiment, tmp_path: Path) -> None:
    (job,) = jobs(experiment, tmp_path)
    path = make(job, tmp_path, data)
    content = orjson.loads(path.read_bytes())

    def state(**changed: object) -> str:
        path.write_bytes(orjson.dumps({**content, **changed}))
        return jobs(experiment, tmp_path)[0].state

    tables = content["recipe"]
    younger = {**tables, "training": {k: v for k, v in tables["training"].items() if k != "shuffle"}}
    older = {**tables, "training": {**tables["training"], "a_setting_of_old": 1}}
    assert state() == "recorded"
    assert state(recipe=younger) == "recorded"  # it was made before there was that setting
    assert state(recipe=older) == "started"
    assert state(split="valid") == "started"
    assert state(format=0) == "started"


def test_seeds() -> None:
    assert parse_seeds("0, 2,1,2") == [0, 2, 1]
    for text in ("", "a", "0,,1", "-1", "1.5", str(1 << 31), "²"):
        with pytest.raises(SettingError, match="cannot read the seeds"):
            parse_seeds(text)


@pytest.mark.benchmark_data
@pytest.mark.usefixtures("benchmark_data")
def test_facts_that_are_incomplete_reproduce_nothing(tmp_path: Path) -> None:
    (job,) = plan([find_experiment("ram/wikipeople")], [0], tmp_path, tmp_path)
    assert (job.state, job.pending) == ("incomplete data", False)
