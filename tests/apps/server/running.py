"""``nary serve`` as a process of its own, asked over HTTP."""

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from runs.small import NARY

ADDRESS = re.compile(r"http://[^\s\"]+")


@dataclass
class Served:
    """A running server, and a client for it."""

    url: str
    process: subprocess.Popen[str]
    client: httpx.Client
    log: list[str] = field(default_factory=list)
    """What the server wrote on standard error."""

    def get(self, path: str, **parameters: object) -> httpx.Response:
        return self.client.get(path, params={key: str(value) for key, value in parameters.items()})

    def post(self, path: str, **content: object) -> httpx.Response:
        return self.client.post(path, json=content)

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> int:
        """End the server; its exit code."""
        self.process.send_signal(with_signal)
        return self.process.wait(timeout=120)


def same_json(actual: Any, expected: Any) -> bool:
    """Whether two JSON values agree, numbers up to the rounding of sums in another order."""
    if isinstance(expected, dict):
        return actual.keys() == expected.keys() and all(same_json(actual[key], expected[key]) for key in expected)
    if isinstance(expected, list | tuple):
        return len(actual) == len(expected) and all(map(same_json, actual, expected))
    return actual == pytest.approx(expected, rel=1e-4, abs=1e-5) if isinstance(expected, float) else actual == expected


@contextmanager
def nary_process(*arguments: object, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """``nary`` with these arguments, ended if it has not ended by itself."""
    process = subprocess.Popen(
        [*NARY, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "BROWSER": "true", **environment},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


@contextmanager
def serving(*arguments: object, token: str | None = None, **environment: str) -> Iterator[Served]:
    """``nary serve`` with these arguments on a free port; the client sends ``token``."""
    with nary_process("serve", *arguments, "--port", 0, **environment) as process, client_of(process, token) as served:
        yield served


@contextmanager
def client_of(process: subprocess.Popen[str], token: str | None = None) -> Iterator[Served]:
    """A client for the server that ``process`` becomes, once it says where it is."""
    assert process.stdout is not None
    log: list[str] = []
    threading.Thread(target=_collect, args=(process, log), daemon=True).start()
    address = next((match for line in process.stdout if (match := ADDRESS.search(line))), None)
    assert address, "".join(log)
    headers: Mapping[str, Any] = {"Authorization": f"Bearer {token}"} if token else {}
    with httpx.Client(base_url=address[0], headers=headers, timeout=120) as client:
        yield Served(address[0], process, client, log)


def _collect(process: subprocess.Popen[str], log: list[str]) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        log.append(line)  # noqa: PERF402 - others read the list meanwhile
