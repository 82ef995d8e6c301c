"""``nary serve``: a trained model as an HTTP API with an explorer page."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Device, Json, RunPath, Threads
from nary.apps.cli.output import print_json, say
from nary.errors import MissingExtraError

if TYPE_CHECKING:
    from nary.runs import TrainedModel


def serve(
    run: RunPath,
    host: Annotated[str, typer.Option("--host", help="The address to serve at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 selects a free one.")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            envvar="NARY_TOKEN",
            help="The token that clients must send. Prefer NARY_TOKEN: other users can see options.",
        ),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Serve all clients without a token, also on other addresses.")
    ] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Maximum seconds to receive a request, and again to answer it.")
    ] = 30.0,
    index: Annotated[
        bool,
        typer.Option("--index", help="Predict entities with an approximate index, for millions of them (extra faiss)."),
    ] = False,
    open_: Annotated[bool, typer.Option("--open", help="Open the explorer in the browser.")] = False,
    device: Device = "auto",
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Serve a trained model: the explorer page at /, a JSON API under /api, and its description at /openapi.json.

    Example: nary serve runs/nobel-gran --open

    Example: nary serve runs/large --index --timeout 60
    """
    require_server()
    from nary.apps.server.app import ServeOptions, start
    from nary.runs import load_model

    options = ServeOptions(host, port, token, insecure, timeout, open_)
    say = (lambda address: print_json({"address": address})) if json else say_address

    def load() -> "TrainedModel":
        model = load_model(run, device)
        return model.use_index() if index else model

    start(load, options, say)


def require_server() -> None:
    """Say what to install if the server cannot run."""
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise MissingExtraError("nary serve", "serve")


def say_address(address: str) -> None:
    """Where the explorer is."""
    say(f"Serving at {address}   (Ctrl-C stops)")
