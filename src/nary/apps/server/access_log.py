"""The access log: a JSON object a line on standard error, without what was asked."""

import sys
import time
from datetime import UTC, datetime

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class AccessLog:
    """Writes a line for every answer; ``state.batch`` of a request says how many queries were answered together."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and note what came of it."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        started = time.perf_counter()
        status = 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
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
