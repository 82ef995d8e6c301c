"""The application: the API, the page, and what stands before them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from nary.apps.server.access_log import AccessLog
from nary.apps.server.api import api
from nary.apps.server.batching import Worker
from nary.apps.server.body_limit import BodyLimit
from nary.apps.server.endpoints_page import endpoints_page
from nary.apps.server.errors import handle_errors
from nary.apps.server.guard import Guard, is_loopback
from nary.apps.server.options import ServeOptions
from nary.apps.server.page_files import serve_page
from nary.apps.server.responses import Health
from nary.apps.server.safe_headers import SafeHeaders
from nary.runs import Run
from nary.version import __version__


def make_app(run: Run, options: ServeOptions) -> FastAPI:
    """The application that serves ``run``."""
    worker = Worker(run.predictor.predict_many, options.timeout)

    @asynccontextmanager
    async def working(app: FastAPI) -> AsyncIterator[None]:
        async with worker:
            yield

    app = FastAPI(
        title="Nary",
        version=__version__,
        description="Link prediction on n-ary facts: ask a trained model.",
        lifespan=working,
        docs_url=None,  # FastAPI's own pages load scripts from elsewhere
        redoc_url=None,
    )
    app.include_router(api(run, worker))

    @app.get("/health")
    async def health() -> Health:
        """That the server is there and ready."""
        return Health(status="ok")

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        return HTMLResponse(endpoints_page(app.openapi()))

    serve_page(app)
    handle_errors(app)
    app.add_middleware(BodyLimit)  # the one added last sees a request first
    app.add_middleware(Guard, token=options.token, local=is_loopback(options.host) and not options.insecure)
    app.add_middleware(SafeHeaders)
    app.add_middleware(AccessLog)
    return app
