"""What a client sees when the server is too busy, or at fault."""

import asyncio

import httpx
from fastapi import FastAPI

from nary.apps.server.batching import OverloadError
from nary.apps.server.errors import handle_errors


def answer_to(failure: Exception) -> httpx.Response:
    """What an endpoint that raises ``failure`` answers."""
    app = FastAPI()
    handle_errors(app)

    @app.get("/")
    async def fail() -> None:
        raise failure

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get("/")

    return asyncio.run(ask())


def test_a_full_queue_asks_to_come_back() -> None:
    answer = answer_to(OverloadError())
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["error"]["kind"] == "overloaded"


def test_a_bug_does_not_show_its_inside() -> None:
    answer = answer_to(RuntimeError("secret"))
    assert answer.status_code == 500
    assert answer.json()["error"]["kind"] == "internal"
    assert "secret" not in answer.text
