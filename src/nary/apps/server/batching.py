"""One thread runs the model, behind bounded queues; queries that arrive together are answered in one batch.

A batch starts as soon as the thread is free. Right after a batch of several queries, the worker waits a moment for as
many again, because clients that were just answered tend to send the next query; a single client never waits.

Other jobs run one at a time. Clients, and the kinds of their requests, take turns: one that sends very many requests
waits for itself. A job whose client has left or has been waiting for too long is not started.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

from nary.errors import NaryError
from nary.facts import Query
from nary.inference.prediction import Known
from nary.inference.results import Prediction

_Result = TypeVar("_Result")
_WAIT = 0.002  # seconds to wait for more queries after a batch of several
_MAX_BATCH = 64  # bounds the memory for the scores of all candidates


class OverloadError(NaryError):
    """The queue is full."""

    kind = "overloaded"

    def __init__(self) -> None:
        super().__init__("the server is overloaded", "Try again in a moment.")


class TimeLimitError(NaryError):
    """An answer took longer than the server allows."""

    kind = "timeout"

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"no answer within {seconds:g} seconds", "Request less at once, or serve with a larger --timeout."
        )


class PredictMany(Protocol):
    """Answers several queries at once, as ``Predictor.predict_many`` does."""

    def __call__(self, queries: Sequence[Query], k: int, known: Known) -> Sequence[Prediction]:
        """Return a prediction for each query."""


def _future() -> "asyncio.Future[Any]":
    return asyncio.get_running_loop().create_future()


@dataclass(eq=False)
class _PredictJob:
    turn: Hashable
    query: Query
    k: int
    known: Known
    result: "asyncio.Future[Any]" = field(default_factory=_future)


@dataclass(eq=False)
class _CallJob:
    turn: Hashable
    call: Callable[[], Any]
    result: "asyncio.Future[Any]" = field(default_factory=_future)


_Job = _PredictJob | _CallJob


class _Outcome(NamedTuple):
    """What came of a job, on its way from the model's thread to the event loop, which tells the client."""

    job: _Job
    result: Any = None
    error: Exception | None = None

    def tell(self) -> None:
        """Give the result or the error to whoever waits."""
        if self.job.result.done():  # nobody does: the client has left
            return
        if self.error is None:
            self.job.result.set_result(self.result)
        else:
            self.job.result.set_exception(self.error)


