"""From a run to a server: bind, load, listen, and end without loose ends."""

import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable

import torch
import uvicorn
from fastapi import FastAPI

from nary.apps.server.app import make_app
from nary.apps.server.examples import examples
from nary.apps.server.listening import address_of, bind
from nary.apps.server.options import ServeOptions
from nary.runs import Run


def start(load: Callable[[], Run], options: ServeOptions, say: Callable[[str], None]) -> None:
    """Serve the run that ``load`` gives until SIGTERM or Ctrl-C; ``say`` is told the address."""
    bound = bind(options.host, options.port)  # first: loading takes longer than finding that the port is in use
    run = load()
    app = make_app(run, options)
    _warm_up(run)
    bound.listen()  # from here on clients can connect, even if the first answer takes a moment
    address = address_of(bound)
    say(address)
    if options.open:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    _serve(app, bound, options.timeout)


def _warm_up(run: Run) -> None:
    """Do now what would keep the first clients waiting: calibrate, and index the names."""
    run.predictor.predict_many(examples(run.dataset, run.model))
    run.predictor.names.search("")


def _serve(app: FastAPI, listening: socket.socket, timeout: float) -> None:
    """Requests in flight when the end comes are finished."""
    # The model's thread and the event loop take turns in Python. With the usual 5 ms a turn, each of the many short
    # calls into torch could have to wait that long.
    sys.setswitchinterval(0.0005)
    torch.set_num_threads(max(1, torch.get_num_threads() - 1))  # one core is for the event loop
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: None)  # uvicorn raises the signal once more after a good end
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=int(timeout) + 5
    )
    uvicorn.Server(config).run([listening])
