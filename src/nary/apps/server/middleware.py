"""Middleware around every request: access log, response headers, access control and body limit."""

import hmac
import ipaddress
import sys
import time
from datetime import UTC, datetime

import orjson
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nary.apps.server.errors import error_response

MAX_BODY_BYTES = 1 << 20
_SAFE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class AccessLog:
    """Write one JSON line per response to standard error, without the content of the request.

    ``batch`` is the number of queries answered together, taken from ``state.batch`` of the request.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, then log the status and duration of its response."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        started = time.perf_counter()
        status = 500

        async def send_noting_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noting_status)
        finally:
            line = {
                "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "ms": round((time.perf_counter() - started) * 1000, 2),
                "batch": scope.get("state", {}).get("batch"),
            }
            print(orjson.dumps(line).decode(), file=sys.stderr, flush=True)  # noqa: T201


class SafeHeaders:
    """Add headers to every response that restrict what browsers do with it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and add the headers to its response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_SAFE_HEADERS)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class Guard:
    """Control access to everything under ``/api/``.

    With a token, requests must carry it. Without one on a loopback address, the Host header must name this machine:
    otherwise a foreign web page could make its own host name resolve to 127.0.0.1 and read the answers.
    """

    def __init__(self, app: ASGIApp, token: str | None, local: bool) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode() if token is not None else None
        self._local = local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on."""
        if scope["type"] != "http" or not scope["path"].startswith("/api/"):
            return await self._app(scope, receive, send)
        headers = dict(scope["headers"])
        if self._expected is not None:
            if not hmac.compare_digest(headers.get(b"authorization", b""), self._expected):
                hint = "Send the header Authorization: Bearer TOKEN."
                refusal = error_response(401, "token", "this server requires a token", hint, WWW_Authenticate="Bearer")
                return await refusal(scope, receive, send)
        elif self._local and not is_loopback(_without_port(headers.get(b"host", b"localhost").decode("latin-1"))):
            hint = "Use http://localhost. Behind a proxy, serve with a token or with --insecure."
            refusal = error_response(400, "host", "this server only answers requests from its own machine", hint)
            return await refusal(scope, receive, send)
        return await self._app(scope, receive, send)


def is_loopback(host: str) -> bool:
    """Whether ``host`` can only be reached from this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _without_port(host: str) -> str:
    return host.partition("]")[0] if host.startswith("[") else host.partition(":")[0]


class BodyLimit:
    """Respond with 413 to a body of more than ``limit`` bytes before it is in memory.

    The announced length is checked first; a body without one is counted while it is read.
    """

    def __init__(self, app: ASGIApp, limit: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, counting its bytes."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        size = 0

        async def receive_limited() -> Message:
            nonlocal size
            if int(announced[:20]) > self._limit:
                raise HTTPException(413)
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._limit:
                raise HTTPException(413)
            return message

        return await self._app(scope, receive_limited, send)
