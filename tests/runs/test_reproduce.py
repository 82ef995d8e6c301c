"""Rows of the tables: what they are called, what is recorded of them, and making them in one go or in several."""

import signal
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from runs.small import small_data, small_recipe, weights
from training.small import OnStep

from nary.data.dataset import Dataset
from nary.errors import OutputError, SettingError
from nary.recipe import shipped
from nary.runs import InterruptedRun, train_run
from nary.runs.reproduce import Job, find_rows, parse_seeds, plan, record, run_of
from nary.runs.results import read_results
from nary.runs.tables import TABLES, Row, all_rows, find_row, is_ablation, rows_of
from nary.training.callbacks import Callback, StepReport


@pytest.fixture
def data() -> Dataset:
    return replace(small_data(), name="nobel")  # so that the catalog knows it


@pytest.fixture
def row(data: Dataset) -> Row:
    return Row("gran/nobel-tiny", small_recipe(data))


def make(job: Job, folder: Path, data: Dataset, *callbacks: Callback) -> Path:
    run = train_run(run_of(job, folder / "runs", lambda: data), callbacks).run
    return record(job, run, folder / "results")


def jobs(row: Row, folder: Path, *seeds: int) -> list[Job]:
    return plan([row], seeds or [0], folder / "runs", folder / "results")


def test_a_row_is_recorded_under_its_recipe_and_seed(data: Dataset, row: Row, tmp_path: Path) -> None:
    first, second = jobs(row, tmp_path, 0, 1)
    assert (first.state, first.seconds, first.open) == ("to do", None, True)
    path = make(second, tmp_path, data)
    assert path == tmp_path / "results" / "nobel" / "gran-hete-tiny-seed1.json"
    (result,) = read_results(tmp_path / "results")
    assert (result["seed"], result["split"], result["recipe"]["training"]["seed"]) == (1, "test", 1)
    first, second = jobs(row, tmp_path, 0, 1)
    assert (first.state, second.state, second.open) == ("to do", "recorded", False)
    assert first.seconds == second.seconds == result["seconds"]


def test_what_was_interrupted_goes_on_to_the_same_weights(data: Dataset, row: Row, tmp_path: Path) -> None:
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    (job,) = jobs(row, whole)
    make(job, whole, data)

    def interrupt(report: StepReport) -> None:
        if report.step == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(InterruptedRun):
        make(job, parted, data, OnStep(interrupt))
    assert not (parted / "results").exists()
    (again,) = jobs(row, parted)
    assert again.state == "started"
    make(again, parted, data)
    assert weights(parted / "runs" / job.place) == weights(whole / "runs" / job.place)


def test_other_settings_are_another_row(data: Dataset, row: Row, tmp_path: Path) -> None:
    (job,) = jobs(row, tmp_path)
    make(job, tmp_path, data)
    longer = Row(row.name, small_recipe(data, training__epochs=5))
    (other,) = jobs(longer, tmp_path)
    assert (other.state, other.seconds) == ("started", None)
    with pytest.raises(OutputError, match="holds a run with other settings"):
        run_of(other, tmp_path / "runs", lambda: data)
    elsewhere = Row(row.name, small_recipe(data, training__device="cpu", training__checkpoint_minutes=1.0))
    assert jobs(elsewhere, tmp_path)[0].state == "recorded"  # neither changes what comes out


def test_a_result_counts_by_what_it_says_it_was_made_with(data: Dataset, row: Row, tmp_path: Path) -> None:
    (job,) = jobs(row, tmp_path)
    path = make(job, tmp_path, data)
    content = orjson.loads(path.read_bytes())

    def state(**changed: object) -> str:
        path.write_bytes(orjson.dumps({**content, **changed}))
        return jobs(row, tmp_path)[0].state

    tables = content["recipe"]
    younger = {**tables, "training": {k: v for k, v in tables["training"].items() if k != "shuffle"}}
    older = {**tables, "training": {**tables["training"], "a_setting_of_old": 1}}
    assert state() == "recorded"
    assert state(recipe=younger) == "recorded"  # it was made before there was that setting
    assert state(recipe=older) == "started"
    assert state(split="valid") == "started"
    assert state(format=0) == "started"


