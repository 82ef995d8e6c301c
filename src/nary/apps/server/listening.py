"""Where the server listens."""

import errno
import socket

from nary.errors import SettingError

_BUSY = "Something else uses it: choose another --port, or 0 for any free one."


def bind(host: str, port: int) -> socket.socket:
    """A socket at this address, not yet listening."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a server just ended does not block the port
        bound.bind(address)
    except UnicodeError:
        raise SettingError(f"{host!r} is no name of a host", "Give --host a name or an address.") from None
    except OSError as error:
        hint = _BUSY if error.errno == errno.EADDRINUSE else None
        raise SettingError(f"cannot serve at {host} port {port}: {error.strerror}", hint) from None
    return bound


def address_of(bound: socket.socket) -> str:
    """Where a browser finds the server."""
    host, port = bound.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
