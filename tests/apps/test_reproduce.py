"""``nary reproduce`` as its users see it."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from apps.command import Nary
from training.small import OnStep

from nary.reproduction.records import read_results
from nary.training.callbacks import Callback


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is pressed at the first step of every training."""

    @contextmanager
    def bar(show: bool) -> Iterator[Callback]:
        yield OnStep(lambda report: signal.raise_signal(signal.SIGINT))

    monkeypatch.setattr("nary.apps.cli.reproduce.TrainingBar", bar)


@pytest.fixture
def places(tmp_path: Path) -> tuple[object, ...]:
    return "--out", tmp_path / "runs", "--results", tmp_path / "results"


def test_a_row_is_made_once(nary: Nary, places: tuple[object, ...], tmp_path: Path) -> None:
    planned = nary("reproduce", "frequency/nobel", "--dry-run", "--json", *places).json
    expected = {"name": "frequency/nobel", "dataset": "nobel", "seed": 0, "state": "to do", "seconds": None}
    assert planned == [expected]
    assert not list(tmp_path.iterdir())
    (recorded,) = nary("reproduce", "frequency/nobel", "--json", *places).json
    assert {**recorded, "seconds": None} == {**expected, "state": "recorded"}
    (result,) = read_results(tmp_path / "results")
    assert result["path"] == "nobel/frequency-seed0.json"
    assert result["metrics"]["entity"]["mrr"] == pytest.approx(0.178, abs=0.0005)  # as in results/ of the repository
    path = tmp_path / "results" / result["path"]
    before = path.stat().st_mtime_ns
    again = nary("reproduce", "frequency/nobel", *places)
    assert again.code == 0
    assert "recorded" in again.out
    assert "1 of 1" not in again.err
    assert path.stat().st_mtime_ns == before


def test_a_result_with_other_settings_is_replaced_with_a_notice(
    nary: Nary, places: tuple[object, ...], tmp_path: Path
) -> None:
    nary("reproduce", "frequency/nobel", *places)
    path = tmp_path / "results" / "nobel" / "frequency-seed0.json"
    path.write_text(path.read_text().replace('"ties": "mean"', '"ties": "pessimistic"'))
    outcome = nary("reproduce", "frequency/nobel", *places)
    assert "was made with other settings and will be replaced" in outcome.err
    assert '"ties": "pessimistic"' not in path.read_text()


def test_without_a_name_all_tables_are_listed(nary: Nary, places: tuple[object, ...]) -> None:
    listed = nary("reproduce", "--json", *places).json
    assert {"mixed-arity", "relations", "single-arity", "breakdown", "others", "ablations"} <= set(listed)
    assert {job["state"] for job in listed["single-arity"]} == {"to do"}
    text = nary("reproduce", *places).out
    assert "single-arity: Entities, one arity" in text
    assert "gran/jf17k-4-fast" in text


@pytest.mark.usefixtures("interrupted")
def test_ctrl_c_saves_and_says_that_the_same_command_goes_on(
    nary: Nary, places: tuple[object, ...], tmp_path: Path
) -> None:
    outcome = nary("reproduce", "gran/nobel", "--seeds", "0,1", "--workers", 1, *places)
    assert outcome.code == 130
    assert "stopped after step 1; saved" in outcome.err
    assert "Run the same command again to resume." in outcome.err
    assert not (tmp_path / "results").exists()
    states = nary("reproduce", "gran/nobel", "--seeds", "0,1", "--dry-run", "--json", *places).json
    assert [job["state"] for job in states] == ["started", "to do"]
    assert "stopped after step 2; saved" in nary("reproduce", "gran/nobel", *places).err


def test_mistakes(nary: Nary, places: tuple[object, ...]) -> None:
    outcome = nary("reproduce", "gran/nobell", "--json", *places)
    assert outcome.code == 2
    assert "gran/nobel" in outcome.error["hint"]
    assert nary("reproduce", "gran/nobel", "--seeds", "x", "--json", *places).code == 2
