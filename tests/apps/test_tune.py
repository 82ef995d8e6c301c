"""``nary tune`` as its users see it."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from apps.command import Nary
from runs.small import options, small_data

from nary.apps.results.page import results_page
from nary.data.io.writer import write
from nary.runs import load_run
from nary.runs.results import read_results
from nary.training.loop import Listener

GRID = ("--grid", "training.entity_smoothing=0.0,0.8", "--grid", "model.dropout=0.1")


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is pressed at the first step of every training."""

    @contextmanager
    def bar(show: bool) -> Iterator[Listener]:
        yield lambda report: signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("nary.apps.cli.tune.training_bar", bar)


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("facts") / "toy.jsonl"
    write(small_data(), path)
    return path


def test_tune_and_retrain(nary: Nary, facts: Path, tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    found = nary("tune", facts, *GRID, *options(), "--out", out, "--retrain", "--json").json
    assert [trial["values"]["training.entity_smoothing"] for trial in found["trials"]] == [0.0, 0.8]
    assert found["best"]["mrr"] == max(trial["mrr"] for trial in found["trials"])
    assert (found["recipe"], found["run"]) == (str(out / "best.toml"), str(out / "best"))
    recipe = load_run(out / "best").recipe
    assert recipe is not None
    assert recipe.data.train_on == ["train", "valid"]
    assert recipe.training.entity_smoothing == found["best"]["values"]["training.entity_smoothing"]
    times = {path: path.stat().st_mtime_ns for path in out.glob("trials/*/model/model.safetensors")}
    again = nary("tune", facts, *GRID, *options(), "--out", out)
    assert again.code == 0, again.err
    assert {path: path.stat().st_mtime_ns for path in times} == times  # they were only read
    assert f"Next: nary train {facts} --recipe {out / 'best.toml'}" in again.out
    assert again.out.index(f"{found['best']['mrr']:.3f}") < again.out.index("best.toml")
    trained = nary("train", facts, "--recipe", out / "best.toml", "--out", tmp_path / "again", "--json")
    assert trained.json["epochs"] > 0


def test_random_search_tries_as_many_as_told(nary: Nary, facts: Path, tmp_path: Path) -> None:
    many = ("--grid", "training.entity_smoothing=0.0,0.2,0.4,0.6,0.8")
    tried = nary(
        "tune", facts, *many, *options(), "--search", "random", "--trials", 2, "--out", tmp_path / "a", "--json"
    )
    assert len(tried.json["trials"]) == 2


def test_each_changes_one_setting_at_a_time_and_the_trials_are_recorded(
    nary: Nary, facts: Path, tmp_path: Path
) -> None:
    given = (*GRID, *options(), "--search", "each", "--out", tmp_path / "tuned", "--results", tmp_path / "results")
    found = nary("tune", facts, *given, "--json").json
    smoothings = [{"training.entity_smoothing": value} for value in (0.0, 0.8)]
    assert [trial["values"] for trial in found["trials"]] == [{}, *smoothings, {"model.dropout": 0.1}]
    recorded = read_results(tmp_path / "results")
    assert {(result["split"], *result["trained_on"]) for result in recorded} == {("valid", "train")}
    told = {trial["mrr"] for trial in found["trials"]}
    assert {result["metrics"]["entity"]["mrr"] for result in recorded} == told
    assert sorted(result["recipe"]["training"]["entity_smoothing"] for result in recorded)[-1] == 0.8
    (tmp_path / "results" / "published.toml").write_text("")
    assert "`entity_smoothing = 0.8`" in results_page(tmp_path / "results")
    table = nary("tune", facts, *given)
    assert table.code == 0, table.err


@pytest.mark.usefixtures("interrupted")
def test_ctrl_c_saves_and_says_that_the_same_command_goes_on(nary: Nary, facts: Path, tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    for step in (1, 2):
        found = nary("tune", facts, *GRID, *options(), "--out", out)
        assert found.code == 130
        assert f"stopped after step {step}; saved" in found.err
        assert "The same command goes on." in found.err
    assert not (out / "best.toml").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--grid", "evaluation.ties=mean,optimistic"), "evaluation.ties cannot be tuned"),
        (("--grid", "model.dropout=0.1,x"), "model.dropout is 'x'"),
        (("--grid", "model.dropuot=0.1,0.2"), "unknown key model.dropuot"),
        (("--grid", "model.dropout"), "cannot read the grid"),
        ((*GRID, "--search", "best"), "--search best"),
        ((*GRID, "--trials", "2"), "tries everything"),
        ((), "Missing option"),
    ],
)
def test_mistakes(nary: Nary, facts: Path, tmp_path: Path, given: tuple[str, ...], message: str) -> None:
    found = nary("tune", facts, *given, "--out", tmp_path / "tuned", "--json")
    assert found.code == 2
    assert message in found.error["message"]
    assert not (tmp_path / "tuned").exists()
