"""The demo from beginning to end, shortened to a few steps."""

from pathlib import Path

from apps.command import Nary
from runs.small import small_run, weights
from typer.testing import CliRunner

from nary.apps.cli.main import app

SHORT = [
    "--set",
    "training.epochs=1",
    "--set",
    "model.hidden_dim=16",
    "--set",
    "model.ffn_dim=16",
    "--set",
    "model.num_layers=1",
]


def test_the_demo_trains_ranks_asks_and_draws_and_can_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    for _ in range(2):
        result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path), *SHORT], catch_exceptions=False)
        assert result.exit_code == 0
    assert "Marie Curie | award received | ? | point in time: 1911" in result.output
    assert "MRR" in result.output
    assert result.output.count("%") == 15  # five questions, three answers each
    assert (tmp_path / "fact.svg").read_text().startswith("<svg")
    assert (tmp_path / "run" / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "run" / "model" / "model.safetensors").is_file()
    assert (tmp_path / "mine.txt").read_text() == "keep me"


def test_a_run_that_no_demo_made_stays(nary: Nary, tmp_path: Path) -> None:
    small_run(tmp_path / "run", training__epochs=1)
    before = weights(tmp_path / "run")
    assert nary("demo", "--out", tmp_path, *SHORT).code == 2
    assert weights(tmp_path / "run") == before
