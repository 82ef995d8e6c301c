"""A disk that takes no more: a clear error, no traceback, no abort, and nothing half-written."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from apps.command import Nary
from runs.small import options, small_data, small_run

from nary.data.io.writer import write
from nary.facts.parquet import quiet_panics


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file can become larger than ``size`` bytes: the system refuses as it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("full") / "run"
    small_run(folder)
    return folder


@pytest.mark.parametrize("out", ["m.pt2", "m.tsv", "m.npy", "m.parquet"])
def test_full_disk_at_an_export(out: str, run: Path, tmp_path: Path, nary: Nary) -> None:
    with room_for(300):
        outcome = nary("export", run, tmp_path / out)
    assert outcome.code == 2, outcome.err
    assert f"cannot write {tmp_path / out}" in outcome.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("out", ["p.csv", "p.parquet", "p.jsonl"])
def test_full_disk_at_a_file_of_predictions(out: str, run: Path, tmp_path: Path, nary: Nary) -> None:
    queries = tmp_path / "queries.txt"
    queries.write_text("".join(f"entity {i:06} | relation 01 | ?\n" for i in range(1, 9)))
    with room_for(300):
        outcome = nary("predict", run, "--facts", queries, "--out", tmp_path / out)
    assert (outcome.code, f"cannot write {tmp_path / out}" in outcome.err) == (2, True), outcome.err


@pytest.mark.parametrize("size", [100, 1000, 5000, 30_000])
def test_full_disk_in_training(size: int, tmp_path: Path, nary: Nary) -> None:
    write(small_data(), tmp_path / "facts.jsonl")
    with room_for(size):
        outcome = nary("train", tmp_path / "facts.jsonl", "--model", "gran", *options(), "--out", tmp_path / "run")
    assert outcome.code in (1, 2), outcome.err
    assert "cannot write" in outcome.err
    if size == 100:
        assert not (tmp_path / "run").exists()
    if (tmp_path / "run").exists():
        assert nary("train", "--resume", tmp_path / "run").code == 0
        assert nary("verify", tmp_path / "run").code == 0


def test_a_panic_of_polars_is_not_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(pl.exceptions.PanicException), quiet_panics():  # noqa: PT012
        os.write(2, b"thread panicked\n")
        raise pl.exceptions.PanicException("a panic")
    assert capfd.readouterr().err == ""
    with quiet_panics():
        os.write(2, b"a warning\n")
    assert capfd.readouterr().err == "a warning\n"
