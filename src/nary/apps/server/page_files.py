"""The explorer page: the files of its folder, each at its own address, and nothing else."""

import hashlib
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import FastAPI, Request, Response

_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
"""Named here because what the machine believes about endings differs."""


def serve_page(app: FastAPI) -> None:
    """Add a route for each file of the page; ``/`` is its index."""
    for file in files("nary.apps").joinpath("page").iterdir():
        ending = "." + file.name.rpartition(".")[2]
        if ending in _TYPES:
            _serve(app, "/" if file.name == "index.html" else f"/{file.name}", file, _TYPES[ending])


def _serve(app: FastAPI, path: str, file: Traversable, type: str) -> None:
    content = file.read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}

    @app.api_route(path, methods=["GET", "HEAD"], include_in_schema=False)
    def _file(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=type, headers=headers)
