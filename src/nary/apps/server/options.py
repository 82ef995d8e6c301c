"""How to serve, checked."""

from dataclasses import dataclass
from math import inf

from nary.apps.server.guard import is_loopback
from nary.errors import SettingError


@dataclass(frozen=True)
class ServeOptions:
    """Where to serve, to whom, and for how many seconds an answer may be computed."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    insecure: bool = False
    timeout: float = 30.0
    open: bool = False

    def __post_init__(self) -> None:
        """Refuse to serve the network without a token, unless that is wanted, and values that make no sense."""
        if not 0 < self.timeout < inf:
            raise SettingError(f"a timeout of {self.timeout:g} seconds", "Give a number greater than 0.")
        if self.token is not None and not (self.token.isascii() and self.token.isprintable() and self.token.strip()):
            raise SettingError("the token is empty or holds other than ASCII characters", "Use letters and digits.")
        if self.token is None and not self.insecure and not is_loopback(self.host):
            raise SettingError(
                f"{self.host} can be reached from other machines, and there is no token",
                "Give --token or set NARY_TOKEN; --insecure serves everybody.",
            )
