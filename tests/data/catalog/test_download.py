"""Downloading, from a server of our own: whole and checked files, or nothing."""

import hashlib
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from nary.data.catalog import CatalogEntry, FactFile, File, Variant
from nary.data.catalog import download as downloading
from nary.data.catalog.locate import cache_home, locate
from nary.errors import DatasetError, OutputError

CONTENT = b"".join(b"likes\tperson %d\ttea\n" % i for i in range(5000))
SHA = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Answers by path: /sound/..., /short/..., /silent/..., /slow/...; anything else is not found."""

    def do_GET(self) -> None:
        kind = self.path.split("/")[1]
        server = self.server
        assert isinstance(server, Server)
        server.asked[self.path] += 1
        if kind == "hangup":
            return  # not even a status line
        if kind == "silent":
            server.released.wait(10)
            return
        if kind not in ("sound", "short", "slow"):
            self.send_error(404)
            return
        if kind == "slow":
            time.sleep(0.5)
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[:-7] if kind == "short" else CONTENT)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """Counts what it is asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: Counter[str] = Counter()
        self.released = threading.Event()

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{path}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("NARY_OFFLINE", raising=False)
    monkeypatch.delenv("NARY_DATA_HOME", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.released.set()
        running.shutdown()
        thread.join()


def teas(*addresses: str, sha256: str = SHA) -> CatalogEntry:
    files = tuple(
        FactFile(path=f"{i}.txt", split="train", format="tuples", sha256=sha256, address=address)
        for i, address in enumerate(addresses)
    )
    unpublished = Variant(files=(FactFile(path="mine.txt", split="train", format="tuples"),))
    return CatalogEntry(
        name="teas",
        description="",
        sources=(),
        license="",
        citation="",
        variants=(unpublished, Variant(files=files)),
    )


def left() -> list[str]:
    """The files in the dataset's folder."""
    return sorted(path.name for path in (cache_home() / "data" / "teas").rglob("*"))


def test_the_first_published_variant_is_downloaded(server: Server) -> None:
    info = teas(server.address("sound/a"), server.address("sound/b"))
    seen: list[tuple[int, int | None]] = []
    found = locate(info, lambda done, total: seen.append((done, total)))
    assert found.folder == cache_home() / "data" / "teas"
    assert found.variant == info.variants[1]
    assert found.checksums() == [SHA, SHA]
    assert left() == ["0.txt", "1.txt"]
    assert (found.folder / "0.txt").read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    locate(info)
    assert set(server.asked.values()) == {1}, "what is here is not asked for again"


def test_labels_come_along(server: Server) -> None:
    labels = File(path="names.txt", sha256=SHA, address=server.address("sound/names"))
    found = locate(replace(teas(server.address("sound/a")), labels=labels))
    assert found.labels == found.folder / "names.txt"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("missing/a", "Not Found"),
        ("short/a", f"it ends after {len(CONTENT) - 7:,} of {len(CONTENT):,} bytes"),
        ("hangup/a", "closed connection"),
    ],
)
def test_a_failed_download_leaves_nothing_and_says_what_to_do(server: Server, path: str, why: str) -> None:
    address = server.address(path)
    with pytest.raises(DatasetError, match=why) as caught:
        locate(teas(address))
    assert address in caught.value.message
    assert f"{cache_home()}/data/teas/0.txt  from {address}" in str(caught.value.hint)
    assert left() == []


def test_a_failed_download_can_be_repeated(server: Server) -> None:
    sound = server.address("sound/a")
    with pytest.raises(DatasetError):
        locate(teas(sound, server.address("short/b")))
    assert left() == ["0.txt"]  # whole files stay
    locate(teas(sound, server.address("sound/b")))
    assert left() == ["0.txt", "1.txt"]
    assert server.asked["/sound/a"] == 1


def test_another_content_is_refused(server: Server) -> None:
    with pytest.raises(DatasetError, match="damaged or another file") as caught:
        locate(teas(server.address("sound/a"), sha256="0" * 64))
    assert SHA in caught.value.message
    assert "0" * 64 in caught.value.message
    assert caught.value.file == server.address("sound/a")
    assert left() == []


def test_a_silent_server_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloading, "TIMEOUT", 0.2)
    with pytest.raises(DatasetError, match="timed out"):
        locate(teas(server.address("silent/a")))
    assert left() == []


def test_nobody_listens(server: Server) -> None:
    with Server() as other:
        address = other.address("sound/a")
    with pytest.raises(DatasetError, match="refused"):
        locate(teas(address))


def test_offline_asks_nobody(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NARY_OFFLINE", "1")
    with pytest.raises(DatasetError, match="NARY_OFFLINE"):
        locate(teas(server.address("sound/a")))
    assert not server.asked


def test_a_cache_that_cannot_be_written(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("NARY_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(OutputError, match="cannot write") as caught:
        locate(teas(server.address("sound/a")))
    assert "NARY_CACHE_HOME" in str(caught.value.hint)


PROCESS = """
import sys
from nary.data.catalog import CatalogEntry, FactFile, Variant
from nary.data.catalog.locate import locate

files = tuple(
    FactFile(path=f"{i}.txt", split="train", format="tuples", sha256=sys.argv[1], address=address)
    for i, address in enumerate(sys.argv[2:])
)
info = CatalogEntry(name="teas", description="", sources=(), license="", citation="", variants=(Variant(files=files),))
print(len(locate(info).checksums()))
"""


def test_two_processes_download_once(server: Server) -> None:
    command = [sys.executable, "-c", PROCESS, SHA, server.address("slow/a"), server.address("slow/b")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=60)[0] for process in running] == ["2\n", "2\n"]
    assert server.asked == {"/slow/a": 1, "/slow/b": 1}
    assert left() == ["0.txt", "1.txt"]
