"""Trackers, with the real tools where they are installed."""

import csv
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
from runs.small import PATIENCE, small_data, small_recipe, train_in
from training.small import OnStep

import nary
from nary.errors import MissingExtraError, NaryWarning, SettingError
from nary.runs import InterruptedRun, resume
from nary.runs.trackers import make_trackers
from nary.training.callbacks import StepReport

VALIDATED = {"training__eval_every": 2}


class Memory(nary.Tracker):
    """Keeps what it is told."""

    def __init__(self, fails_at: int | None = None) -> None:
        super().__init__(every=3)
        self.events: list[tuple[Any, ...]] = []
        self.fails_at = fails_at

    def open(self, name: str, settings: Mapping[str, object], step: int) -> None:
        self.events.append(("open", name, dict(settings), step))

    def log(self, values: Mapping[str, float], step: int) -> None:
        if step == self.fails_at:
            raise ConnectionError("the server is gone")
        self.events.append(("log", dict(values), step))

    def close(self, final: Mapping[str, float], files: Mapping[str, Path], finished: bool) -> None:
        self.events.append(("close", dict(final), sorted(files), finished))


def interrupt(report: StepReport) -> None:
    if report.step == 4:
        signal.raise_signal(signal.SIGINT)


def test_what_a_tracker_is_told(tmp_path: Path) -> None:
    data, tracker = small_data(), Memory()
    recipe = small_recipe(data, **VALIDATED)
    result = train_in(tmp_path / "run", data, recipe, tracker)
    (_, name, settings, step), *logged, (_, final, files, finished) = tracker.events
    assert (name, step, finished) == (str(tmp_path / "run"), 0, True)
    assert settings["training.epochs"] == 4
    assert settings["parameters"] == result.model.num_parameters
    steps = [step for _, values, step in logged if "train/loss" in values]
    assert steps == sorted({1, *range(3, result.steps + 1, 3), result.steps})
    assert logged[0][1]["train/loss"] == result.losses[0]
    assert "train/learning_rate" in logged[0][1]
    validations = [values for _, values, _ in logged if "valid/entity/mrr" in values]
    assert len(validations) == 2
    assert {"valid/subject_object/hits_at_10", "valid/relation/mrr"} <= set(validations[0])
    assert final["final/valid/entity/mrr"] == result.metrics["entity"]["mrr"]
    assert {"recipe.toml", "model/metrics.json"} <= set(files)
    assert "model/model.safetensors" not in files


def test_an_interrupted_run_is_not_finished_and_goes_on(tmp_path: Path) -> None:
    data, tracker = small_data(), Memory()
    with pytest.raises(InterruptedRun):
        train_in(tmp_path / "run", data, small_recipe(data), OnStep(interrupt), tracker)
    assert tracker.events[-1][0] == "close"
    assert tracker.events[-1][-1] is False
    again = Memory()
    resume(tmp_path / "run", [again])
    assert again.events[0][-1] == 4  # the step it goes on from
    assert again.events[-1][-1] is True


def test_a_tool_that_fails_does_not_end_the_training(tmp_path: Path) -> None:
    data, tracker = small_data(), Memory(fails_at=3)
    with pytest.warns(NaryWarning, match="given up: the server is gone"):
        result = train_in(None, data, small_recipe(data), tracker)
    assert result.steps > 3
    assert [event[0] for event in tracker.events] == ["open", "log"]


def test_a_table_of_several_runs(tmp_path: Path) -> None:
    data = small_data()
    for seed in (0, 1):
        recipe = small_recipe(data, training__seed=seed, **VALIDATED)
        train_in(tmp_path / f"run{seed}", data, recipe, nary.CSVTracker(tmp_path / "all.csv", every=1))
    with (tmp_path / "all.csv").open() as file:
        rows = list(csv.DictReader(file))
    for seed in (0, 1):
        mine = [row for row in rows if row["run"] == str(tmp_path / f"run{seed}")]
        assert [row["value"] for row in mine if row["name"] == "training.seed"] == [str(seed)]
        assert any(row["name"] == "final/valid/entity/mrr" for row in mine)


def test_json_lines_of_a_resumed_run_have_each_step_once(tmp_path: Path) -> None:
    data, recipe = small_data(), small_recipe(small_data())
    with pytest.raises(InterruptedRun):
        train_in(tmp_path / "run", data, recipe, OnStep(interrupt), nary.JSONTracker(every=1))
    result = resume(tmp_path / "run", [nary.JSONTracker(every=1)])
    records = [orjson.loads(line) for line in (tmp_path / "run" / "tracking.jsonl").read_bytes().splitlines()]
    assert [record["step"] for record in records if "train/loss" in record] == list(range(1, result.steps + 1))
    assert [record["settings"]["training.epochs"] for record in records if "settings" in record] == [4]
    with pytest.raises(SettingError, match="no file to write to"):
        train_in(None, data, recipe, nary.JSONTracker())


def test_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    data = small_data()
    result = train_in(tmp_path / "run", data, small_recipe(data, **VALIDATED), nary.TensorBoardTracker(every=1))
    events = EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    events.Reload()
    assert [event.step for event in events.Scalars("train/loss")] == list(range(1, result.steps + 1))
    assert events.Scalars("valid/entity/mrr")[-1].value == pytest.approx(result.metrics["entity"]["mrr"])
    assert events.Tags()["tensors"] == ["settings/text_summary"]


@pytest.mark.slow  # the store is set up by dozens of migrations
def test_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.chdir(tmp_path)
    data = small_data()
    with pytest.raises(InterruptedRun):
        train_in(tmp_path / "run", data, small_recipe(data, **VALIDATED), OnStep(interrupt), nary.MLflowTracker("mine"))
    result = resume(tmp_path / "run", [nary.MLflowTracker("mine")])
    client = mlflow.MlflowClient()
    (run,) = client.search_runs([client.get_experiment_by_name("mine").experiment_id])  # resumed, not a second one
    assert run.info.status == "FINISHED"
    assert run.data.params["training.epochs"] == "4"
    assert run.data.metrics["final/valid/entity/mrr"] == result.metrics["entity"]["mrr"]
    assert [metric.step for metric in client.get_metric_history(run.info.run_id, "valid/entity/hits_at_10")]
    assert {"recipe.toml", "model"} <= {file.path for file in client.list_artifacts(run.info.run_id)}


@pytest.mark.slow  # it starts a service
@pytest.mark.filterwarnings("error:.*given up")
def test_weights_and_biases_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_SILENT", "true")
    data = small_data()
    train_in(tmp_path / "run", data, small_recipe(data, **VALIDATED), nary.WandbTracker("mine"))
    (log,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    end = time.monotonic() + PATIENCE
    while b"final/valid/entity/mrr" not in log.read_bytes():  # its service may still be writing
        assert time.monotonic() < end, "nothing was written"
        time.sleep(0.1)
    assert b"train/loss" in log.read_bytes()
    assert "wandb" in orjson.loads((tmp_path / "run" / "tracking.json").read_bytes())


def test_a_tool_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(MissingExtraError, match="Weights & Biases"):
        make_trackers(["wandb"])
    with pytest.raises(SettingError, match="every=0"):
        nary.CSVTracker(every=0)
