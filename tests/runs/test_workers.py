"""Runs of several workers: what they write, and how they go on after one is lost or with another number of them."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
import torch
from runs.small import (
    PATIENCE,
    options,
    small_data,
    small_recipe,
    small_run,
    start,
    start_in,
    wait_until,
    weights,
)
from safetensors.torch import load_file
from training.processes import run_workers
from training.small import OnStep
from training.worker_jobs import rank_and_predict, resume_run

from nary.data.io.writer import write
from nary.errors import SettingError
from nary.files.manifest import verify
from nary.runs import load_model, resume
from nary.workers import ALONE, Workers

CHANGED = {"training__checkpoint_minutes": 1e-9, "training__max_steps": 9, "model__dropout": 0.0}


def make_run(folder: Path, **changed: object) -> Path:
    """A run folder in which nothing has been trained yet."""
    data = small_data()
    start_in(folder, data, small_recipe(data, **CHANGED | changed))
    return folder


def train_at(folder: Path, size: int, kill: dict[int, int] | None = None) -> list[str | None]:
    """Train with so many workers, of which those in ``kill`` are killed after a step; how each ended."""
    return run_workers(size, resume_run, folder, kill or {})


def assert_close(folder: Path, expected: Path) -> None:
    """Weights differ by no more than the order of sums can explain."""
    ours, theirs = (load_file(path / "model" / "model.safetensors") for path in (folder, expected))
    for name, tensor in theirs.items():
        torch.testing.assert_close(ours[name], tensor, atol=1e-4, rtol=0)


def test_a_run_goes_on_with_any_number_of_workers(tmp_path: Path) -> None:
    whole = make_run(tmp_path / "whole")
    resume(whole)
    folder = make_run(tmp_path / "run", training__eval_every=1)
    assert train_at(folder, 2, {1: 3}) == ["lost", None]
    assert train_at(folder, 3, {0: 6}) == [None, "lost", "lost"]
    names = sorted(path.name for path in folder.glob("checkpoints/rows-*"))
    assert names == [f"rows-{step:09d}-{rank}-of-3.safetensors" for step in (4, 5) for rank in (1, 2, 3)]
    resume(folder)
    assert_close(folder, whole)
    assert {check.state for check in verify(folder)} == {"ok"}
    assert load_model(folder).reports[0].metrics == load_model(folder).evaluate("valid").metrics


def test_the_state_of_row_optimizers_goes_on_too(tmp_path: Path) -> None:
    whole, folder = (make_run(tmp_path / name, loss__name="sampled_softmax") for name in ("whole", "run"))
    resume(whole)
    with pytest.raises(KeyboardInterrupt):
        resume(folder, [OnStep(lambda report: report.step == 4 and _interrupt())])
    assert train_at(folder, 2) == ["done", "done"]
    assert_close(folder, whole)


def _interrupt() -> None:
    raise KeyboardInterrupt


def test_killed_workers_learn_exactly_what_they_would_have_learned(tmp_path: Path) -> None:
    whole, folder = (make_run(tmp_path / name, model__dropout=0.2) for name in ("whole", "run"))
    assert train_at(whole, 2) == ["done", "done"]
    assert train_at(folder, 2, {0: 4, 1: 4}) == [None, None]
    damaged = max(folder.glob("checkpoints/rows-*-2-of-2.safetensors"))  # the checkpoint before is used instead
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    assert train_at(folder, 2, {0: 5}) == [None, "lost"]
    assert train_at(folder, 2) == ["done", "done"]
    assert weights(folder) == weights(whole)


@pytest.mark.parametrize(
    ("model", "changed", "reason"),
    [
        ("stare", {}, "normalizes over the whole batch"),
        ("n-tucker", {}, "normalizes over the whole batch"),
        ("gran", {"loss__name": "softmax_bce"}, "the loss softmax_bce"),
        ("gran", {"training__batch_size": 1}, "2 workers cannot share a batch of 1"),
    ],
)
def test_what_workers_cannot_train_is_refused(
    tmp_path: Path, model: str, changed: dict[str, object], reason: str
) -> None:
    data = small_data()
    start_in(tmp_path / "run", data, small_recipe(data, model, **changed))
    with pytest.raises(SettingError, match=reason):
        resume(tmp_path / "run", workers=Workers(1, 2))


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """The processes that a launcher has started."""
    try:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    except OSError:
        return []
    return [int(child) for child in children if b"nary" in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_the_command_starts_workers_and_goes_on_when_one_is_killed(tmp_path: Path) -> None:
    facts = tmp_path / "toy.jsonl"
    write(small_data(), facts)
    settings = options(training__checkpoint_minutes=1e-9, training__epochs=4, model__dropout=0.1)
    whole, folder = tmp_path / "whole", tmp_path / "run"
    process = start("train", facts, "--model", "gran", "--out", folder, "--workers", 2, *settings)
    wait_until(lambda: bool(list(folder.glob("checkpoints/step-*"))), process)
    os.kill(workers_of(process)[-1], signal.SIGKILL)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "was lost; all workers are started again" in err
    assert "Traceback" not in err
    assert "resumed at step" in (folder / "log.txt").read_text()
    assert f"{folder}: " in out
    shutil.copytree(folder, whole, ignore=shutil.ignore_patterns("checkpoints", "model.safetensors", "metrics.json*"))
    assert train_at(whole, 2) == ["done", "done"]
    assert weights(folder) == weights(whole)


def test_ranks_and_answers_are_those_of_one_process(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    facts = small_run(folder, training__epochs=1).dataset
    lines = [f"{fact.subject} | {fact.relation} | ?" for fact in facts.facts.facts(facts.vocabulary)]
    queries = tmp_path / "queries.txt"
    queries.write_text("\n".join(lines * 15))
    ranks = rank_and_predict(ALONE, folder, queries, tmp_path / "1.jsonl")
    shared = tmp_path / "2.jsonl"
    assert run_workers(2, rank_and_predict, folder, queries, shared) == [ranks, ranks]
    answers = (tmp_path / "1.jsonl").read_bytes()
    assert len(answers.splitlines()) == len(lines) * 15 > 512
    assert shared.read_bytes() == answers
    shared.write_bytes(answers[: len(answers) // 2])
    run_workers(2, rank_and_predict, folder, queries, shared)
    assert shared.read_bytes() == answers


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "nobel", "--workers", 2], "several workers need --out"),
        (["train", "nobel", "--workers", 2, "--out", "x", "--minutes", 1], "--minutes is for one process"),
        (["predict", "x", "a | b | ?", "--workers", 2], "several workers answer --facts"),
    ],
)
def test_options_that_workers_do_not_have(arguments: list[object], message: str) -> None:
    process = start(*arguments)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, message in err) == (2, True), err
