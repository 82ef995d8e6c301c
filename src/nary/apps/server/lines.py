"""The endpoint for files: lines with facts to score and questions to answer, each with its result or its error."""

from fastapi import APIRouter, Request

from nary.apps.server.batching import Worker
from nary.apps.server.errors import ERROR_RESPONSES
from nary.apps.server.facts import bounded, check_completion_size
from nary.apps.server.requests import off_loop, turn
from nary.apps.server.schemas import ErrorDetail, LineOut, LinesRequest, LinesResponse
from nary.errors import NaryError
from nary.facts import Fact, Query
from nary.facts.json import parse_line
from nary.inference.lines import LineOptions, LineResult, answer_in_parts
from nary.inference.predictor import Predictor
from nary.inference.results import Plausibility
from nary.runs import TrainedModel


def line_routes(model: TrainedModel, worker: Worker) -> APIRouter:
    """The endpoint under /api that takes the lines of a file."""
    router = APIRouter(prefix="/api", responses=ERROR_RESPONSES)
    predictor = model.predictor

    @router.post("/lines", summary="Score facts and answer queries")
    async def lines(request: Request, body: LinesRequest) -> LinesResponse:
        """Score each line that is a fact and answer each that is a query; a line at fault has an error instead."""
        options = LineOptions(body.k, body.known)
        statements = await off_loop(lambda: [_read(predictor, line, body.k) for line in body.lines])
        parts = answer_in_parts(predictor, statements, options)
        results: dict[int, LineResult] = {i: one for i, one in enumerate(statements) if isinstance(one, NaryError)}
        results |= dict(await worker.run_parts(parts, turn(request)))
        return LinesResponse(results=[_line(number, results[number]) for number in range(len(statements))])

    return router


def _read(predictor: Predictor, line: str, k: int) -> Fact | Query | NaryError:
    try:
        statement = bounded(parse_line(line))
        if isinstance(statement, Fact):
            return predictor.names.resolve(statement)
        query = predictor.check(statement)
        if len(query.gaps) > 1:
            check_completion_size(query, k)
        return query
    except NaryError as error:
        return error


def _line(number: int, result: LineResult) -> LineOut:
    if isinstance(result, NaryError):
        return LineOut(line=number + 1, error=ErrorDetail(kind=result.kind, message=result.message, hint=result.hint))
    if isinstance(result, Plausibility):
        return LineOut(line=number + 1, plausibility=result)
    return LineOut(line=number + 1, prediction=result)
