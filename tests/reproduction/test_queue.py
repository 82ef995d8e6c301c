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
from nary.reproduction.claims import claim
from nary.reproduction.experiments import Experiment, find_experiment
from nary.reproduction.queue import Job, parse_seeds, plan, read_queue, record_job, train_job, with_seeds
from nary.reproduction.records import read_results
from nary.runs import InterruptedRun, RunFolder
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
    return plan(with_seeds([experiment], seeds or [0]), folder / "runs", folder / "results")


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


def test_a_queue_has_the_most_urgent_rows_first_and_each_once(tmp_path: Path) -> None:
    path = tmp_path / "queue.toml"
    path.write_text(
        """
        [[row]]
        name = "gran/jf17k"
        seeds = [1, 2]
        priority = 3
        [[row]]
        name = "gran/nobel"
        [[row]]
        name = "gran/jf17k"
        seeds = [0, 1]
        priority = 2
        """
    )
    expected = [("gran/nobel", 0), ("gran/jf17k", 0), ("gran/jf17k", 1), ("gran/jf17k", 2)]
    assert [(one.name, one.seed) for one in read_queue(path)] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("row = 1", "expected"),
        ("[rows]", "expected"),
        ("[[row]]", "row.name is missing"),
        ('[[row]]\nname = "gran/nobell"', "no table or recipe is called"),
        ('[[row]]\nname = "gran/nobel"\nseeds = [-1]', "row.seeds.0 is -1"),
    ],
)
def test_mistakes_in_a_queue(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "queue.toml"
    path.write_text(text)
    with pytest.raises(SettingError, match=message):
        read_queue(path)


def test_the_queue_of_the_results_names_rows_that_exist() -> None:
    queued = read_queue(Path(__file__).parents[2] / "results" / "queue.toml")
    assert len(queued) > 10
    assert {one.recipe.training.seed for one in queued} == {0, 1, 2}


def test_a_job_that_a_process_works_on_is_running(experiment: Experiment, tmp_path: Path) -> None:
    (job,) = jobs(experiment, tmp_path)
    with claim(tmp_path / "runs" / job.path) as claimed:
        assert claimed
        (running,) = jobs(experiment, tmp_path)
        assert (running.state, running.pending) == ("running", False)
        with claim(tmp_path / "runs" / job.path) as again:
            assert not again
    assert jobs(experiment, tmp_path)[0].state == "to do"


@pytest.mark.benchmark_data
@pytest.mark.usefixtures("benchmark_data")
def test_facts_that_are_incomplete_reproduce_nothing(tmp_path: Path) -> None:
    (job,) = plan([find_experiment("ram/wikipeople")], tmp_path, tmp_path)
    assert (job.state, job.pending) == ("incomplete data", False)


def test_a_blend_is_a_row_with_what_its_parts_are_worth(tmp_path: Path) -> None:
    data = replace(small_data(300), name="nobel")
    recipe = small_recipe(data, "blend", model__parts=["rules", "frequency"])
    (job,) = jobs(Experiment("blend/nobel-tiny", recipe), tmp_path)
    record = orjson.loads(make(job, tmp_path, data).read_bytes())
    assert jobs(job.experiment, tmp_path)[0].state == "recorded"
    assert [part["name"] for part in record["parts"]] == ["rules", "frequency"]
    by_part = [part["mrr"]["entity"] for part in record["parts"]]
    assert by_part[0] > by_part[1]
    assert record["metrics"]["entity"]["mrr"] > by_part[1]
    assert record["seconds"] > sum(part["seconds"] for part in record["parts"])


def test_parts_of_a_blend_that_are_trained_already_are_taken_from_the_folder_of_runs(
    data: Dataset, experiment: Experiment, tmp_path: Path
) -> None:
    (part,) = jobs(experiment, tmp_path)
    make(part, tmp_path, data)
    tables = experiment.recipe.as_tables()
    gran = {key: tables[key] for key in ("model", "loss", "training")}
    shorter = {**gran, "training": {**gran["training"], "epochs": 1}}
    recipe = small_recipe(data, "blend", model__parts=["rules", gran, shorter])
    (blend,) = jobs(Experiment("blend/nobel-tiny", recipe), tmp_path)
    steps: list[int] = []
    make(blend, tmp_path, data, OnStep(lambda report: steps.append(report.step)))
    parts = tmp_path / "runs" / blend.path / "parts"
    assert weights(parts / "gran") == weights(tmp_path / "runs" / part.path)
    assert weights(parts / "gran-2") != weights(parts / "gran")
    assert len(steps) == RunFolder(parts / "gran-2").records()[-1]["step"]  # only the other one was trained
