"""The number of threads: variables, options, control groups, and the note on a busy machine."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import torch

import nary
from nary import threads
from nary.errors import SettingError

VARIABLES = ("NARY_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
SHOW = "print(nary.threads.server_threads(4), os.getenv('OMP_NUM_THREADS'), os.getenv('GOMP_SPINCOUNT'))"
COMMAND = "from nary.apps.cli.main import main; main()"


def run(code: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, with no variables about threads but these."""
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES} | variables
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("variables", "shown"),
    [
        ({}, "3 None 1000"),
        ({"NARY_THREADS": "3"}, "4 3 1000"),
        ({"NARY_THREADS": " 3 ", "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "1"}, "4 3 1000"),
        ({"OMP_NUM_THREADS": "2", "GOMP_SPINCOUNT": "7"}, "4 2 7"),
        ({"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "ACTIVE"}, "4 2 None"),
    ],
)
def test_import_sets_what_the_user_has_not(variables: dict[str, str], shown: str) -> None:
    assert run(f"import os, nary; {SHOW}", **variables).stdout.strip() == shown


def test_torch_follows_whichever_is_imported_first() -> None:
    show = "print(torch.get_num_threads(), end=' ')"
    first = run(f"import nary, torch; {show}; nary.threads.use_threads(2); {show}", NARY_THREADS="1")
    assert first.stdout.split() == ["1", "2"]
    assert run(f"import torch; import nary; {show}", NARY_THREADS="1").stdout.split() == ["1"]


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "²"])
def test_an_invalid_variable_is_an_error_when_nary_is_used(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NARY_THREADS", value)
    threads.configure()  # importing does not fail
    with pytest.raises(SettingError, match="NARY_THREADS is"):
        _ = nary.load


def test_commands_have_an_option_and_check_the_variable(tmp_path: Path) -> None:
    failed = [
        run(COMMAND, "train", "nobel", NARY_THREADS="two"),
        run(COMMAND, "train", "nobel", "--threads", "0"),
    ]
    for process in failed:
        assert process.returncode == 2
        assert "--threads" in process.stderr
        assert "Traceback" not in process.stderr
    code = "from nary.apps.cli.main import app; app(standalone_mode=False)"
    code += "; import torch; print(torch.get_num_threads())"
    options = ("--threads", "1", "--set", "training.epochs=0", "--out", str(tmp_path / "run"), "--json")
    trained = run(code, "train", "nobel", *options)
    assert trained.stdout.splitlines()[-1] == "1", trained.stderr


def group(root: Path, lines: str, files: dict[str, str]) -> Path:
    """A file system with the control groups of a process."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(lines)
    for name, content in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


@pytest.mark.parametrize(
    ("lines", "files", "quota"),
    [
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 1.5),
        ("0::/\n", {"cpu.max": "max 100000\n"}, None),
        ("0::/\n", {}, None),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "200000 100000\n"}, 2.0),
        ("0::/a/b\n", {"a/b/cpu.max": "50000 100000\n", "a/cpu.max": "200000 100000\n"}, 0.5),
        ("0::/not/mounted\n", {"cpu.max": "300000 100000\n"}, 3.0),
        (
            "3:cpuset:/\n2:cpu,cpuacct:/docker/abc\n",
            {"cpu,cpuacct/cpu.cfs_quota_us": "400000\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n"},
            4.0,
        ),
        ("2:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ("2:cpuset:/\n1:name=systemd:/\n", {"cpuset/cpu.max": "100000 100000\n"}, None),
    ],
)
def test_cpu_quota(lines: str, files: dict[str, str], quota: float | None, tmp_path: Path) -> None:
    assert threads.cpu_quota(group(tmp_path, lines, files)) == quota


def test_without_control_groups_there_is_no_quota(tmp_path: Path) -> None:
    assert threads.cpu_quota(tmp_path) is None


@pytest.mark.parametrize(("quota", "count"), [(1.0, "1"), (1.5, "2"), (0.2, "1"), (64.0, None)])
def test_a_quota_limits_the_threads(quota: float, count: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, "")  # restored afterwards
        monkeypatch.delenv(name)
    monkeypatch.setattr(threads, "cpu_quota", lambda: quota)
    monkeypatch.setattr(threads, "_visible_cores", lambda: 8)
    monkeypatch.setattr(threads, "_chosen", False)
    threads.configure()
    assert os.environ.get("OMP_NUM_THREADS") == count
    assert threads.server_threads(4) == 3


def test_a_busy_machine_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(threads, "_imported_late", False)
    monkeypatch.setattr(os, "getloadavg", lambda: (5.04, 0.0, 0.0))
    note = threads.oversubscription_note(2)
    assert note is not None
    assert "a load of 5.0 on 2 cores" in note
    assert "--threads 1" in note
    assert "before torch" not in note
    monkeypatch.setattr(threads, "_imported_late", True)
    assert "Import nary before torch" in (threads.oversubscription_note(2) or "")
    assert threads.oversubscription_note(1) is None
    monkeypatch.setattr(os, "getloadavg", lambda: (2.9, 9.0, 9.0))
    assert threads.oversubscription_note(2) is None


def test_training_warns_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nary.api.oversubscription_note", lambda count: f"busy, {count}")
    with pytest.warns(UserWarning, match="busy, "):
        nary.train("nobel", epochs=0)


def test_one_thread_ends_with_its_block() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with suppress(KeyError), threads.one_thread():
            assert torch.get_num_threads() == 1
            raise KeyError
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
