"""Errors over HTTP: every one has the body ``{"error": {"kind", "message", "hint"}}``."""

import json
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from nary.apps.server.batching import OverloadError, TimeLimitError
from nary.apps.server.schemas import ErrorResponse
from nary.errors import NaryError

_SEE = "/docs lists the endpoints; /openapi.json describes them."

ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorResponse, "description": "The fact is malformed, or a name in it is unknown."},
    401: {"model": ErrorResponse, "description": "The server requires a token: `Authorization: Bearer TOKEN`."},
    408: {"model": ErrorResponse, "description": "The request took too long to arrive."},
    413: {"model": ErrorResponse, "description": "The body is too large."},
    422: {"model": ErrorResponse, "description": "The request does not match the schema."},
    503: {"model": ErrorResponse, "description": "The server is overloaded; try again after `Retry-After` seconds."},
    504: {"model": ErrorResponse, "description": "Computing the answer took too long."},
}
"""The error responses of the API endpoints, for the OpenAPI description."""


def error_response(status: int, kind: str, message: str, hint: str | None = None, **headers: str) -> Response:
    """Build an error response; underscores in the names of ``headers`` stand for hyphens."""
    body = {"error": {"kind": kind, "message": message, "hint": hint}}
    return Response(
        json.dumps(body),  # ASCII only, so that any text a client sent can be quoted
        status,
        {name.replace("_", "-"): value for name, value in headers.items()},
        media_type="application/json",
    )


def add_error_handlers(app: FastAPI) -> None:
    """Turn every exception into an error response."""

    @app.exception_handler(NaryError)
    def _nary_error(request: Request, error: NaryError) -> Response:
        if isinstance(error, OverloadError):
            return error_response(503, error.kind, error.message, error.hint, Retry_After="1")
        status = 504 if isinstance(error, TimeLimitError) else 400
        return error_response(status, error.kind, error.message, error.hint)

    @app.exception_handler(RequestValidationError)
    def _invalid_request(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return error_response(422, "request", f"the body is not JSON: {first['ctx']['error']}", _SEE)
        field = ".".join(str(part) for part in first["loc"][1:] if part not in ("text", "json"))
        reason = first["msg"].removeprefix("Value error, ")
        return error_response(422, "request", f"{field or 'the body'}: {reason[:1].lower()}{reason[1:]}", _SEE)

    @app.exception_handler(HTTPException)
    def _http_error(request: Request, error: HTTPException) -> Response:
        kind, message = {
            400: ("request", "the body cannot be read as JSON"),
            404: ("address", f"there is nothing at {request.url.path}"),
            405: ("method", f"{request.url.path} does not support {request.method}"),
            408: ("timeout", "the body did not arrive"),
            413: ("size", "the body is too large"),
            503: ("overloaded", "the server is receiving too much at once"),
        }[error.status_code]  # neither the framework nor this server raises any other
        headers = {name.replace("-", "_"): value for name, value in (error.headers or {}).items()}
        return error_response(error.status_code, kind, message, _SEE, **headers)

    @app.exception_handler(Exception)
    def _internal_error(request: Request, error: Exception) -> Response:
        return error_response(
            500, "internal", "internal error in Nary", "The log of the server has the details. Please report it."
        )
