"""Refuses bodies that are too large, before they are in memory."""

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 1 << 20


class BodyLimit:
    """Answers 413 to a body of more than ``most`` bytes, whether its length was announced or not."""

    def __init__(self, app: ASGIApp, most: int = MOST_BYTES) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the bytes as they are read."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        read = 0

        async def counted() -> Message:
            nonlocal read
            if int(announced[:20]) > self._most:
                raise HTTPException(413)
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._most:
                raise HTTPException(413)
            return message

        return await self._app(scope, counted, send)
