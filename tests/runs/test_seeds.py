"""Training over seeds, and runs that are extended."""

import signal
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import orjson
import pytest
from runs.small import SMALL, small_data, small_recipe, train_in
from training.small import OnStep

import nary
from nary.errors import OutputError, SettingError
from nary.runs import InterruptedRun, RunFolder, resume
from nary.training.callbacks import StepReport

_SETTINGS: dict[str, Any] = {key.partition(".")[2]: value for key, value in SMALL.items()}


def test_mean_and_deviation(tmp_path: Path) -> None:
    results = nary.train_seeds(small_data(), "gran", seeds=[0, 3], out=tmp_path / "runs", **_SETTINGS)
    values = [
        nary.load_model(tmp_path / "runs" / f"seed{seed}").reports[-1].metrics["entity"]["mrr"] for seed in (0, 3)
    ]
    assert values[0] != values[1]
    assert results.mean("entity", "mrr") == fmean(values)
    assert results.std("entity", "mrr") == stdev(values)
    assert results.split == "test"
    assert f"{fmean(values):.3f} ± {stdev(values):.3f}" in str(results)
    assert results.to_polars().columns[:3] == ["group", "mrr", "mrr std"]
    assert results.to_pandas().shape == results.to_polars().shape
    assert "±" in results._repr_html_()
    assert "2 seeds" in repr(results)
    summary = orjson.loads((tmp_path / "runs" / "summary.json").read_bytes())
    assert summary == orjson.loads(orjson.dumps(results.as_dict()))
    assert summary["metrics"]["entity"]["mrr"] == fmean(values)
    assert [run["seed"] for run in summary["runs"]] == [0, 3]
    again = nary.train_seeds(small_data(), "gran", seeds=[0, 3], out=tmp_path / "runs", **_SETTINGS)
    assert [run.losses for run in again.runs] == [[], []]  # nothing was trained again
    assert again.mean("entity", "mrr") == fmean(values)


def test_an_interrupted_experiment_goes_on(tmp_path: Path) -> None:
    def interrupt(report: StepReport) -> None:
        if report.step == 4 and (tmp_path / "runs" / "seed1").exists():
            signal.raise_signal(signal.SIGINT)

    settings = {"seeds": [0, 1], "out": tmp_path / "runs", **_SETTINGS}
    with pytest.raises(InterruptedRun) as interrupted:
        nary.train_seeds(small_data(), "gran", callbacks=[OnStep(interrupt)], **settings)
    assert interrupted.value.hint == "Run the same command again to continue."
    results = nary.train_seeds(small_data(), "gran", **settings)
    whole = nary.train_seeds(small_data(), "gran", seeds=[0, 1], **_SETTINGS)
    assert results.mean("entity", "mrr") == whole.mean("entity", "mrr")


@pytest.mark.parametrize("seeds", [[], [1, 1]])
def test_seeds_that_are_none(seeds: list[int]) -> None:
    with pytest.raises(SettingError, match="the seeds are"):
        nary.train_seeds(small_data(), "gran", seeds=seeds, **_SETTINGS)


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    with pytest.raises(OutputError, match=r"letters\.txt"):
        nary.train_seeds(small_data(), "gran", out=tmp_path, **_SETTINGS)


def test_a_finished_run_is_extended(tmp_path: Path) -> None:
    data = small_data()
    first = train_in(tmp_path / "run", data, small_recipe(data))
    rates: list[float] = []
    result = resume(tmp_path / "run", [OnStep(lambda report: rates.append(report.learning_rate))], epochs=8)
    assert (first.epochs, result.epochs) == (pytest.approx(4, abs=0.2), pytest.approx(8, abs=0.2))
    assert len(result.losses) == result.steps - first.steps
    share = 1 - first.steps / result.steps
    assert rates[0] == pytest.approx(0.01 * share)  # as in the middle of the longer schedule
    assert rates[-1] < rates[0]
    run = RunFolder(tmp_path / "run")
    assert run.recipe.training.epochs == 8
    assert run.edits() == []
    assert "extended from 4 to 8 epochs" in (tmp_path / "run" / "log.txt").read_text()
    assert resume(tmp_path / "run", epochs=8).losses == []  # the same again changes nothing
    with pytest.raises(SettingError, match="has 8 epochs, and cannot have 6"):
        resume(tmp_path / "run", epochs=6)
