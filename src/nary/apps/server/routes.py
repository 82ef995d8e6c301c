"""The routes: the JSON API under /api, the health check, the list of endpoints and the files of the explorer page."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.responses import HTMLResponse

from nary.apps.server.batching import Worker
from nary.apps.server.errors import ERROR_RESPONSES
from nary.apps.server.facts import (
    check_completion_size,
    check_explanation_size,
    example_queries,
    read_fact,
    read_query,
    read_statement,
)
from nary.apps.server.grown import GrownModels
from nary.apps.server.requests import Count, Name, OptionalKind, off_loop, turn
from nary.apps.server.schemas import (
    CountsOut,
    ExamplesResponse,
    ExplainRequest,
    ExplainResponse,
    FactOut,
    FactsRequest,
    GraphRequest,
    GraphResponse,
    GrowingRequest,
    HealthResponse,
    ModelResponse,
    PredictRequest,
    ScoreRequest,
    ScoreResponse,
    SearchResponse,
    SuggestRequest,
)
from nary.evaluation.report import Report
from nary.facts import Fact, Position
from nary.facts import Query as FactQuery
from nary.inference.lines import in_parts
from nary.inference.predictor import Predictor
from nary.inference.results import Completions, Neighbors, Prediction, StoredFacts, Suggestions
from nary.runs import TrainedModel
from nary.version import __version__


def api_routes(model: TrainedModel, worker: Worker, timeout: float) -> APIRouter:
    """The endpoints under /api for one trained model."""
    router = APIRouter(prefix="/api", responses=ERROR_RESPONSES)
    predictor, vocabulary = model.predictor, model.dataset.vocabulary
    lookup, grown = predictor.context.lookup, GrownModels(model, timeout)
    description = _describe(model)
    example_facts = [FactOut.of(query, vocabulary) for query in example_queries(model.dataset, model.module)]

    async def predictor_for(body: GrowingRequest, statements: Sequence[Fact | FactQuery]) -> Predictor:
        """The predictor to ask: another one if the request brings facts or unknown names."""
        if not body.with_facts and not body.unseen:
            return predictor
        facts = await off_loop(lambda: [read_fact(fact) for fact in body.with_facts])
        return await grown.predictor(facts, statements, body.unseen)

    async def asked_fact(body: SuggestRequest | ExplainRequest) -> tuple[Predictor, Fact]:
        """The predictor to ask, and the fact of a request in its names."""
        fact = read_fact(body.fact)
        asked = await predictor_for(body, [fact])
        return asked, await off_loop(lambda: asked.names.resolve(fact))

    @router.post("/predict", summary="Answer a query")
    async def predict(request: Request, body: PredictRequest) -> Prediction | Completions:
        """Answer a query: what stored facts answer, then the most probable answers of the model.

        Several gaps are filled together (experimental).
        """
        query = read_query(body.fact)
        asked = await predictor_for(body, [query])
        query = asked.check(query) if asked.names.knows(query) else await off_loop(lambda: asked.check(query))
        if len(query.gaps) > 1:
            check_completion_size(query, body.k)
            return await worker.run(lambda: asked.complete(query, body.k, body.known), turn(request))
        if asked is not predictor:
            return await worker.run(lambda: asked.predict(query, body.k, body.known), turn(request))
        prediction, request.state.batch = await worker.predict(query, body.k, body.known, turn(request))
        return prediction

    @router.post("/score", summary="Score facts")
    async def score(request: Request, body: ScoreRequest) -> ScoreResponse:
        """Compute the plausibility of each fact, from 0 to 1, and how well each of its elements fits the others."""
        inputs = body.facts if body.facts is not None else [body.fact]
        facts = [read_fact(fact) for fact in inputs if fact is not None]
        asked = await predictor_for(body, facts)
        facts = await off_loop(lambda: [asked.names.resolve(fact) for fact in facts])
        calls = (partial(asked.score, part) for part in in_parts(facts))
        return ScoreResponse(facts=await worker.run_parts(calls, turn(request)))

    @router.post("/suggest", summary="Suggest qualifiers")
    async def suggest(request: Request, body: SuggestRequest) -> Suggestions:
        """Suggest qualifiers that the fact lacks: what stored facts add to it, then the most probable ones."""
        asked, fact = await asked_fact(body)
        return await worker.run(lambda: asked.suggest(fact, body.k, body.known), turn(request))

    @router.post("/explain", summary="Explain an answer", response_model=ExplainResponse)
    async def explain(request: Request, body: ExplainRequest) -> object:
        """Explain the element at a position: contributions to its score, similar training facts, attention."""
        position = Position.parse(body.position)
        asked, fact = await asked_fact(body)
        check_explanation_size(fact)
        return (await worker.run(lambda: asked.explain(fact, position), turn(request))).as_dict()

    @router.get("/similar", summary="Find similar entities or relations")
    async def similar(request: Request, name: Name, kind: OptionalKind = None, k: Count = 10) -> Neighbors:
        """Find the entities or relations with the nearest embeddings."""
        return await worker.run(lambda: predictor.similar(name, kind, k), turn(request))

    @router.get("/search", summary="Complete a name")
    def search(
        q: Annotated[str, Query(max_length=1000)], kind: OptionalKind = None, limit: Count = 20
    ) -> SearchResponse:
        """Find names and labels that start with the text, then those that contain it, ignoring case and accents."""
        matches = predictor.names.search(q, kind, limit)
        return SearchResponse(matches=matches, nearest=[] if matches else predictor.names.nearest(q, kind))

    @router.post("/facts", summary="Look up stored facts")
    def find_facts(body: FactsRequest) -> StoredFacts:
        """List the stored facts that contain a fact or query, page by page; they may have further qualifiers."""
        return lookup.find(read_statement(body.fact), body.limit, body.offset)

    @router.post("/graph", summary="Get the graph of a fact")
    def graph(body: GraphRequest) -> GraphResponse:
        """Convert a fact or query to its typed graph, text and JSON; its names may be unknown."""
        return GraphResponse.of(read_statement(body.fact), vocabulary)

    @router.get("/examples", summary="List example queries")
    def examples() -> ExamplesResponse:
        """List a few queries made from facts that the model was not trained on."""
        return ExamplesResponse(examples=example_facts)

    @router.get("/model", summary="Describe the model")
    def describe_model() -> ModelResponse:
        """Describe the model: its settings, its data and, if evaluated, its metrics."""
        return description

    return router


def _describe(model: TrainedModel) -> ModelResponse:
    data = model.dataset
    return ModelResponse(
        name=model.name,
        settings=model.settings.model_dump(mode="json"),
        parameters=model.num_parameters,
        description=model.module.description,
        reference=model.module.reference,
        dataset=data.name,
        fingerprint=data.fingerprint,
        weights=model.weights_digest,
        recipe=model.recipe.as_toml(),
        updates=[str(update) for update in model.updates],
        counts=CountsOut(
            entities=len(data.vocabulary.entities),
            relations=len(data.vocabulary.relations),
            facts={split: len(table) for split, table in data.splits.items()},
            arities=data.facts.arities,
        ),
        predicts=sorted(model.module.roles, key=lambda role: role.value),
        calibrated=model.predictor.calibrated,
        metrics=[_without_relations(report) for report in model.reports],
        version=__version__,
    )


def _without_relations(report: Report) -> dict[str, Any]:
    """A report without the groups of single relations: there may be very many."""
    metrics = {group: figures for group, figures in report.metrics.items() if "[relation=" not in group}
    return replace(report, metrics=metrics).as_dict()


_ENDPOINTS_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Nary: endpoints</title>
<h1>Endpoints</h1>
<p>See the <a href="/openapi.json">OpenAPI schema</a> for details. <a href="/">Open the explorer.</a></p>
<dl>
{entries}
</dl>
</html>
"""
_MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
"""Listed here because the types that Python's ``mimetypes`` knows depend on the machine."""


def add_page_routes(app: FastAPI) -> None:
    """Add the health check, the list of endpoints and the explorer page."""

    @app.get("/health")
    async def health() -> HealthResponse:
        """Report that the server is running and ready."""
        return HealthResponse(status="ok")

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        return HTMLResponse(_endpoints_page(app.openapi()))

    for file in files("nary.apps").joinpath("page").iterdir():
        suffix = "." + file.name.rpartition(".")[2]
        if suffix in _MEDIA_TYPES:
            _add_file(app, "/" if file.name == "index.html" else f"/{file.name}", file, _MEDIA_TYPES[suffix])


def _endpoints_page(schema: Mapping[str, Any]) -> str:
    entries = [
        f"<dt><code>{method.upper()} {escape(path)}</code></dt><dd>{escape(operation['description'])}</dd>"
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
    ]
    return _ENDPOINTS_PAGE.format(entries="\n".join(entries))


def _add_file(app: FastAPI, path: str, file: Traversable, media_type: str) -> None:
    content = file.read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}

    @app.api_route(path, methods=["GET", "HEAD"], include_in_schema=False)
    def _file(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=media_type, headers=headers)
