"""The command as a fixture."""

import sys

import pytest
from apps.command import Nary, Outcome

from nary.apps.cli.main import main


@pytest.fixture
def nary(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Nary:
    """Run the command as the shell does."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["nary", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit:
            main()
        return Outcome(exit.value.code, *capsys.readouterr())

    return run
