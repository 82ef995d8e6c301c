"""Every error has one form, and no request causes an internal error."""

import asyncio
import socket
from typing import Any

import httpx
import pytest
from apps.server.running import Served
from fastapi import FastAPI

from nary.apps.server.batching import OverloadError
from nary.apps.server.errors import add_error_handlers

QUERY = "Marie Curie | award received | ?"
FACT = "Marie Curie | award received | Nobel Prize in Physics"


def error_of(response: Any, status: int) -> Any:
    """The error in a response with this status."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    error = response.json()["error"]
    assert error.keys() == {"kind", "message", "hint"}
    return error


def test_an_unknown_name_is_answered_with_the_nearest(served: Served) -> None:
    error = error_of(served.post("/api/predict", fact="Marie Curi | award received | ?"), 400)
    assert "unknown entity 'Marie Curi'" in error["message"]
    assert "Marie Curie" in error["hint"]
    error_of(served.get("/api/similar", name="Marie Curi"), 400)
    error_of(served.get("/api/facts", entity="Marie Curi"), 400)


@pytest.mark.parametrize(
    ("endpoint", "content", "message"),
    [
        ("predict", {"fact": "Marie Curie | award received"}, "2 of the three parts"),
        ("predict", {"fact": FACT}, "has no gap"),
        ("predict", {"fact": {"subject": "", "relation": "r", "object": "?"}}, "empty"),
        ("predict", {"fact": " | ".join(["?", "award received", "?", *["a: b"] * 65])}, "65 qualifiers"),
        ("predict", {"fact": "? | award received | ?" + 60 * " | point in time: 1903", "k": 90}, "60 qualifiers"),
        ("explain", {"fact": FACT + 50 * " | point in time: 1903", "position": "object"}, "50 qualifiers"),
        ("predict", {"fact": "? | award received | ?", "k": 101}, "101 completions"),
        ("predict", {"fact": "? | ? | ? | ?: ? | ?: ? | ?: ?"}, "9 gaps"),
        ("score", {"fact": QUERY}, "has a gap"),
        ("score", {"facts": [FACT, QUERY]}, "has a gap"),
        ("suggest", {"fact": QUERY}, "has a gap"),
        ("explain", {"fact": FACT, "position": "middle"}, "not a position"),
        ("explain", {"fact": FACT, "position": "value 1"}, "has no value 1"),
        ("graph", {"fact": "a | b"}, "2 of the three parts"),
    ],
)
def test_a_fact_that_will_not_do(served: Served, endpoint: str, content: dict[str, Any], message: str) -> None:
    error = error_of(served.post(f"/api/{endpoint}", **content), 400)
    assert message in error["message"]
    assert error["kind"] == "fact"


@pytest.mark.parametrize(
    ("endpoint", "content", "message"),
    [
        ("predict", {}, "fact: field required"),
        ("predict", {"fact": 3}, "fact: input should be a valid string"),
        ("predict", {"fact": {"subject": "s", "relation": "r"}}, "fact.object: field required"),
        ("predict", {"fact": {"subject": "s", "relation": "r", "object": "o", "year": "1"}}, "fact.year"),
        ("predict", {"fact": QUERY, "k": 0}, "k: input should be greater"),
        ("predict", {"fact": QUERY, "k": 1001}, "k: input should be less"),
        ("predict", {"fact": QUERY, "known": "maybe"}, "known"),
        ("predict", {"fact": QUERY, "limit": 3}, "limit"),
        ("score", {}, "either fact or facts"),
        ("score", {"fact": FACT, "facts": [FACT]}, "either fact or facts"),
        ("score", {"facts": [FACT] * 1001}, "facts"),
    ],
)
def test_a_request_of_the_wrong_shape(served: Served, endpoint: str, content: dict[str, Any], message: str) -> None:
    error = error_of(served.post(f"/api/{endpoint}", **content), 422)
    assert message in error["message"]
    assert error["kind"] == "request"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"fact": NaN}',
        b'{"fact": "a | b | ?", "k": NaN}',
        b'{"fact": "a | b | ?", "k": 1e400}',
        b'{"fact": "a | b | ?", "k": ' + b"9" * 5000 + b"}",
        b'{"fact": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"fact": ' + b'{"subject":' * 50_000 + b"1" + b"}" * 50_001,
        b'{"fact": "\\ud800 | b | ?"}',
        b'{"fact": {"subject": "\\ud800", "relation": "award received", "object": "?"}}',
        b'{"fact": "a\\u0000 | b | ?"}',
        b'{"\\ud800": 1}',
    ],
    ids=lambda body: repr(body[:30]),
)
def test_strange_bodies_are_client_errors(served: Served, body: bytes) -> None:
    for endpoint in ("predict", "graph", "score"):
        response = served.client.post(f"/api/{endpoint}", content=body, headers={"Content-Type": "application/json"})
        assert response.status_code in (400, 422)
        assert response.json()["error"]["message"]


def test_a_body_must_say_that_it_is_json(served: Served) -> None:
    content = '{"fact": "Marie Curie | award received | ?"}'
    error_of(served.client.post("/api/predict", content=content, headers={"Content-Type": "text/plain"}), 422)
    error_of(served.client.post("/api/predict", content=content), 422)


def test_addresses_and_methods_that_do_not_exist(served: Served) -> None:
    assert "/api/nothing" in error_of(served.get("/api/nothing"), 404)["message"]
    error_of(served.post("/api/nothing"), 404)
    refused = served.get("/api/predict")
    error_of(refused, 405)
    assert refused.headers["allow"] == "POST"
    error_of(served.client.delete("/"), 405)


@pytest.mark.parametrize("query", ["q=%ff", "q=a&limit=-1", "q=a&limit=9999999999999999999999", "q=a&kind=both", ""])
def test_strange_parameters(served: Served, query: str) -> None:
    assert served.client.get(f"/api/search?{query}").status_code in (200, 422)


def test_what_is_not_http_is_refused_and_the_server_lives_on(served: Served) -> None:
    host, port = served.url.removeprefix("http://").rstrip("/").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as raw:
        raw.sendall(b"\x00\x01\x02 nonsense\r\n\r\n")
        assert b"400" in raw.recv(1000)
    assert served.get("/health").status_code == 200


def response_to(failure: Exception) -> httpx.Response:
    """The response of an endpoint that raises ``failure``."""
    app = FastAPI()
    add_error_handlers(app)

    @app.get("/")
    async def fail() -> None:
        raise failure

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get("/")

    return asyncio.run(ask())


def test_a_full_queue_asks_to_come_back() -> None:
    response = response_to(OverloadError())
    assert response.status_code == 503
    assert response.headers["retry-after"] == "1"
    assert response.json()["error"]["kind"] == "overloaded"


def test_a_bug_does_not_show_its_inside() -> None:
    response = response_to(RuntimeError("secret"))
    assert response.status_code == 500
    assert response.json()["error"]["kind"] == "internal"
    assert "secret" not in response.text
