"""``nary tune`` as its users see it."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from apps.command import Nary
from runs.small import options, small_data
from training.small import OnStep

from nary.data.io.writer import write
from nary.reproduction.page import results_page
from nary.reproduction.records import read_results
from nary.runs import load_model
from nary.training.callbacks import Callback

GRID = ("--grid", "loss.entity_label_smoothing=0.0,0.8", "--grid", "model.dropout=0.1")


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is pressed at the first step of every training."""

    @contextmanager
    def bar(show: bool) -> Iterator[Callback]:
        yield OnStep(lambda report: signal.raise_signal(signal.SIGINT))

    monkeypatch.setattr("nary.apps.cli.tune.TrainingBar", bar)


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("facts") / "toy.jsonl"
    write(small_data(), path)
    return path


def test_tune_and_retrain(nary: Nary, facts: Path, tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    outcome = nary("tune", facts, *GRID, *options(), "--out", out, "--retrain", "--json").json
    assert [trial["values"]["loss.entity_label_smoothing"] for trial in outcome["trials"]] == [0.0, 0.8]
    assert outcome["best"]["mrr"] == max(trial["mrr"] for trial in outcome["trials"])
    assert (outcome["recipe"], outcome["run"]) == (str(out / "best.toml"), str(out / "best"))
    recipe = load_model(out / "best").recipe
    assert recipe is not None
    assert recipe.data.train_on == ["train", "valid"]
    assert recipe.loss.entity_label_smoothing == outcome["best"]["values"]["loss.entity_label_smoothing"]
    times = {path: path.stat().st_mtime_ns for path in out.glob("trials/*/model/model.safetensors")}
    again = nary("tune", facts, *GRID, *options(), "--out", out)
    assert again.code == 0, again.err
    assert {path: path.stat().st_mtime_ns for path in times} == times  # they were only read
    assert f"Next: nary train {facts} --recipe {out / 'best.toml'}" in again.out
    assert again.out.index(f"{outcome['best']['mrr']:.3f}") < again.out.index("best.toml")
    trained = nary("train", facts, "--recipe", out / "best.toml", "--out", tmp_path / "again", "--json")
    assert trained.json["epochs"] > 0


def test_random_search_tries_as_many_as_told(nary: Nary, facts: Path, tmp_path: Path) -> None:
    many = ("--grid", "loss.entity_label_smoothing=0.0,0.2,0.4,0.6,0.8")
    tried = nary(
        "tune", facts, *many, *options(), "--search", "random", "--trials", 2, "--out", tmp_path / "a", "--json"
    )
    assert len(tried.json["trials"]) == 2


def test_each_changes_one_setting_at_a_time_and_the_trials_are_recorded(
    nary: Nary, facts: Path, tmp_path: Path
) -> None:
    given = (*GRID, *options(), "--search", "each", "--out", tmp_path / "tuned", "--results", tmp_path / "results")
    outcome = nary("tune", facts, *given, "--json").json
    smoothings = [{"loss.entity_label_smoothing": value} for value in (0.0, 0.8)]
    assert [trial["values"] for trial in outcome["trials"]] == [{}, *smoothings, {"model.dropout": 0.1}]
    recorded = read_results(tmp_path / "results")
    assert {(result["split"], *result["trained_on"]) for result in recorded} == {("valid", "train")}
    told = {trial["mrr"] for trial in outcome["trials"]}
    assert {result["metrics"]["entity"]["mrr"] for result in recorded} == told
    assert sorted(result["recipe"]["loss"]["entity_label_smoothing"] for result in recorded)[-1] == 0.8
    (tmp_path / "results" / "published.toml").write_text("")
    assert "`entity_label_smoothing = 0.8`" in results_page(tmp_path / "results")
    table = nary("tune", facts, *given)
    assert table.code == 0, table.err


def test_a_range_is_searched_with_halving(nary: Nary, facts: Path, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    given = ("--range", "training.learning_rate=1e-9:1e-1:log", "--trials", 6, "--halving", "--out", tmp_path / "a")
    outcome = nary("tune", facts, *given, *options(training__epochs=9), "--json").json
    stopped = [trial for trial in outcome["trials"] if trial["stopped"]]
    assert len(outcome["trials"]) == 6
    assert stopped
    assert not outcome["best"]["stopped"]
    assert "1, stopped" in nary("tune", facts, *given, *options(training__epochs=9)).out


@pytest.mark.usefixtures("interrupted")
def test_ctrl_c_saves_and_says_that_the_same_command_goes_on(nary: Nary, facts: Path, tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    for step in (1, 2):
        outcome = nary("tune", facts, *GRID, *options(), "--out", out)
        assert outcome.code == 130
        assert f"stopped after step {step}; saved" in outcome.err
        assert "Run the same command again to resume." in outcome.err
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
        (("--range", "model.dropout=0.2"), "cannot read the range"),
        (("--range", "model.dropout=0.1:0.2", "--search", "grid"), "cannot try all of the range"),
        ((), "the search space is empty"),
    ],
)
def test_mistakes(nary: Nary, facts: Path, tmp_path: Path, given: tuple[str, ...], message: str) -> None:
    outcome = nary("tune", facts, *given, "--out", tmp_path / "tuned", "--json")
    assert outcome.code == 2
    assert message in outcome.error["message"]
    assert not (tmp_path / "tuned").exists()
