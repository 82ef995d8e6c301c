"""One thread for all work of the model, a bounded queue before it, and queries that arrive together answered together.

A batch starts as soon as the thread is free. Only right after a batch of several queries it waits a moment, because
clients that were just answered tend to ask again; a client that is alone never waits.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

from nary.errors import NaryError
from nary.facts import Query
from nary.inference.prediction import Known
from nary.inference.results import Prediction

_Result = TypeVar("_Result")
_WAIT = 0.002
_LARGEST = 64  # queries in a batch: bounds the memory that scores of all candidates take


class OverloadError(NaryError):
    """So much work is waiting that more is refused."""

    kind = "overloaded"

    def __init__(self) -> None:
        super().__init__("the server has more to do than it can", "Try again in a moment.")


class TimeLimitError(NaryError):
    """An answer took longer than the server allows."""

    kind = "timeout"

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"no answer within {seconds:g} seconds", "Ask for less at once, or serve with a larger --timeout."
        )


class PredictMany(Protocol):
    """What answers several queries at once; see ``Predictor.predict_many``."""

    def __call__(self, queries: Sequence[Query], k: int, known: Known) -> Sequence[Prediction]:
        """A prediction for each query."""


@dataclass
class _Ask:
    query: Query
    k: int
    known: Known
    answer: "Future[tuple[Prediction, int]]" = field(default_factory=Future)


@dataclass
class _Task:
    work: Callable[[], Any]
    answer: "Future[Any]" = field(default_factory=Future)


class Worker:
    """Does the work of the model in the order it came in; start it with ``async with``."""

    def __init__(self, predict_many: PredictMany, timeout: float, capacity: int = 256) -> None:
        self._predict_many = predict_many
        self._timeout = timeout
        self._queue: asyncio.Queue[_Ask | _Task] = asyncio.Queue(capacity)
        self._thread = ThreadPoolExecutor(1, "model")

    async def __aenter__(self) -> "Worker":
        self._turns = asyncio.create_task(self._take_turns())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._turns.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def predict(self, query: Query, k: int, known: Known) -> tuple[Prediction, int]:
        """The prediction for a query with one gap, and how many queries were answered with it."""
        async with self._in_time():
            answer: tuple[Prediction, int] = await self._done(_Ask(query, k, known))
            return answer

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """What ``work`` returns."""
        async with self._in_time():
            result: _Result = await self._done(_Task(work))
            return result

    async def run_parts(self, parts: Iterable[Callable[[], Sequence[_Result]]]) -> list[_Result]:
        """What the ``parts`` of long work return, one after the other; others get their turn between them."""
        async with self._in_time():
            return [one for part in parts for one in await self._done(_Task(part))]

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._timeout):
                yield
        except TimeoutError:  # this has canceled the answer, so a job that still waits will be passed over
            raise TimeLimitError(self._timeout) from None

    async def _done(self, job: _Ask | _Task) -> Any:
        try:
            self._queue.put_nowait(job)
        except asyncio.QueueFull:
            raise OverloadError from None
        return await asyncio.wrap_future(job.answer)

    async def _take_turns(self) -> None:
        loop = asyncio.get_running_loop()
        last, patience_ends = 1, 0.0
        while True:
            jobs = [await self._queue.get()]
            while len(jobs) < _LARGEST:
                if self._queue.empty() and (len(jobs) >= last or loop.time() >= patience_ends):
                    break
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(patience_ends if self._queue.empty() else None):
                        jobs.append(await self._queue.get())
            await loop.run_in_executor(self._thread, self._do, jobs)
            last, patience_ends = len(jobs), loop.time() + _WAIT

    def _do(self, jobs: Sequence[_Ask | _Task]) -> None:
        """In the thread: the queries, those with equal options together, then everything else."""
        wanted = [job for job in jobs if job.answer.set_running_or_notify_cancel()]
        asks: dict[tuple[int, Known], list[_Ask]] = {}
        for job in wanted:
            if isinstance(job, _Ask):
                asks.setdefault((job.k, job.known), []).append(job)
        for own in asks.values():
            self._answer(own)
        for job in wanted:
            if isinstance(job, _Task):
                _settle(job.answer, job.work)

    def _answer(self, asks: Sequence[_Ask]) -> None:
        try:
            found = self._predict_many([ask.query for ask in asks], asks[0].k, asks[0].known)
        except Exception:  # a query among them is at fault: let each succeed or fail for itself
            for ask in asks:
                _settle(ask.answer, partial(self._alone, ask))
            return
        for ask, prediction in zip(asks, found, strict=True):
            ask.answer.set_result((prediction, len(asks)))

    def _alone(self, ask: _Ask) -> tuple[Prediction, int]:
        return self._predict_many([ask.query], ask.k, ask.known)[0], 1


def _settle(answer: "Future[Any]", work: Callable[[], Any]) -> None:
    """Put into ``answer`` what ``work`` returns or raises."""
    try:
        answer.set_result(work())
    except Exception as error:
        answer.set_exception(error)
