"""Who may use the API: whoever has the token or, without one, pages and programs of this machine."""

import hmac
import ipaddress

from starlette.types import ASGIApp, Receive, Scope, Send

from nary.apps.server.errors import problem


def is_loopback(host: str) -> bool:
    """Whether ``host`` can be reached from this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Guard:
    """Lets requests under ``/api/`` through that carry the token.

    Without a token on a loopback address, the header Host must name this machine: a foreign web page that has its own
    name lead to 127.0.0.1 could otherwise read the answers.
    """

    def __init__(self, app: ASGIApp, token: str | None, local: bool) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode() if token is not None else None
        self._local = local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        if scope["type"] != "http" or not scope["path"].startswith("/api/"):
            return await self._app(scope, receive, send)
        headers = dict(scope["headers"])
        if self._expected is not None:
            if not hmac.compare_digest(headers.get(b"authorization", b""), self._expected):
                hint = "Send the header Authorization: Bearer TOKEN."
                refused = problem(401, "token", "this server needs its token", hint, WWW_Authenticate="Bearer")
                return await refused(scope, receive, send)
        elif self._local and not is_loopback(_without_port(headers.get(b"host", b"localhost").decode("latin-1"))):
            hint = "Ask http://localhost; for a proxy, serve with a token or with --insecure."
            refused = problem(400, "host", "this server answers its own machine only", hint)
            return await refused(scope, receive, send)
        return await self._app(scope, receive, send)


def _without_port(host: str) -> str:
    return host.partition("]")[0] if host.startswith("[") else host.partition(":")[0]
