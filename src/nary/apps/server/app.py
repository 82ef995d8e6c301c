"""The application: build it for a trained model, bind its address, and serve until interrupted."""

import errno
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from math import inf

import torch
import uvicorn
from fastapi import FastAPI

from nary.apps.server.batching import Worker
from nary.apps.server.browsing import browsing_routes
from nary.apps.server.connections import ACCEPTED_AT_ONCE, Limits, ListeningSocket, limited_connection
from nary.apps.server.errors import add_error_handlers
from nary.apps.server.facts import example_queries
from nary.apps.server.lines import line_routes
from nary.apps.server.logs import limit_logs
from nary.apps.server.middleware import AccessLog, BodyLimit, CancelOnDisconnect, Guard, SafeHeaders, is_loopback
from nary.apps.server.routes import add_page_routes, api_routes
from nary.errors import SettingError
from nary.runs import TrainedModel
from nary.threads import server_threads
from nary.version import __version__

_PORT_IN_USE = "Another program uses the port: choose another --port, or 0 for any free one."


@dataclass(frozen=True)
class ServeOptions:
    """Where to serve, to whom, and how many seconds a request may take to arrive and an answer to be computed."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    insecure: bool = False
    timeout: float = 30.0
    open: bool = False

    def __post_init__(self) -> None:
        """Refuse invalid values, and serving a network without a token unless ``insecure`` is set."""
        if not 0 < self.timeout < inf:
            raise SettingError(f"a timeout of {self.timeout:g} seconds", "Give a number greater than 0.")
        if self.token is not None and not (self.token.isascii() and self.token.isprintable() and self.token.strip()):
            raise SettingError("the token is empty or has non-ASCII characters", "Use letters and digits.")
        if self.token is None and not self.insecure and not is_loopback(self.host):
            raise SettingError(
                f"{self.host} can be reached from other machines, and there is no token",
                "Give --token or set NARY_TOKEN; --insecure serves everybody.",
            )


def start(load: Callable[[], TrainedModel], options: ServeOptions, announce: Callable[[str], None]) -> None:
    """Serve the model that ``load`` returns until SIGTERM or Ctrl-C; ``announce`` is called with the address."""
    bound = _bind(options.host, options.port)  # first: loading a model takes longer than finding the port in use
    model = load()
    app = create_app(model, options)
    _warm_up(model)
    with _reporting(options.host, options.port):  # another process may have bound the port, too, and listened first
        bound.listen()  # from here on clients can connect, even if the first answer takes a moment
    address = _url(bound)
    announce(address)
    if options.open:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    _serve(app, bound, options.timeout)


def create_app(model: TrainedModel, options: ServeOptions) -> FastAPI:
    """Build the application that serves ``model``."""
    worker = Worker(model.predictor.predict_many, options.timeout)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with worker:
            yield

    app = FastAPI(
        title="Nary",
        version=__version__,
        description="Link prediction on n-ary facts with a trained model.",
        lifespan=lifespan,
        docs_url=None,  # FastAPI's documentation pages load scripts from other servers
        redoc_url=None,
        redirect_slashes=False,  # a redirection repeats the Host header, whatever that says
    )
    app.include_router(api_routes(model, worker, options.timeout))
    app.include_router(browsing_routes(model, worker))
    app.include_router(line_routes(model, worker))
    add_page_routes(app)
    add_error_handlers(app)
    app.add_middleware(BodyLimit)  # the middleware added last sees a request first
    app.add_middleware(CancelOnDisconnect)
    app.add_middleware(Guard, token=options.token, local=is_loopback(options.host) and not options.insecure)
    app.add_middleware(SafeHeaders)
    app.add_middleware(AccessLog)
    return app


def _bind(host: str, port: int) -> socket.socket:
    """A socket at this address, not yet listening."""
    with _reporting(host, port):
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = ListeningSocket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # so that a server can be restarted at once
        bound.bind(address)
        return bound


@contextmanager
def _reporting(host: str, port: int) -> Iterator[None]:
    """Turn errors of the system into one about the address."""
    try:
        yield
    except UnicodeError:
        raise SettingError(f"{host!r} is not a valid host name", "Give --host a name or an address.") from None
    except OSError as error:
        hint = _PORT_IN_USE if error.errno == errno.EADDRINUSE else None
        raise SettingError(f"cannot serve at {host} port {port}: {error.strerror}", hint) from None


def _url(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _warm_up(model: TrainedModel) -> None:
    """Calibrate and index the names now, so that the first clients do not wait for it."""
    model.predictor.predict_many(example_queries(model.dataset, model.module))
    model.predictor.names.search("")


def _serve(app: FastAPI, listening: socket.socket, timeout: float) -> None:
    """Run the server; requests in progress are finished when it is stopped."""
    # The model's thread and the event loop alternate in Python. With the default switch interval of 5 ms, each of the
    # many short calls into torch could wait that long.
    sys.setswitchinterval(0.0005)
    torch.set_num_threads(server_threads(torch.get_num_threads()))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # uvicorn raises the signal again after a clean shutdown
    limit_logs()
    config = uvicorn.Config(
        app,
        http=limited_connection(Limits.of(timeout)),
        ws="none",
        backlog=ACCEPTED_AT_ONCE,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=int(timeout) + 5,
    )
    uvicorn.Server(config).run([listening])