class _Turns:
    """Jobs that wait, in a queue for each turn; turns take turns."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._queues: OrderedDict[Hashable, deque[_Job]] = OrderedDict()
        self._arrival = asyncio.Event()

    def put(self, job: _Job) -> None:
        """Add a job; nobody may fill more than half of the room."""
        queue = self._queues.get(_turn_of(job), ())
        if sum(map(len, self._queues.values())) >= self._capacity or len(queue) >= max(1, self._capacity // 2):
            raise OverloadError
        self._queues.setdefault(_turn_of(job), deque()).append(job)
        self._arrival.set()

    def discard(self, job: _Job) -> None:
        """Remove a job that nobody waits for anymore, if it has not been taken."""
        if job in self._queues.get(_turn_of(job), ()):
            self._queues[_turn_of(job)].remove(job)
            if not self._queues[_turn_of(job)]:
                del self._queues[_turn_of(job)]

    def take(self, kind: type[_Job] | None = None) -> _Job | None:
        """The next job, or the next one of this kind; its turn comes again after all others."""
        for turn, queue in self._queues.items():
            if kind is None or isinstance(queue[0], kind):
                job = queue.popleft()
                del self._queues[turn]
                if queue:
                    self._queues[turn] = queue
                return job
        return None

    async def arrival(self) -> None:
        """Wait for the next job that is added."""
        self._arrival.clear()
        await self._arrival.wait()


def _turn_of(job: _Job) -> Hashable:
    return job.turn, type(job)


class Worker:
    """Runs the work of the model; start it with ``async with``.

    ``turn`` says on whose behalf: jobs with the same value run in the order of arrival.
    """

    def __init__(self, predict_many: PredictMany, timeout: float, capacity: int = 256) -> None:
        self._predict_many = predict_many
        self._timeout = timeout
        self._turns = _Turns(capacity)
        self._thread = ThreadPoolExecutor(1, "model")

    async def __aenter__(self) -> "Worker":
        self._loop_task = asyncio.create_task(self._run_jobs())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._loop_task.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def predict(self, query: Query, k: int, known: Known, turn: Hashable = None) -> tuple[Prediction, int]:
        """Answer a query with one gap; also return how many queries were answered in the same batch."""
        async with self._time_limit():
            result: tuple[Prediction, int] = await self._submit(_PredictJob(turn, query, k, known))
            return result

    async def run(self, call: Callable[[], _Result], turn: Hashable = None) -> _Result:
        """Run ``call`` in the model's thread and return its result."""
        async with self._time_limit():
            result: _Result = await self._submit(_CallJob(turn, call))
            return result

    async def run_parts(self, calls: Iterable[Callable[[], Sequence[_Result]]], turn: Hashable = None) -> list[_Result]:
        """Run the parts of a long job one after the other, letting other jobs in between; concatenate their results."""
        async with self._time_limit():
            return [item for call in calls for item in await self._submit(_CallJob(turn, call))]

    @asynccontextmanager
    async def _time_limit(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._timeout):
                yield
        except TimeoutError:
            raise TimeLimitError(self._timeout) from None

    async def _submit(self, job: _Job) -> Any:
        self._turns.put(job)
        try:
            return await job.result
        finally:
            self._turns.discard(job)  # if the wait was canceled, by the time limit or because the client has left

    async def _run_jobs(self) -> None:
        loop = asyncio.get_running_loop()
        last_size, wait_until = 1, 0.0
        while True:
            job = self._turns.take()
            if job is None:
                await self._turns.arrival()
            elif isinstance(job, _CallJob):
                (await loop.run_in_executor(self._thread, _outcome, job, job.call)).tell()
            else:
                jobs = await self._batch_with(job, last_size, wait_until)
                for outcome in await loop.run_in_executor(self._thread, self._predict, jobs):
                    outcome.tell()
                last_size, wait_until = len(jobs), loop.time() + _WAIT

    async def _batch_with(self, first: _PredictJob, last_size: int, wait_until: float) -> list[_PredictJob]:
        """The queries to answer together: those that wait, and those of the next moment if there were several."""
        jobs, loop = [first], asyncio.get_running_loop()
        while len(jobs) < _MAX_BATCH:
            job = self._turns.take(_PredictJob)
            if isinstance(job, _PredictJob):
                jobs.append(job)
            elif len(jobs) >= last_size or loop.time() >= wait_until:
                break
            else:
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(wait_until):
                        await self._turns.arrival()
        return jobs

    def _predict(self, jobs: Sequence[_PredictJob]) -> list[_Outcome]:
        """In the model's thread: answer the queries, grouped by their options."""
        groups: dict[tuple[int, Known], list[_PredictJob]] = {}
        for job in jobs:
            if not job.result.done():
                groups.setdefault((job.k, job.known), []).append(job)
        return [outcome for group in groups.values() for outcome in self._predict_group(group)]

    def _predict_group(self, jobs: Sequence[_PredictJob]) -> list[_Outcome]:
        try:
            predictions = self._predict_many([job.query for job in jobs], jobs[0].k, jobs[0].known)
        except Exception:  # one of the queries is at fault: let each succeed or fail on its own
            return [_outcome(job, partial(self._predict_alone, job)) for job in jobs]
        return [_Outcome(job, (prediction, len(jobs))) for job, prediction in zip(jobs, predictions, strict=True)]

    def _predict_alone(self, job: _PredictJob) -> tuple[Prediction, int]:
        return self._predict_many([job.query], job.k, job.known)[0], 1


def _outcome(job: _Job, call: Callable[[], Any]) -> _Outcome:
    """In the model's thread: what ``call`` returns or raises, unless nobody waits for it anymore."""
    if job.result.done():
        return _Outcome(job)
    try:
        return _Outcome(job, call())
    except Exception as error:
        return _Outcome(job, error=error)
