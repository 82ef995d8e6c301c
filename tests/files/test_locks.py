"""One process at a time, also after others were killed."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nary.errors import OutputError
from nary.files.locks import LockedError, file_lock, folder_lock
from nary.files.writing import temporary_path

HOLD = """
import sys, time
from pathlib import Path
from nary.files.locks import folder_lock
with folder_lock(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(60)
"""


def test_a_lock_of_a_killed_process_blocks_nobody(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "locked\n"
    with pytest.raises(LockedError, match="in use by another process") as caught, folder_lock(tmp_path):
        pass
    assert (caught.value.kind, caught.value.exit_code) == ("locked", 2)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert list(tmp_path.iterdir())  # its lock file is still there
    with folder_lock(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_temporary_files_of_a_killed_process_go_with_the_next_lock(tmp_path: Path) -> None:
    write = "import sys; from pathlib import Path; from nary.files.writing import temporary_path\n"
    write += "temporary_path(Path(sys.argv[1])).touch()"
    subprocess.run([sys.executable, "-c", write, str(tmp_path / "out.json")], check=True)
    (left,) = tmp_path.iterdir()
    mine = temporary_path(tmp_path / "out.json")  # which removes it as well
    left.touch()
    mine.touch()
    with folder_lock(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == [mine]


def test_whoever_waits_gets_it_next(tmp_path: Path) -> None:
    counter, most = 0, 0

    def work() -> None:
        nonlocal counter, most
        for _ in range(10):
            with file_lock(tmp_path / "out.jsonl", wait=30):
                counter += 1
                most = max(most, counter)
                counter -= 1

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_lock_that_is_a_link_harms_nothing(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "run" / ".lock").symlink_to("../victim")
    with pytest.raises(OutputError), folder_lock(tmp_path / "run"):
        pass
    assert (tmp_path / "victim").read_text() == "mine"


def test_what_cannot_be_locked(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot write"), folder_lock(tmp_path / "none"):
        pass
    assert not (tmp_path / "none").exists()
