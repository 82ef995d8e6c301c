"""Files as bytes: unpacking, cutting into whole lines, and packing."""

import bz2
import errno
import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nary.data import files
from nary.data.files import Source, is_folder, open_to_write
from nary.errors import DataError

PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda data: zstandard.compress(data),
}
TEXT = b"".join(b"line %d of some text\n" % i for i in range(500))


def unpacked(path: Path) -> bytes:
    with Source(path) as source:
        return b"".join(source.pieces())


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK", 64)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("pack", PACK.values(), ids=PACK.keys())
def test_packed_files_are_unpacked_whatever_they_are_called(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / "facts.txt").write_bytes(pack(TEXT))
    assert unpacked(tmp_path / "facts.txt") == TEXT


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("pack", PACK.values(), ids=PACK.keys())
def test_packed_files_may_be_put_one_after_the_other(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / "facts").write_bytes(pack(b"") + pack(TEXT) + pack(b"end") + pack(b""))
    assert unpacked(tmp_path / "facts") == TEXT + b"end"


@pytest.mark.parametrize("pack", PACK.values(), ids=PACK.keys())
def test_packed_files_that_end_too_early(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(TEXT)
    for size in (len(packed) // 2, len(packed) - 1):
        (tmp_path / "facts").write_bytes(packed[:size])
        with pytest.raises(DataError, match="end too early") as error:
            unpacked(tmp_path / "facts")
        assert error.value.file == str(tmp_path / "facts")


@pytest.mark.parametrize("pack", PACK.values(), ids=PACK.keys())
def test_damaged_packed_files(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    packed = bytearray(pack(TEXT))
    packed[12:16] = b"\xff\xff\xff\xff"
    for content in (bytes(packed), pack(TEXT) + b"something else"):
        (tmp_path / "facts").write_bytes(content)
        with pytest.raises(DataError, match="damaged"):
            unpacked(tmp_path / "facts")


def test_the_compression_is_known_once_the_head_is(tmp_path: Path) -> None:
    (tmp_path / "facts").write_bytes(gzip.compress(b"text"))
    with Source(tmp_path / "facts") as source:
        assert (source.head, source.compression) == (b"text", "gzip")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"a\nb"))))
    with Source("-") as source:
        assert source.name == "standard input"
        assert list(source.chunks()) == [b"a", b"b"]
    assert not sys.stdin.buffer.closed


def test_what_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, words in (
        (tmp_path / "nowhere", "No such file"),
        (tmp_path, "is a folder"),
        (tmp_path / ("x" * 300), "too long"),
    ):
        with pytest.raises(DataError, match=words):
            Source(path)
    (tmp_path / "secret").write_text("a")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match="cannot be opened: Permission denied"):
        Source(tmp_path / "secret")


def test_reading_may_fail_midway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "facts").write_bytes(TEXT)
    with Source(tmp_path / "facts") as source:

        class Broken(io.BytesIO):
            def read(self, size: int | None = -1) -> bytes:
                raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(source, "_raw", Broken())
        with pytest.raises(DataError, match="cannot be read: Input/output error"):
            list(source.chunks())


def test_progress_is_told_in_bytes_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK", 4000)
    (tmp_path / "facts").write_bytes(TEXT)
    seen: list[tuple[int, int | None]] = []
    with Source(tmp_path / "facts", lambda done, total: seen.append((done, total))) as source:
        list(source.chunks())
    assert seen[0] == (4000, len(TEXT))
    assert seen[-1] == (len(TEXT), len(TEXT))


texts = st.text(st.sampled_from("ab\n\r é"), max_size=60)


@given(texts, st.integers(4, 20), st.booleans())
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_chunks_are_whole_lines(tmp_path: Path, text: str, size: int, mark: bool) -> None:
    path = tmp_path / "text"
    path.write_text(text, encoding="utf-8-sig" if mark else "utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch, Source(path) as source:
        patch.setattr(files, "CHUNK", size)
        found = list(source.chunks())
    assert b"\n".join(found) == text.encode().removesuffix(b"\n")
    assert bool(found) == bool(text)


def test_of_a_line_that_is_too_long_only_the_beginning_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK", 8)
    (tmp_path / "text").write_bytes(b"one\n" + b"x" * 100 + b"\nthree\n" + b"y" * 50)
    with Source(tmp_path / "text") as source:
        lines = b"\n".join(source.chunks(max_line=20)).split(b"\n")
    assert [line[:1] for line in lines] == [b"o", b"x", b"t", b"y"]
    assert [20 < len(line) <= 28 for line in lines] == [False, True, False, True]


@pytest.mark.parametrize("suffix", ["", ".txt", ".gz", ".bz2", ".zst"])
def test_files_are_packed_as_their_name_says(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    with open_to_write(path) as file:
        file.write(TEXT[:300])
        file.write(TEXT[300:])
    assert unpacked(path) == TEXT
    assert (path.read_bytes() == TEXT) == (suffix not in PACK)


def test_equal_content_gives_equal_packed_files(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        with open_to_write(tmp_path / name) as file:
            file.write(TEXT)
    content = (tmp_path / "a.gz").read_bytes()
    assert content[4:8] == b"\0\0\0\0"  # no time


def test_what_is_a_folder(tmp_path: Path) -> None:
    assert is_folder(tmp_path)
    assert not is_folder(tmp_path / "nowhere")
    assert not is_folder(tmp_path / ("x" * 5000))
