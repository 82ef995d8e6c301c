"""A run that was killed, interrupted or ran out of disk goes on as if nothing had happened."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import orjson
import pytest
from runs.small import (
    PATIENCE,
    finish,
    options,
    small_data,
    small_recipe,
    small_run,
    start,
    start_in,
    stop,
    wait_until,
    weights,
)

from nary.data.io.reader import read
from nary.data.io.writer import write
from nary.errors import NaryError
from nary.files.writing import temporary_path
from nary.inference import folder as model_folder
from nary.runs import load_model, resume, train_or_resume
from nary.training.checkpoint import CheckpointError

_LONG = {  # hundreds of steps, each of them saved
    "training__epochs": 12,
    "training__checkpoint_minutes": 1e-9,
    "training__qualifier_dropout": 0.5,
    "model__partial_embedding": "true",
}


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("facts") / "toy.jsonl"
    write(small_data(), path)
    return path


@pytest.fixture(scope="module")
def whole(facts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody disturbed, and that never saved before its end."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    finish("train", facts, "--out", folder, *options(**{**_LONG, "training__checkpoint_minutes": 60}))
    return folder


@pytest.fixture
def started(facts: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    folder = tmp_path / "run"
    process = start("train", facts, "--out", folder, *options(**_LONG))
    yield process, folder
    process.kill()
    process.communicate()


def steps_of(folder: Path) -> list[int]:
    lines = (folder / "metrics.jsonl").read_bytes().splitlines()
    return [record["step"] for record in map(orjson.loads, lines) if "loss" in record]


def newest_step(folder: Path) -> int:
    return max((int(path.stem.removeprefix("step-")) for path in folder.glob("checkpoints/step-*")), default=0)


def test_killed_at_random_moments(started: tuple[subprocess.Popen[str], Path], whole: Path) -> None:
    process, folder = started
    moments = random.Random(5)
    kills = 0
    for _ in range(3):
        before = newest_step(folder)
        wait_until(lambda before=before: newest_step(folder) > before, process)  # type: ignore[misc]
        time.sleep(moments.uniform(0, 0.1))
        kills += stop(process, signal.SIGKILL)[0] == -signal.SIGKILL
        process = start("train", "--resume", folder)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert kills >= 2
    assert weights(folder) == weights(whole)
    assert steps_of(folder) == steps_of(whole)
    assert "resumed at step" in (folder / "log.txt").read_text()
    assert not list(folder.rglob(".nary-*"))


def test_killed_before_its_first_checkpoint_it_starts_again(facts: Path, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    process = start("train", facts, "--out", folder, *options(**{**_LONG, "training__checkpoint_minutes": 60}))
    wait_until((folder / "metrics.jsonl").is_file, process)
    assert stop(process, signal.SIGKILL)[0] == -signal.SIGKILL
    assert not list(folder.glob("checkpoints/step-*"))
    finish("train", "--resume", folder)
    assert weights(folder) == weights(whole)
    assert steps_of(folder) == steps_of(whole)


def test_interrupted_it_saves_and_says_how_to_go_on(facts: Path, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    process = start("train", facts, "--out", folder, *options(**{**_LONG, "training__checkpoint_minutes": 60}))
    wait_until((folder / "metrics.jsonl").is_file, process)
    code, err = stop(process, signal.SIGINT)
    assert code == 130
    assert f"nary train --resume {folder}" in err
    assert "Traceback" not in err
    [checkpoint] = folder.glob("checkpoints/step-*")
    assert f"stopped after step {int(checkpoint.stem.removeprefix('step-'))}; saved" in err
    assert not (folder / "model" / "model.safetensors").exists()
    with pytest.raises(NaryError, match="no weights yet"):
        load_model(folder)
    finish("train", "--resume", folder)
    assert weights(folder) == weights(whole)


@pytest.fixture
def two_checkpoints(tmp_path: Path) -> Path:
    """A finished run whose last two steps are saved; its weights are gone."""
    folder = tmp_path / "run"
    small_run(folder, training__checkpoint_minutes=1e-9)
    assert len(list(folder.glob("checkpoints/step-*"))) == 2
    return folder


def test_a_truncated_newest_checkpoint_and_a_half_written_one_do_no_harm(two_checkpoints: Path) -> None:
    folder = two_checkpoints
    before, steps = weights(folder), steps_of(folder)
    older, newest = sorted(folder.glob("checkpoints/step-*"))
    newest.write_bytes(newest.read_bytes()[:-100])
    half = newest.with_name(temporary_path(newest).name.replace(f"-{os.getpid()}-", "-99999999-"))  # of no process
    half.write_bytes(older.read_bytes()[:1000])
    (folder / "model" / "model.safetensors").unlink()
    with (folder / "metrics.jsonl").open("ab") as file:
        file.write(b'{"step": 9')  # a line that was cut off by a kill
    resume(folder)
    assert weights(folder) == before
    assert steps_of(folder) == steps
    assert not half.exists()


def test_when_all_checkpoints_are_damaged_it_says_so(two_checkpoints: Path) -> None:
    for path in two_checkpoints.glob("checkpoints/step-*"):
        path.write_bytes(b"\0" * 100)
    with pytest.raises(CheckpointError, match="damaged checkpoint") as caught:
        resume(two_checkpoints)
    assert caught.value.exit_code == 2
    assert str(caught.value.file).endswith(".safetensors")


def test_a_checkpoint_of_another_run_is_refused(two_checkpoints: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    data = small_data()
    start_in(other, data, small_recipe(data, model__hidden_dim=8))
    (two_checkpoints / "checkpoints").rename(other / "checkpoints")
    with pytest.raises(CheckpointError, match="not one of this run"):
        resume(other)


def test_a_finished_run_can_be_resumed_and_stays_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    small_run(folder)
    before, metrics = weights(folder), (folder / "metrics.jsonl").read_bytes()
    trained = resume(folder)
    assert weights(folder) == before
    assert (folder / "metrics.jsonl").read_bytes() == metrics
    assert trained.loss == orjson.loads(metrics.splitlines()[-1])["loss"]


def test_a_run_that_goes_on_with_its_mapped_data_does_not_read_those_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(small_data(), tmp_path / "data", format="mapped")
    data, folder = read(tmp_path / "data"), tmp_path / "run"
    recipe = small_recipe(data)
    start_in(folder, data, recipe)
    write(small_data(50), tmp_path / "other" / "data", format="mapped")
    other = read(tmp_path / "other" / "data")
    assert len(train_or_resume(recipe, folder, lambda: other).model.dataset.facts) == len(data.facts)
    monkeypatch.setattr(model_folder, "load_dataset", None)
    trained = train_or_resume(recipe, folder, lambda: data).model
    assert all(isinstance(block.ids, np.memmap) for block in trained.dataset.train.blocks)
