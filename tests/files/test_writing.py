"""Files appear whole or not at all, where they were meant to be, and nothing is left behind."""

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nary.errors import OutputError
from nary.files import writing
from nary.files.writing import append, atomic_path, sync


def test_a_file_appears_whole(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out.txt"
    with atomic_path(out) as temporary:
        temporary.write_text("content")
        assert temporary.parent == out.parent
        assert temporary.suffix == ".txt"
        assert not out.exists()
    assert out.read_text() == "content"
    assert [path.name for path in out.parent.iterdir()] == ["out.txt"]


def write_half(out: Path, failure: BaseException) -> None:
    with atomic_path(out) as folder:
        folder.mkdir()
        (folder / "part").write_text("half")
        raise failure


def test_a_file_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    out.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_half(out, KeyboardInterrupt())
    assert out.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_a_folder_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"cannot write .*out: No space left"):
        write_half(tmp_path / "out", OSError(errno.ENOSPC, "No space left on device"))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_takes_the_place_of_an_empty_one_only(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for content, refused in (("first", False), ("second", True)):
        try:
            with atomic_path(out) as folder:
                folder.mkdir()
                (folder / "file").write_text(content)
        except OutputError:
            assert refused
        assert (out / "file").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file" / "out", tmp_path / ("x" * 300)):
        with pytest.raises(OutputError, match="cannot write"), atomic_path(out) as temporary:
            temporary.write_text("content")


def write(out: Path, content: str = "new") -> None:
    with atomic_path(out) as temporary:
        temporary.write_text(content)


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "out.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("data/out.txt")
    (tmp_path / "dangling.txt").symlink_to("data/later.txt")
    write(tmp_path / "link.txt")
    write(tmp_path / "dangling.txt")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "data" / "out.txt").read_text() == (tmp_path / "data" / "later.txt").read_text() == "new"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_an_existing_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    out = tmp_path / "out.txt"
    out.write_text("old")
    out.chmod(mode)
    write(out)
    assert (out.read_text(), stat.S_IMODE(out.stat().st_mode)) == ("new", mode)


def test_devices_and_pipes_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/null")
    for path in (tmp_path / "pipe", tmp_path / "null", Path("/dev/null"), Path("/dev/zero")):
        before = path.lstat()
        with pytest.raises(OutputError, match="it is a device or a pipe"):
            write(path)
        after = path.lstat()
        assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert not list(Path("/dev").glob(".nary-*"))


def test_the_root_folder_is_refused() -> None:
    for path in (Path("/"), Path("/..")):
        with pytest.raises(OutputError, match="it is a folder"):
            write(path)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_written_to(name: str) -> None:
    program = f"""
from pathlib import Path
from nary.files.writing import atomic_path
with atomic_path(Path({name!r})) as temporary:
    temporary.write_text("content")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "content"


def test_everything_is_on_the_disk_before_it_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    fsync, replace = os.fsync, os.replace

    def noted_fsync(descriptor: int) -> None:
        events.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        fsync(descriptor)

    def noted_replace(source: Path, target: Path) -> None:
        events.append("renamed")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "replace", noted_replace)
    with atomic_path(tmp_path / "out") as folder:
        (folder / "inner").mkdir(parents=True)
        (folder / "inner" / "file").write_text("content")
        temporary = folder.name
    assert events == ["file", "inner", temporary, "renamed", tmp_path.name]


def test_a_disk_that_fails_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(OutputError, match="Input/output error"):
        write(tmp_path / "out.txt")
    assert list(tmp_path.iterdir()) == []


def test_temporary_files_of_killed_processes_are_removed(tmp_path: Path) -> None:
    program = f"""
import time
from pathlib import Path
from nary.files.writing import atomic_path
with atomic_path(Path({str(tmp_path)!r}) / "out.txt") as temporary:
    temporary.write_text("half")
    print("written", flush=True)
    time.sleep(60)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    write(tmp_path / "other.txt")
    assert len(list(tmp_path.iterdir())) == 2  # what a running process is writing stays
    process.send_signal(signal.SIGKILL)
    process.communicate()
    write(tmp_path / "other.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["other.txt"]


def test_temporary_files_of_other_machines_are_removed_after_a_day(tmp_path: Path) -> None:
    recent, old = (tmp_path / f".nary-0123abcd-{number}-0-out.txt" for number in (1, 2))
    for path in (recent, old):
        path.write_text("half")
    os.utime(old, (time.time() - 100_000,) * 2)
    other = tmp_path / ".nary-notes"  # a file of the user
    other.write_text("mine")
    write(tmp_path / "out.txt")
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "out.txt", recent, other])


def test_names_as_long_as_a_file_system_has_them(tmp_path: Path) -> None:
    out = tmp_path / ("x" * 251 + ".txt")
    write(out)
    assert out.read_text() == "new"


def test_appending_follows_no_link(tmp_path: Path) -> None:
    append(tmp_path / "log", b"one\n")
    append(tmp_path / "log", b"two\n")
    assert (tmp_path / "log").read_bytes() == b"one\ntwo\n"
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "link").symlink_to("victim")
    with pytest.raises(OutputError, match="cannot write"):
        append(tmp_path / "link", b"x")
    assert (tmp_path / "victim").read_text() == "mine"


def test_flushing_what_is_not_there_fails(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sync(tmp_path / "none")
    assert writing.is_temporary(writing.temporary_path(tmp_path / "a").name)
