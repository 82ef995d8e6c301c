"""The command itself: help, version, speed of starting, and how it stops."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import nary
from nary.apps.cli import main as cli

NARY = str(Path(sys.executable).with_name("nary"))
COMMANDS = [command.name or command.callback.__name__ for command in cli.app.registered_commands]  # type: ignore[union-attr]


def shell(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=60)


def test_version() -> None:
    result = CliRunner().invoke(cli.app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"nary {nary.__version__}\n")


def test_the_package_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "nary", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"nary {nary.__version__}\n"


def test_help_lists_every_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], []):
        monkeypatch.setattr(sys, "argv", ["nary", *arguments])
        with pytest.raises(SystemExit) as exit:
            cli.main()
        assert exit.value.code == 0
        out, err = capsys.readouterr()
        assert err == ""
        assert all(f" {command} " in out for command in COMMANDS)
    assert {"stats", "check", "convert", "split", "datasets"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_shows_an_example(command: str) -> None:
    result = CliRunner().invoke(cli.app, [command, "--help"])
    assert result.exit_code == 0
    assert "Example" in result.stdout
    assert f"nary {command}" in result.stdout.split("Example", 1)[1]
    assert "--json" in result.stdout or command in ("demo",)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["stats", "--help"], ["statistics"]])
def test_nothing_heavy_is_imported_for_help(arguments: list[str]) -> None:
    program = (
        f"import sys; sys.argv = ['nary', *{arguments!r}]\n"
        "from nary.apps.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'polars', 'matplotlib', 'torch', 'zstandard', 'safetensors'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_an_interrupt_is_no_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nary.data.load.resolve", interrupt)
    monkeypatch.setattr(sys, "argv", ["nary", "stats", "nobel"])
    with pytest.raises(SystemExit) as exit:
        cli.main()
    assert exit.value.code == 130
    assert capsys.readouterr().err == "\nStopped.\n"


def test_a_real_interrupt_while_reading(tmp_path: Path) -> None:
    reading = tmp_path / "out.jsonl"
    with subprocess.Popen(
        [NARY, "convert", "-", str(reading)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"a\tr\tb\n" * 100_000)  # returns once the command reads: a pipe holds less
        process.stdin.flush()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130
        errors = process.stderr.read().decode()
    assert "Traceback" not in errors
    assert errors.endswith("Stopped.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["stats nobel", "stats nobel --json", "datasets", "check nobel", "--help"])
def test_a_reader_that_has_seen_enough(command: str) -> None:
    ended = shell(f"{NARY} {command} | head -c 1")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert len(ended.stdout) <= 1
