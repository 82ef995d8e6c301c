"""Access control, the body limit and the access log."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from apps.server.running import Served, serving
from runs.small import wait_until

from nary.apps.server.middleware import is_loopback

TOKEN = "open-sesame"


@pytest.fixture(scope="module")
def guarded(nobel_folder: Path) -> Iterator[Served]:
    """A server with a token, and so little time that no work of the model is ever done."""
    with serving(nobel_folder, "--timeout", "0.000001", token=TOKEN, NARY_TOKEN=TOKEN) as running:
        yield running


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer wrong", f"bearer{TOKEN}", TOKEN, f"Basic {TOKEN}"])
def test_without_the_token_the_api_is_closed(guarded: Served, header: str | None) -> None:
    headers = {"Authorization": header} if header is not None else {}
    with httpx.Client(base_url=guarded.url, headers=headers) as client:
        for path in ("/api/model", "/api/search?q=a", "/api/nothing"):
            response = client.get(path)
            assert response.status_code == 401
            assert response.headers["www-authenticate"] == "Bearer"
            assert response.json()["error"]["kind"] == "token"
        assert client.post("/api/predict", content=b"x" * (2 << 20)).status_code == 401


def test_page_and_health_are_open(guarded: Served) -> None:
    for path in ("/", "/health", "/openapi.json", "/docs"):
        assert httpx.get(guarded.url.rstrip("/") + path).status_code == 200


def test_with_the_token_it_is_open(guarded: Served) -> None:
    assert guarded.get("/api/model").json()["name"] == "gran"
    foreign = guarded.client.get("/api/model", headers={"Host": "nary.example"})
    assert foreign.status_code == 200  # whoever has the token may come through a proxy


def test_an_answer_that_takes_too_long(guarded: Served) -> None:
    response = guarded.post("/api/predict", fact="Marie Curie | award received | ?")
    assert response.status_code == 504
    assert response.json()["error"]["kind"] == "timeout"


def test_without_a_token_only_this_machine_is_answered(served: Served) -> None:
    assert served.client.get("/api/model", headers={"Host": "localhost:8000"}).status_code == 200
    assert served.client.get("/api/model", headers={"Host": "[::1]:8000"}).status_code == 200
    for host in ("nary.example", "127.0.0.1.nary.example", "localhost.nary.example:80"):
        response = served.client.get("/api/model", headers={"Host": host})
        assert response.status_code == 400
        assert response.json()["error"]["kind"] == "host"


def test_no_page_of_another_server_may_read_answers(served: Served) -> None:
    response = served.client.get("/api/model", headers={"Origin": "http://nary.example"})
    assert not [name for name in response.headers if name.startswith("access-control")]
    asked = served.client.options("/api/predict", headers={"Origin": "http://nary.example"})
    assert asked.status_code == 405


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_a_large_body_is_refused_whether_announced_or_not(served: Served) -> None:
    large = b'{"fact": "' + b"x" * (2 << 20) + b'"}'
    for content in (large, iter([large[:1000], large[1000:]])):
        response = served.client.post("/api/predict", content=content, headers={"Content-Type": "application/json"})
        assert response.status_code == 413
        assert "too large" in response.json()["error"]["message"]
    nearly = b'{"fact": "' + b"x" * ((1 << 20) - 12) + b'"}'
    accepted = served.client.post("/api/predict", content=nearly, headers={"Content-Type": "application/json"})
    assert accepted.status_code == 400  # the body was read, and is no fact


def test_the_log_has_a_line_for_each_answer_and_no_questions(served: Served) -> None:
    def logged() -> list[dict[str, Any]]:
        """The answers from the last search on: lines of earlier requests may arrive late, but in their order."""
        lines = [json.loads(line) for line in served.log]
        last = max((at for at, line in enumerate(lines) if line.get("path") == "/api/search"), default=len(lines))
        return lines[last:]

    before = sum("/api/search" in line for line in served.log)
    served.get("/api/search", q="secret-question")
    wait_until(lambda: sum("/api/search" in line for line in served.log) > before, served.process)
    served.post("/api/predict", fact="Marie Curie | award received | ?")
    wait_until(lambda: len(logged()) > 1, served.process)
    search, predict = logged()
    assert {"method": "GET", "status": 200, "batch": None}.items() <= search.items()
    assert {"method": "POST", "status": 200, "batch": 1}.items() <= predict.items()
    assert "secret-question" not in "".join(served.log)
    assert 0 < search["ms"] < 60_000
    assert search["time"] <= predict["time"]
