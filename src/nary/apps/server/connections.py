"""Connections: how many there may be, and how long each may take to send its request and to read the answer.

A client that is too slow gets 408, one too many gets 503; both in the form of all other errors.
"""

import asyncio
import socket
import sys
from dataclasses import dataclass
from http import HTTPStatus
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from nary.apps.server.errors import error_response

ACCEPTED_AT_ONCE = 16
"""How many connections the event loop accepts before it goes on: those that it then refuses need files for a moment."""
_WAITING = 64  # connections that may wait to be accepted
_MAX_CONNECTIONS = 512
_RESERVED_FILES = 128  # for the files of the process and for connections that are being refused
_HEADER_SECONDS = 10.0
_SHORTEST_DEADLINE = 1.0  # seconds
_LINGER = 1.0  # seconds for a refused client to read why: data that nobody reads would reset the connection
_MAX_LINGERING = 32


class ListeningSocket(socket.socket):
    """A socket where many connections may wait, although the event loop, which sets both numbers, accepts few."""

    def listen(self, backlog: int = _WAITING) -> None:
        """Let connections wait, as many as there may be, whatever ``backlog`` says."""
        super().listen(max(backlog, _WAITING))


@dataclass(frozen=True)
class Limits:
    """The number of open connections, and the seconds for the headers and for the body of a request."""

    connections: int
    header_seconds: float
    body_seconds: float

    @classmethod
    def of(cls, timeout: float) -> "Limits":
        """The limits of a server whose answers may take ``timeout`` seconds."""
        arrival = max(timeout, _SHORTEST_DEADLINE)
        return cls(_connections_for(_open_files()), min(arrival, _HEADER_SECONDS), arrival)


def limited_connection(limits: Limits) -> type[asyncio.Protocol]:
    """The protocol of every connection, for uvicorn."""
    return type("Connection", (LimitedConnection,), {"limits": limits})


class LimitedConnection(H11Protocol):
    """A connection with a deadline for the part of the request that it waits for, its headers or its body.

    Clients that do not read their answer are dropped after the seconds of a body.
    """

    limits: ClassVar[Limits]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the headers, or refuse one connection too many."""
        super().connection_made(transport)
        self._deadline: asyncio.TimerHandle | None = None
        self._awaited: object = None  # the part of the request that has a deadline, as a state of h11
        self._refused = False
        if len(self.connections) > self.limits.connections + _MAX_LINGERING:
            transport.abort()
        elif len(self.connections) > self.limits.connections:
            self._refuse(503, "overloaded", "the server has too many connections", "Try again in a moment.")
        else:
            self._set_deadline()

    def data_received(self, data: bytes) -> None:
        """Read a piece of a request."""
        if not self._refused:
            super().data_received(data)
            self._set_deadline()

    def on_response_complete(self) -> None:
        """Wait for the next request; uvicorn limits how long, until its first byte."""
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE:
            self._cancel_deadline()
        elif self.transport.is_closing():
            self._abort_later()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        super().timeout_keep_alive_handler()
        self._abort_later()

    def pause_writing(self) -> None:
        """Give the client some time to read its answer."""
        super().pause_writing()
        self._unread = self.loop.call_later(self.limits.body_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        self._unread.cancel()

    def shutdown(self) -> None:
        """Let an answer in progress be finished, but wait for no request that is still on its way."""
        if self.conn.their_state is h11.SEND_BODY:
            self._refuse(503, "overloaded", "the server is being stopped", "Try again later.")
        else:
            super().shutdown()
            if self.transport.is_closing():
                self._abort_later()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._cancel_deadline()
        super().connection_lost(exc)

    def _set_deadline(self) -> None:
        """Start a deadline when another part of a request is awaited; slow drops do not prolong it."""
        state = self.conn.their_state
        if state is self._awaited:
            return
        self._cancel_deadline()
        self._awaited = state
        if state in (h11.IDLE, h11.SEND_BODY):
            seconds = self.limits.header_seconds if state is h11.IDLE else self.limits.body_seconds
            self._deadline = self.loop.call_later(seconds, self._drop, seconds)

    def _cancel_deadline(self) -> None:
        self._awaited = None
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _drop(self, seconds: float) -> None:
        if self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]:
            self.transport.abort()  # not a byte: there is no request to answer
        else:
            self._refuse(408, "timeout", f"the request did not arrive within {seconds:g} seconds", "Send it faster.")

    def _refuse(self, status: int, kind: str, message: str, hint: str) -> None:
        """Answer what can still be answered, and read no more."""
        self._refused = True
        self._cancel_deadline()
        cycle = self.cycle if self.conn.their_state is h11.SEND_BODY else None
        if cycle is None or not cycle.response_started:
            self.transport.write(_raw_response(status, kind, message, hint))
        if cycle is not None:
            cycle.disconnected = True
            cycle.message_event.set()
        self.transport.write_eof()
        self.loop.call_later(_LINGER, self.transport.abort)

    def _abort_later(self) -> None:
        """Close for good, even if the client does not read what is left."""
        if self.transport.get_write_buffer_size():
            self.loop.call_later(self.limits.body_seconds, self.transport.abort)


def _raw_response(status: int, kind: str, message: str, hint: str) -> bytes:
    body = bytes(error_response(status, kind, message, hint).body)
    lines = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *(["Retry-After: 1"] if status == 503 else []),
        "Connection: close",
    )
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def _connections_for(files: float) -> int:
    return int(max(8, min(_MAX_CONNECTIONS, files - _RESERVED_FILES)))


def _open_files() -> float:
    """How many files this process may have open at once."""
    if sys.platform == "win32":
        return float("inf")
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return float("inf") if soft == resource.RLIM_INFINITY else soft
