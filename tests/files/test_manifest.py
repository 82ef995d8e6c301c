"""Every change of a folder is noticed, and no kill leaves it half changed."""

import os
import shutil
from pathlib import Path

import orjson
import pytest

from nary.errors import OutputError
from nary.files.manifest import (
    MANIFEST,
    IntegrityError,
    check_manifest,
    read_manifest,
    record,
    updating,
    verify,
    write_manifest,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "facts").mkdir(parents=True)
    for name, content in {"a.json": "one", "b.bin": "two", "facts/c": "three"}.items():
        (folder / name).write_text(content)
    write_manifest(folder)
    return folder


def states(folder: Path) -> dict[str, str]:
    return {check.name: check.state for check in verify(folder) if check.state != "ok"}


def test_a_folder_as_it_was_written(folder: Path) -> None:
    assert check_manifest(folder)
    assert [check.name for check in verify(folder)] == ["a.json", "b.bin", "facts/c"]
    assert states(folder) == {}
    (folder / MANIFEST).unlink()
    assert not check_manifest(folder)


@pytest.mark.parametrize("name", ["a.json", "b.bin", "facts/c"])
def test_every_change_is_noticed(folder: Path, name: str) -> None:
    path = folder / name
    content = bytearray(path.read_bytes())
    for place in range(8 * len(content)):
        content[place // 8] ^= 1 << place % 8
        path.write_bytes(content)
        with pytest.raises(IntegrityError, match="changed since it was written") as caught:
            check_manifest(folder)
        assert caught.value.file == str(path)
        content[place // 8] ^= 1 << place % 8
    path.write_bytes(content[:-1])
    assert states(folder) == {name: "changed"}
    path.unlink()
    assert states(folder) == {name: "missing"}
    with pytest.raises(IntegrityError, match="missing"):
        check_manifest(folder)
    assert check_manifest(folder, ignore=[name])
    path.mkdir()
    assert states(folder) == {name: "changed"}
    path.rmdir()
    os.mkfifo(path)
    assert states(folder) == {name: "changed"}


def test_what_is_not_listed_is_said(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")
    (folder / ".lock").write_text("")
    assert states(folder) == {"notes.txt": "not listed"}
    assert check_manifest(folder)


def test_folders_with_a_manifest_of_their_own_are_checked_as_parts(folder: Path) -> None:
    write_manifest(folder / "facts")
    write_manifest(folder)
    assert set(read_manifest(folder) or ()) == {"a.json", "b.bin"}
    (folder / "facts" / "c").write_text("other")
    assert states(folder) == {"facts/c": "changed"}


def test_files_that_grow_may_grow(folder: Path) -> None:
    log = folder / "log.txt"
    log.write_text("one\n")
    record(folder, ["log.txt", "none"], grows=True)
    log.write_text("one\ntwo\n")
    assert check_manifest(folder)
    log.write_text("One\ntwo\n")
    assert states(folder) == {"log.txt": "changed"}
    log.write_text("one")
    assert states(folder) == {"log.txt": "changed"}
    with updating(folder) as update:
        update.path("log.txt").write_text("")
    log.write_text("three")
    assert states(folder) == {}


def change(folder: Path, text: str = "ONE") -> None:
    with updating(folder) as update:
        update.path("a.json").write_text(text)
        update.path("d.txt").write_text("four")
        update.remove("b.bin")


def change_and_kill(folder: Path, calls: int, text: str = "ONE") -> bool:
    """Change, unless killed before the call of that number of those that change the disk; whether it was not killed."""
    left = calls
    remaining = {name: getattr(os, name) for name in ("replace", "fsync", "unlink")}

    def stopping(name: str) -> object:
        def call(*arguments: object) -> object:
            nonlocal left
            left -= 1
            if left <= 0:
                raise SystemExit  # and everything after it, as for a dead process
            return remaining[name](*arguments)

        return call

    with pytest.MonkeyPatch.context() as patched:
        for name in remaining:
            patched.setattr(os, name, stopping(name))
        try:
            change(folder, text)
        except SystemExit:
            return False
    return True


def test_files_are_changed_together(folder: Path) -> None:
    change(folder)
    assert states(folder) == {}
    assert set(read_manifest(folder) or ()) == {"a.json", "d.txt", "facts/c"}
    assert (folder / "a.json").read_text() == "ONE"
    with pytest.raises(TypeError), updating(folder) as update:
        update.path("a.json").write_text(None)  # type: ignore[arg-type]
    assert states(folder) == {}
    assert sorted(path.name for path in folder.iterdir()) == ["a.json", "d.txt", "facts", MANIFEST]


@pytest.mark.parametrize("calls", range(1, 20))
def test_a_kill_at_any_moment_leaves_known_files(folder: Path, calls: int) -> None:
    """The folder holds old or new files, and says so."""
    done = change_and_kill(folder, calls)
    assert set(states(folder).values()) <= {"not listed"}
    assert check_manifest(folder)
    assert (folder / "a.json").read_text() in (("ONE",) if done else ("one", "ONE"))
    change(folder)
    assert states(folder) == {}


@pytest.mark.parametrize("first", range(1, 20))
def test_a_second_kill_leaves_known_files_too(folder: Path, tmp_path: Path, first: int) -> None:
    change_and_kill(folder, first)
    for second in range(1, 20):
        again = tmp_path / str(second)
        shutil.copytree(folder, again)
        change_and_kill(again, second, "1")
        assert set(states(again).values()) <= {"not listed"}, second


def test_a_full_disk_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OutputError, match="No space left"):
            change(folder)
    assert states(folder) == {}
    assert (folder / "a.json").read_text() == "one"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b'{"format": 2, "files": {}}',
        b'{"format": "1", "files": {}}',
        b'{"format": 1, "files": {"a.json": "abc"}}',
        b'{"format": 1, "files": {"a.json": {"size": "3", "sha256": "0"}}}',
        b'{"format": 1, "files": {"../a": {"size": 3, "sha256": "0"}}}',
        b'{"format": 1, "files": {"/etc/passwd": {"size": 3, "sha256": "0"}}}',
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_a_damaged_manifest(folder: Path, content: bytes) -> None:
    (folder / MANIFEST).write_bytes(content)
    with pytest.raises(IntegrityError) as caught:
        check_manifest(folder)
    assert caught.value.file == str(folder / MANIFEST)


def test_it_is_plain_json(folder: Path) -> None:
    content = orjson.loads((folder / MANIFEST).read_bytes())
    assert content["format"] == 1
    assert content["files"]["a.json"] == {
        "size": 3,
        "sha256": "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
    }
