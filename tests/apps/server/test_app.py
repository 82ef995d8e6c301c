"""Starting and stopping the server: options, errors before serving, and a clean shutdown."""

import signal
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from apps.command import Nary
from apps.server.running import client_of, nary_process, serving

from nary.apps.server.app import ServeOptions
from nary.errors import SettingError

LONG = "Marie Curie | award received | Nobel Prize in Physics" + 20 * " | point in time: 1903"
MANY = 120  # of these: seconds of work


def test_a_request_in_flight_is_answered_after_sigterm(nobel_folder: Path) -> None:
    with serving(nobel_folder, "--timeout", 300, "--json") as served, ThreadPoolExecutor(1) as other:
        slow = other.submit(served.post, "/api/score", facts=[LONG] * MANY)
        time.sleep(0.3)
        assert not slow.done()
        served.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        with pytest.raises(httpx.ConnectError):
            httpx.get(served.url + "health")
        assert not slow.done()
        answer = slow.result(timeout=120)
        assert answer.status_code == 200
        assert len(answer.json()["facts"]) == MANY
        assert served.process.wait(timeout=120) == 0
        assert "Traceback" not in "".join(served.log)


def test_the_demo_can_serve_its_model_until_ctrl_c(tmp_path: Path) -> None:
    with (
        nary_process("demo", "--serve", "--out", tmp_path, "--minutes", "0.03") as process,
        client_of(process) as served,
    ):
        assert served.get("/api/model").json()["dataset"] == "nobel"
        assert served.stop(signal.SIGINT) == 0


def test_options_that_are_refused() -> None:
    with pytest.raises(SettingError, match="there is no token"):
        ServeOptions(host="0.0.0.0")
    ServeOptions(host="0.0.0.0", token="open-sesame")
    ServeOptions(host="0.0.0.0", insecure=True)
    for token in ("", " ", "clé", "a\nb"):
        with pytest.raises(SettingError, match="token"):
            ServeOptions(token=token)


def test_without_the_extra_it_says_what_to_install(
    nary: Nary, nobel_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    outcome = nary("serve", nobel_folder)
    assert outcome.code == 2
    assert "nary[serve]" in outcome.err


def test_errors_are_reported_before_serving(nary: Nary, nobel_folder: Path, tmp_path: Path) -> None:
    outcome = nary("serve", nobel_folder, "--host", "0.0.0.0")
    assert outcome.code == 2
    assert "--insecure" in outcome.err
    assert nary("serve", tmp_path, "--port", 0).code == 2
    assert nary("serve", nobel_folder, "--port", 70000).code == 2
    for timeout in ("0", "inf", "nan"):
        assert nary("serve", nobel_folder, "--timeout", timeout).code == 2
    assert "'a..b' is not a valid host name" in nary("serve", nobel_folder, "--host", "a..b", "--insecure").err
    outcome = nary("serve", nobel_folder, "--host", "no such host", "--insecure")
    assert outcome.code == 2
    assert "no such host" in outcome.err
    with socket.create_server(("127.0.0.1", 0)) as other:
        outcome = nary("serve", nobel_folder, "--port", other.getsockname()[1])
    assert outcome.code == 2
    assert "choose another --port" in outcome.err
    assert outcome.out == ""
    assert nary("serve", tmp_path, "--port", 0, "--json").error["kind"] == "model"
