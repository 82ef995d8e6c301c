"""What the endpoints share: the parameters of requests, and whose turn a request waits for."""

from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Query, Request
from starlette.concurrency import run_in_threadpool

from nary.apps.server.schemas import MAX_ITEMS
from nary.models.base import Kind

_Result = TypeVar("_Result")

Count = Annotated[int, Query(ge=1, le=MAX_ITEMS)]
"""How many answers, facts or names to return."""
Offset = Annotated[int, Query(ge=0, le=1_000_000_000)]
"""How many facts or names to pass over."""
Name = Annotated[str, Query(min_length=1, max_length=1000, examples=["Marie Curie"])]
"""The name of an entity or relation."""
RelationName = Annotated[str, Query(min_length=1, max_length=1000, examples=["award received"])]
"""The name of a relation."""
OptionalKind = Annotated[Kind | None, Query(description="Only entities, or only relations.")]


def turn(request: Request) -> tuple[str | None, str]:
    """Whose turn a request waits for: that of its client's address, for each endpoint."""
    return request.client.host if request.client else None, request.url.path


async def off_loop(read: Callable[[], _Result]) -> _Result:
    """Read and check facts in a thread: finding the names nearest to an unknown one takes time."""
    return await run_in_threadpool(read)