def test_every_shipped_recipe_is_a_row_with_a_name_of_its_own() -> None:
    rows = all_rows()
    assert set(shipped()) <= set(rows)
    assert len({(row.dataset, row.file) for row in rows.values()}) == len(rows)


@pytest.mark.parametrize(
    ("name", "label", "file"),
    [
        ("gran/jf17k-4-fast", "fast", "gran-hete-fast"),
        ("gran/jf17k-4", "", "gran-hete"),
        ("gran/jf17k-clean", "", "gran-hete"),
        ("gran/wikipeople-", "", "gran-hete"),
        ("gran-homo/jf17k-4-fast", "fast", "gran-homo-fast"),
        ("gran-triples/jf17k-4-fast", "fast", "gran-hete-triples-fast"),
        ("gran-complete/wd50k_100-fast", "fast", "gran-complete-fast"),
        ("stare/wd50k_100-transformer-fast", "fast", "stare-transformer-fast"),
        ("stare-triples/wd50k_100-transformer", "", "stare-transformer-triples"),
        ("ram/jf17k", "", "ram"),
        ("frequency/nobel", "", "frequency"),
    ],
)
def test_names_of_rows(name: str, label: str, file: str) -> None:
    row = find_row(name)
    assert (row.label, row.file) == (label, file)


def test_tables_have_the_published_recipes_of_their_datasets() -> None:
    rows = {table.name: {row.name for row in rows_of(table)} for table in TABLES}
    assert {"gran/jf17k", "gran/wikipeople-", "ram/jf17k"} <= rows["mixed-arity"] == rows["breakdown"]
    assert "gran/jf17k" in rows["relations"]
    assert not {"ram/jf17k", "stare/jf17k"} & rows["relations"]  # which predict entities alone
    assert "stare/jf17k" in rows["mixed-arity"]
    assert {"gran/jf17k-4", "getd/wikipeople-3"} <= rows["single-arity"]
    assert {"gran/nobel", "gran/fb-auto"} <= rows["others"]
    assert {"gran/jf17k", "gran-homo/jf17k", "gran-complete/wikipeople-4"} <= rows["ablations"]
    assert {"stare-triples/wd50k", "hy-transformer-triples/jf17k", "gran-triples/jf17k-3"} <= rows["ablations"]
    assert not any("fast" in name for names in rows.values() for name in names)
    assert not any(is_ablation(row.file) for table in TABLES if not table.ablations for row in rows_of(table))


def test_names_mean_tables_and_rows_each_once() -> None:
    found = [row.name for row in find_rows(["single-arity", "gran/jf17k-4", "gran/jf17k-4-fast"])]
    assert len(found) == len(set(found))
    assert {"gran/jf17k-4", "gran/jf17k-4-fast"} <= set(found)
    with pytest.raises(SettingError) as caught:
        find_rows(["single-arty"])
    assert str(caught.value.hint).startswith("Did you mean single-arity")


def test_seeds() -> None:
    assert parse_seeds("0, 2,1,2") == [0, 2, 1]
    for text in ("", "a", "0,,1", "-1", "1.5", str(1 << 31), "²"):
        with pytest.raises(SettingError, match="cannot read the seeds"):
            parse_seeds(text)


@pytest.mark.benchmark_data
@pytest.mark.usefixtures("benchmark_data")
def test_facts_that_are_incomplete_reproduce_nothing(tmp_path: Path) -> None:
    (job,) = plan([find_row("ram/wikipeople")], [0], tmp_path, tmp_path)
    assert (job.state, job.open) == ("incomplete data", False)
