"""The command as a fixture."""

import sys
from pathlib import Path

import pytest
from apps.command import Nary, Outcome
from runs.small import small_data, small_run

from nary.apps.cli.main import main
from nary.runs import TrainedModel, load_model


@pytest.fixture
def nary(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Nary:
    """Run the command as the shell does."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["nary", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit:
            main()
        return Outcome(exit.value.code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small run, for tests that only read it."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    small_run(folder, dataset=small_data(100))
    return folder


@pytest.fixture(scope="session")
def model(run_folder: Path) -> TrainedModel:
    """The model of that run."""
    return load_model(run_folder)
