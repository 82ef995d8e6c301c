"""Errors over HTTP: always ``{"error": {"kind", "message", "hint"}}``, with the words of the command line."""

import json
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from nary.apps.server.batching import OverloadError, TimeLimitError
from nary.errors import NaryError


class Mistake(BaseModel):
    """What is wrong and what to do about it."""

    kind: str = Field(description="A short word for programs, such as fact, data, token or request.")
    message: str = Field(description="What is wrong.")
    hint: str | None = Field(None, description="What to do about it, such as the nearest known name.")


class Problem(BaseModel):
    """The body of every answer that is not a success."""

    error: Mistake


PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The fact is malformed, or a name in it is unknown."},
    401: {"model": Problem, "description": "The server wants a token: `Authorization: Bearer TOKEN`."},
    413: {"model": Problem, "description": "The body is too large."},
    422: {"model": Problem, "description": "The request has a wrong shape."},
    503: {"model": Problem, "description": "Too much is waiting; the header Retry-After says when to try again."},
    504: {"model": Problem, "description": "The answer took too long."},
}
"""What an endpoint of the API may answer instead of a result."""


def problem(status: int, kind: str, message: str, hint: str | None = None, **headers: str) -> Response:
    """An error as a response; underscores in the names of ``headers`` stand for hyphens."""
    body = {"error": {"kind": kind, "message": message, "hint": hint}}
    return Response(
        json.dumps(body),  # in ASCII, so that whatever a client sent can be repeated
        status,
        {name.replace("_", "-"): value for name, value in headers.items()},
        media_type="application/json",
    )


def handle_errors(app: FastAPI) -> None:
    """Answer everything that can go wrong in the one form."""

    @app.exception_handler(NaryError)
    def _mistake(request: Request, error: NaryError) -> Response:
        if isinstance(error, OverloadError):
            return problem(503, error.kind, error.message, error.hint, Retry_After="1")
        return problem(504 if isinstance(error, TimeLimitError) else 400, error.kind, error.message, error.hint)

    @app.exception_handler(RequestValidationError)
    def _wrong_shape(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return problem(422, "request", f"the body is not JSON: {first['ctx']['error']}", _SEE)
        place = ".".join(str(part) for part in first["loc"][1:] if part not in ("text", "form"))
        what = first["msg"].removeprefix("Value error, ")
        return problem(422, "request", f"{place or 'the body'}: {what[:1].lower()}{what[1:]}", _SEE)

    @app.exception_handler(HTTPException)
    def _plain(request: Request, error: HTTPException) -> Response:
        kind, message = {
            400: ("request", "the body cannot be read as JSON"),
            404: ("address", f"there is nothing at {request.url.path}"),
            405: ("method", f"{request.url.path} does not take {request.method}"),
            413: ("size", "the body is too large"),
        }[error.status_code]  # no other is raised by the framework or by us
        headers = {name.replace("-", "_"): value for name, value in (error.headers or {}).items()}
        return problem(error.status_code, kind, message, _SEE, **headers)

    @app.exception_handler(Exception)
    def _bug(request: Request, error: Exception) -> Response:
        return problem(500, "internal", "an error in Nary itself", "The log of the server says more. Please report it.")


_SEE = "/docs lists the endpoints; /openapi.json describes them."
