"""A server and clients that mean no good: slow, idle, many, greedy, gone."""

import asyncio
import json
import logging
import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from apps.server.running import Served, client_of
from fastapi import FastAPI, Request
from hardening.slow_clients import HEAD, PARTS, close_all, connect, read_to_end
from runs.small import NARY, PATIENCE, small_run, wait_until

from nary.apps.server import middleware
from nary.apps.server.app import ServeOptions, start
from nary.apps.server.connections import _connections_for
from nary.apps.server.errors import add_error_handlers
from nary.apps.server.logs import LimitedHandler
from nary.apps.server.middleware import BodyLimit
from nary.data.load import load
from nary.errors import SettingError
from nary.runs import load_model

FILES = 176
CONNECTIONS = FILES - 128
EXPENSIVE = "Marie Curie | award received | Nobel Prize in Physics" + 48 * " | point in time: 1903"
QUERY = "Marie Curie | award received | ?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "run"
    small_run(folder, dataset=load("nobel"), training__epochs=1, training__batch_size=256)
    return folder


def few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))


def serve(folder: Path, *options: object, log: object = subprocess.PIPE) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*NARY, "serve", str(folder), "--port", "0", *map(str, options)],
        stdout=subprocess.PIPE,
        stderr=log,  # type: ignore[call-overload]
        text=True,
        preexec_fn=few_files,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    """A server with few file descriptors, and two seconds for a request to arrive."""
    with serve(folder, "--timeout", 2) as process, client_of(process) as served:
        yield served
        assert served.stop() == 0
        assert [line for line in served.log if "Traceback" in line] == []


def test_slow_connections_are_dropped(served: Served) -> None:
    connections = {name: connect(served.url, content) for name, content in PARTS.items()}
    started = time.monotonic()
    answers = {name: read_to_end(connection) for name, connection in connections.items()}
    assert time.monotonic() - started < 30
    assert answers.pop("nothing") == b""
    assert answers.pop("a refused method, half sent").startswith(b"HTTP/1.1 405 ")
    for answer in answers.values():
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["kind"] == "timeout"
    assert served.post("/api/predict", fact=QUERY).status_code == 200


def test_slow_connections_that_send_a_drop_at_a_time(served: Served) -> None:
    connection = connect(served.url, HEAD)
    started = time.monotonic()
    with pytest.raises(OSError, match=r"reset|Broken pipe"):  # noqa: PT012 - whichever drop it is
        while time.monotonic() - started < 30:
            connection.sendall(b"X: y\r\n")
            time.sleep(0.1)
    assert time.monotonic() - started < 20
    connection.close()


def test_slow_connections_with_few_descriptors(served: Served) -> None:
    logged = sum(map(len, served.log))
    many = [connect(served.url, content) for _ in range(50) for content in PARTS.values()]
    try:
        assert len(many) > FILES
        refused = [connection for connection in many if _answer_so_far(connection).startswith(b"HTTP/1.1 503 ")]
        assert refused
        wait_until(lambda: _healthy(served), served.process)  # when the first ones have been dropped
        assert sum(map(len, served.log)) - logged < 100_000
    finally:
        close_all(many)


def _answer_so_far(connection: socket.socket) -> bytes:
    connection.settimeout(0.01)
    try:
        return connection.recv(4096)
    except OSError:
        return b""


def _healthy(served: Served) -> bool:
    answer = read_to_end(connect(served.url, b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
    return answer.startswith(b"HTTP/1.1 200 ")


def test_the_number_of_connections_fits_the_descriptors() -> None:
    assert [_connections_for(files) for files in (16, 256, 1024, float("inf"))] == [8, 128, 512, 512]
    assert _connections_for(FILES) == CONNECTIONS


def test_slow_connections_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "_MAX_BUFFERED", 2500)
    app = FastAPI()

    @app.post("/")
    async def read(request: Request) -> int:
        return len(await request.body())

    add_error_handlers(app)
    app.add_middleware(BodyLimit)

    async def ask(end: asyncio.Event) -> int:
        """Send a body of 1000 bytes, and its end later; the status of the answer."""
        statuses = []
        pieces = [b"x" * 1000, b""]

        async def receive() -> dict[str, object]:
            if len(pieces) == 1:
                await end.wait()
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def send(message: dict[str, object]) -> None:
            statuses.append(message.get("status"))

        scope = {"type": "http", "method": "POST", "path": "/", "headers": [], "query_string": b""}
        await app({**scope, "server": ("localhost", 80), "scheme": "http", "root_path": ""}, receive, send)
        return int(str(statuses[0]))

    async def main() -> list[int]:
        end = asyncio.Event()
        asked = [asyncio.create_task(ask(end)) for _ in range(4)]
        await asyncio.sleep(0.05)
        end.set()
        return [*await asyncio.gather(*asked), await ask(end)]

    assert asyncio.run(main()) == [200, 200, 503, 503, 200]


def test_slow_connections_do_not_fill_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    handler = LimitedHandler()
    record = {"name": "asyncio", "msg": "no more descriptors", "levelname": "ERROR", "levelno": 40}
    for _ in range(1000):
        handler.emit(logging.makeLogRecord(record))
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert 5 <= len(lines) < 20
    assert lines[0]["message"] == "no more descriptors"


def test_nobody_is_sent_to_another_host(served: Served) -> None:
    answer = served.client.get("/docs/", headers={"Host": "evil.example"})
    assert answer.status_code == 404
    assert "location" not in answer.headers


def test_65_small_requests_block_nobody(served: Served) -> None:
    """Clients that leave are not worked for, and those that stay wait for themselves."""
    body = json.dumps({"fact": EXPENSIVE, "position": "object"}).encode()
    request = HEAD.replace(b"predict", b"explain") + b"Content-Length: %d\r\n\r\n" % len(body) + body
    gone = [connect(served.url, request) for _ in range(30)]
    time.sleep(0.3)
    close_all(gone)
    with ThreadPoolExecutor(32) as greedy:
        asked = [greedy.submit(served.post, "/api/explain", fact=EXPENSIVE, position="object") for _ in range(32)]
        time.sleep(0.2)
        answer = served.post("/api/predict", fact=QUERY)
        before = sum(one.done() for one in asked)
        statuses = {one.result().status_code for one in asked}
    assert answer.status_code == 200
    assert before < 32  # it had its turn before all the others
    assert statuses <= {200, 503, 504}
    assert any('"status":499' in line for line in served.log)


def test_a_half_sent_request_does_not_delay_the_end_nor_a_full_disk_an_answer(folder: Path) -> None:
    with Path("/dev/full").open("w") as full, serve(folder, "--timeout", PATIENCE, log=full) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[2]
        answer = read_to_end(connect(url, b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
        assert answer.endswith(b'{"status":"ok"}')
        half = [connect(url, content) for content in PARTS.values()]
        time.sleep(0.3)
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert time.monotonic() - started < 20
        assert read_to_end(half[3]).startswith(b"HTTP/1.1 503 ")
        close_all(half)


def test_two_servers_on_one_port(folder: Path) -> None:
    with socket.socket() as other, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()

        def load_slowly() -> object:
            """Another server takes the port meanwhile."""
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("127.0.0.1", port))
            other.listen()
            return load_model(folder)

        with pytest.raises(SettingError, match="Address already in use"):
            start(load_slowly, ServeOptions(port=port), lambda address: None)  # type: ignore[arg-type]
