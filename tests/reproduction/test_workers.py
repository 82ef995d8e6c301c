"""Jobs side by side in processes of their own: interrupted, killed, moved to another machine, and failing."""

import signal
import time
from pathlib import Path

import orjson
import pytest
from runs.small import finish, small_recipe, start, stop, wait_until, weights

from nary.data.nobel import dataset as nobel
from nary.reproduction.claims import is_claimed
from nary.reproduction.experiments import find_experiment
from nary.reproduction.queue import plan, train_job

STEMS = ("gran-hete-first", "gran-hete-second")


def write_recipe(folder: Path, name: str, **changed: object) -> Path:
    path = folder / f"nobel-{name}.toml"
    path.write_text(small_recipe(nobel(), training__batch_size=1024, **changed).as_toml())
    return path


@pytest.fixture
def recipes(tmp_path: Path) -> list[Path]:
    """Two trainings that take a while and save every step."""
    changed = {"training__epochs": 12, "training__checkpoint_minutes": 1e-9}
    return [write_recipe(tmp_path, "first", **changed), write_recipe(tmp_path, "second", **changed)]


def runs_of(folder: Path) -> list[Path]:
    return [folder / "runs" / "nobel" / f"{stem}-seed0" for stem in STEMS]


def command(folder: Path, recipes: list[Path]) -> list[object]:
    return ["reproduce", *recipes, "--workers", 2, "--out", folder / "runs", "--results", folder / "results"]


def all_saved(folder: Path) -> bool:
    return all(list(run.glob("checkpoints/step-*")) for run in runs_of(folder))


def wait_for_workers(folder: Path) -> None:
    end = time.monotonic() + 120
    while any(is_claimed(run) for run in runs_of(folder)):
        assert time.monotonic() < end, "a worker outlives its parent"
        time.sleep(0.05)


def test_interrupted_killed_and_moved_the_same_command_continues(recipes: list[Path], tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    process = start(*command(here, recipes))
    wait_until(lambda: all_saved(here), process)
    states = orjson.loads(finish(*command(here, recipes), "--status", "--json"))
    assert [one["state"] for one in states] == ["running", "running"]
    code, err = stop(process, signal.SIGINT)
    assert code == 130
    assert "stopped; all trainings are saved" in err
    assert "Traceback" not in err
    assert not any(is_claimed(run) for run in runs_of(here))

    process = start(*command(here, recipes))
    wait_until(lambda: any(is_claimed(run) for run in runs_of(here)), process)
    assert stop(process, signal.SIGKILL)[0] == -signal.SIGKILL
    wait_for_workers(here)  # which see that their parent is gone

    here.rename(there)
    finish(*command(there, recipes))
    for recipe, run in zip(recipes, runs_of(there), strict=True):
        (job,) = plan([find_experiment(str(recipe))], tmp_path / "whole", there / "results")
        assert job.state == "recorded"
        train_job(job, tmp_path / "whole", nobel)
        assert weights(run) == weights(tmp_path / "whole" / job.path)


def test_a_job_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    good = write_recipe(tmp_path, "good", training__epochs=1)
    bad = write_recipe(tmp_path, "bad", training__epochs=1, training__learning_rate=1e30, training__max_grad_norm=0.0)
    process = start(*command(tmp_path, [bad, good]))
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    assert "failed gran/nobel-bad, seed 0: the loss is nan" in err
    assert "Traceback" not in err
    assert "recorded gran/nobel-good, seed 0" in err
    assert [path.name for path in (tmp_path / "results").rglob("*.json")] == ["gran-hete-good-seed0.json"]
