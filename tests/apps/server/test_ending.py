"""The end: what is being answered is finished, what is new is refused, the exit code is 0."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from apps.server.running import client_of, nary_process, serving

SHORT = {
    "training.epochs": 1,
    "training.batch_size": 512,
    "model.hidden_dim": 16,
    "model.ffn_dim": 16,
    "model.num_layers": 1,
}
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
    settings = [part for key, value in SHORT.items() for part in ("--set", f"{key}={value}")]
    with nary_process("demo", "--serve", "--out", tmp_path, *settings) as process, client_of(process) as served:
        assert served.get("/api/model").json()["dataset"] == "nobel"
        assert served.stop(signal.SIGINT) == 0
