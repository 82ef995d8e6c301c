"""The endpoints under /api: each takes its request apart, asks the predictor, and answers."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Annotated, TypeVar

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from nary.apps.server.batching import Worker
from nary.apps.server.description import describe
from nary.apps.server.errors import PROBLEMS
from nary.apps.server.examples import examples
from nary.apps.server.fact_index import FactIndex
from nary.apps.server.requests import (
    MOST,
    ExplainRequest,
    GraphRequest,
    PredictRequest,
    ScoreRequest,
    SuggestRequest,
    check_completion,
)
from nary.apps.server.responses import (
    Examples,
    Explained,
    Graph,
    KnownFact,
    KnownFacts,
    ModelDescription,
    Scored,
    SearchHits,
    ShownFact,
)
from nary.apps.server.sent_facts import fact_of, query_of, statement_of
from nary.facts import Fact, Position
from nary.inference.results import Completions, Neighbors, Prediction, Suggestions
from nary.models.base import Kind
from nary.runs import Run

_Statement = TypeVar("_Statement")
_ELEMENTS = 256  # elements scored in one go: longer requests let others in between
_Count = Annotated[int, Query(ge=1, le=MOST)]
_Name = Annotated[str, Query(min_length=1, max_length=1000, examples=["Marie Curie"])]
_MaybeKind = Annotated[Kind | None, Query(description="Only entities, or only relations.")]


def api(run: Run, worker: Worker) -> APIRouter:
    """The endpoints for one trained model."""
    router = APIRouter(prefix="/api", responses=PROBLEMS)
    predictor, vocabulary = run.predictor, run.dataset.vocabulary
    index = FactIndex(run.dataset)
    described = describe(run)
    shown_examples = [ShownFact.of(query, vocabulary) for query in examples(run.dataset, run.model)]

    @router.post("/predict", summary="Answer a query")
    async def predict(request: Request, wanted: PredictRequest) -> Prediction | Completions:
        """The most probable answers for the gap. With several gaps, whole completions (experimental)."""
        query = await _checked(lambda: predictor.check(query_of(wanted.fact)))
        if len(query.gaps) > 1:
            check_completion(query, wanted.k)
            return await worker.run(lambda: predictor.complete(query, wanted.k, wanted.known))
        prediction, request.state.batch = await worker.predict(query, wanted.k, wanted.known)
        return prediction

    @router.post("/score", summary="How plausible is a fact?")
    async def score(wanted: ScoreRequest) -> Scored:
        """A plausibility from 0 to 1 for each fact, and for each of its elements how well it fits the others."""
        sent = wanted.facts if wanted.facts is not None else [wanted.fact]
        facts = await _checked(lambda: [predictor.names.resolve(fact_of(fact)) for fact in sent if fact is not None])
        return Scored(facts=await worker.run_parts(partial(predictor.score, part) for part in _parts(facts)))

    @router.post("/suggest", summary="Which qualifiers may be missing?")
    async def suggest(wanted: SuggestRequest) -> Suggestions:
        """Qualifiers that the fact does not have, most probable first."""
        fact = await _checked(lambda: predictor.names.resolve(fact_of(wanted.fact)))
        return await worker.run(lambda: predictor.suggest(fact, wanted.k))

    @router.post("/explain", summary="Why this answer?", response_model=Explained)
    async def explain(wanted: ExplainRequest) -> object:
        """What adds to the score of the element at a position, which facts are similar, where attention goes."""
        position = Position.parse(wanted.position)
        fact = await _checked(lambda: predictor.names.resolve(fact_of(wanted.fact)))
        return (await worker.run(lambda: predictor.explain(fact, position))).as_dict()

    @router.get("/similar", summary="What is similar?")
    async def similar(name: _Name, kind: _MaybeKind = None, k: _Count = 10) -> Neighbors:
        """The entities or relations whose vectors are nearest."""
        return await worker.run(lambda: predictor.similar(name, kind, k))

    @router.get("/search", summary="Find names while typing")
    def search(q: Annotated[str, Query(max_length=1000)], kind: _MaybeKind = None, limit: _Count = 20) -> SearchHits:
        """Names and labels that begin with the text, then those that hold it, whatever the case."""
        return SearchHits(found=predictor.names.search(q, kind, limit))

    @router.get("/facts", summary="The known facts about an entity")
    def facts(
        entity: _Name, limit: _Count = 20, offset: Annotated[int, Query(ge=0, le=1_000_000_000)] = 0
    ) -> KnownFacts:
        """Facts of the data that mention it, a page at a time."""
        number = predictor.names.entity(entity)
        places = index.mentions(number)
        found = [index.fact(int(place)) for place in places[offset : offset + limit]]
        name = vocabulary.entities[number]
        return KnownFacts(
            entity=name,
            label=vocabulary.label(name),
            total=len(places),
            facts=[KnownFact(**dict(ShownFact.of(fact, vocabulary)), split=split) for fact, split in found],
        )

    @router.post("/graph", summary="A fact as a graph")
    def graph(wanted: GraphRequest) -> Graph:
        """The typed graph of a fact or query, and both forms of it; its names need not be known."""
        return Graph.of(statement_of(wanted.fact), vocabulary)

    @router.get("/examples", summary="Queries to start from")
    def get_examples() -> Examples:
        """A few queries made of facts the model has not learned from."""
        return Examples(examples=shown_examples)

    @router.get("/model", summary="What model is this?")
    def model() -> ModelDescription:
        """Its settings, its data and, if known, how good it is."""
        return described

    return router


async def _checked(read: Callable[[], _Statement]) -> _Statement:
    """Read facts outside the event loop: comparing an unknown name with all known ones takes time."""
    return await run_in_threadpool(read)


def _parts(facts: Sequence[Fact]) -> Iterator[Sequence[Fact]]:
    """The facts in parts of a bounded number of elements, or single."""
    part: list[Fact] = []
    for fact in facts:
        if part and sum(len(one.elements()) for one in (*part, fact)) > _ELEMENTS:
            yield part
            part = []
        part.append(fact)
    if part:
        yield part
