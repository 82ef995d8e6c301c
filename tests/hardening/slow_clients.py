"""Clients that are slow, idle, many, or gone, on plain sockets."""

import socket
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

HEAD = b"POST /api/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
PARTS = {
    "nothing": b"",
    "half a line": b"GET /hea",
    "half of the headers": b"GET /health HTTP/1.1\r\nHost: localh",
    "half a body": HEAD + b'Content-Length: 100\r\n\r\n{"fact": ',
    "an unfinished chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
    "a refused method, half sent": HEAD.replace(b"POST", b"PUT") + b"Content-Length: 100\r\n\r\nx",
}
"""Beginnings of requests, none of them whole."""


def connect(url: str, content: bytes = b"") -> socket.socket:
    """A connection on which ``content`` was sent."""
    address = urlsplit(url)
    assert address.hostname
    assert address.port
    connection = socket.create_connection((address.hostname, address.port), timeout=60)
    with suppress(OSError):  # refused meanwhile
        connection.sendall(content)
    return connection


def read_to_end(connection: socket.socket) -> bytes:
    """Everything that the server sends until it closes the connection."""
    received = b""
    with connection, suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            received += piece
    return received


def close_all(connections: Sequence[socket.socket]) -> None:
    """Hang up."""
    for connection in connections:
        connection.close()
