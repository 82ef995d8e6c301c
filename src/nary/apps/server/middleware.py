"""Middleware around every request: access log, response headers, access control, body limit, clients that leave."""

import asyncio
import hmac
import ipaddress
import time
from contextlib import suppress

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nary.apps.server.errors import error_response
from nary.apps.server.logs import write_line

MAX_BODY_BYTES = 1 << 20
_MAX_BUFFERED = 1 << 26  # bytes of the bodies of all requests together
_MAX_LOGGED_PATH = 200  # characters
_CLIENT_LEFT = 499  # in the log; nobody receives it
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
            write_line(
                method=scope["method"],
                path=scope["path"][:_MAX_LOGGED_PATH],
                status=status,
                ms=round((time.perf_counter() - started) * 1000, 2),
                batch=scope.get("state", {}).get("batch"),
            )


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
    """Respond with 413 to a body of more than ``limit`` bytes, and with 503 while all bodies have many, before more is
    in memory.

    The announced length is checked first; a body without one is counted while it is read.
    """

    def __init__(self, app: ASGIApp, limit: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._limit = limit
        self._buffered = 0

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
            if message["type"] == "http.disconnect":  # the client has left, or was too slow
                raise HTTPException(408)
            size += len(message["body"])
            self._buffered += len(message["body"])
            if size > self._limit:
                raise HTTPException(413)
            if self._buffered > _MAX_BUFFERED:
                raise HTTPException(503, headers={"Retry-After": "1"})
            return message

        try:
            await self._app(scope, receive_limited, send)
        finally:
            self._buffered -= size


class CancelOnDisconnect:
    """Stop working on a request whose client has left, unless the response has begun."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; once its body has arrived, watch the connection."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        watch: asyncio.Task[None] | None = None
        answered = left = False

        async def wait_for_disconnect() -> None:
            nonlocal left
            while (await receive())["type"] != "http.disconnect":
                pass
            left = not answered
            if left:
                work.cancel()

        async def receive_then_watch() -> Message:
            nonlocal watch
            message = await receive()
            if watch is None and not message.get("more_body"):
                watch = asyncio.create_task(wait_for_disconnect())
            return message

        async def send_noting_start(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        work = asyncio.ensure_future(self._app(scope, receive_then_watch, send_noting_start))
        if scope["method"] == "GET":  # its body is not read
            watch = asyncio.create_task(wait_for_disconnect())
        try:
            await work
        except asyncio.CancelledError:
            if not left:
                raise
            await send({"type": "http.response.start", "status": _CLIENT_LEFT, "headers": []})
        finally:
            if watch is not None:
                watch.cancel()
                with suppress(asyncio.CancelledError):
                    await watch
