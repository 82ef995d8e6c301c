"""One thread runs the model, behind a bounded queue; queries that arrive together are answered in one batch.

A batch starts as soon as the thread is free. Right after a batch of several queries, the worker waits a moment for as
many again, because clients that were just answered tend to send the next query; a single client never waits.
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


@dataclass
class _PredictJob:
    query: Query
    k: int
    known: Known
    result: "Future[tuple[Prediction, int]]" = field(default_factory=Future)


@dataclass
class _CallJob:
    call: Callable[[], Any]
    result: "Future[Any]" = field(default_factory=Future)


class Worker:
    """Runs the work of the model in the order of arrival; start it with ``async with``."""

    def __init__(self, predict_many: PredictMany, timeout: float, capacity: int = 256) -> None:
        self._predict_many = predict_many
        self._timeout = timeout
        self._queue: asyncio.Queue[_PredictJob | _CallJob] = asyncio.Queue(capacity)
        self._thread = ThreadPoolExecutor(1, "model")

    async def __aenter__(self) -> "Worker":
        self._loop_task = asyncio.create_task(self._run_batches())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._loop_task.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def predict(self, query: Query, k: int, known: Known) -> tuple[Prediction, int]:
        """Answer a query with one gap; also return how many queries were answered in the same batch."""
        async with self._time_limit():
            result: tuple[Prediction, int] = await self._submit(_PredictJob(query, k, known))
            return result

    async def run(self, call: Callable[[], _Result]) -> _Result:
        """Run ``call`` in the model's thread and return its result."""
        async with self._time_limit():
            result: _Result = await self._submit(_CallJob(call))
            return result

    async def run_parts(self, calls: Iterable[Callable[[], Sequence[_Result]]]) -> list[_Result]:
        """Run the parts of a long job one after the other, letting other jobs in between; concatenate their results."""
        async with self._time_limit():
            return [item for call in calls for item in await self._submit(_CallJob(call))]

    @asynccontextmanager
    async def _time_limit(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._timeout):
                yield
        except TimeoutError:  # the timeout has canceled the future, so a job still in the queue will be skipped
            raise TimeLimitError(self._timeout) from None

    async def _submit(self, job: _PredictJob | _CallJob) -> Any:
        try:
            self._queue.put_nowait(job)
        except asyncio.QueueFull:
            raise OverloadError from None
        return await asyncio.wrap_future(job.result)

    async def _run_batches(self) -> None:
        loop = asyncio.get_running_loop()
        last_size, wait_until = 1, 0.0
        while True:
            jobs = [await self._queue.get()]
            while len(jobs) < _MAX_BATCH:
                if self._queue.empty() and (len(jobs) >= last_size or loop.time() >= wait_until):
                    break
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(wait_until if self._queue.empty() else None):
                        jobs.append(await self._queue.get())
            await loop.run_in_executor(self._thread, self._process, jobs)
            last_size, wait_until = len(jobs), loop.time() + _WAIT

    def _process(self, jobs: Sequence[_PredictJob | _CallJob]) -> None:
        """In the model's thread: answer the queries, grouped by their options, then run all other jobs."""
        active = [job for job in jobs if job.result.set_running_or_notify_cancel()]
        groups: dict[tuple[int, Known], list[_PredictJob]] = {}
        for job in active:
            if isinstance(job, _PredictJob):
                groups.setdefault((job.k, job.known), []).append(job)
        for group in groups.values():
            self._predict_group(group)
        for job in active:
            if isinstance(job, _CallJob):
                _complete(job.result, job.call)

    def _predict_group(self, jobs: Sequence[_PredictJob]) -> None:
        try:
            predictions = self._predict_many([job.query for job in jobs], jobs[0].k, jobs[0].known)
        except Exception:  # one of the queries is at fault: let each succeed or fail on its own
            for job in jobs:
                _complete(job.result, partial(self._predict_alone, job))
            return
        for job, prediction in zip(jobs, predictions, strict=True):
            job.result.set_result((prediction, len(jobs)))

    def _predict_alone(self, job: _PredictJob) -> tuple[Prediction, int]:
        return self._predict_many([job.query], job.k, job.known)[0], 1


def _complete(future: "Future[Any]", call: Callable[[], Any]) -> None:
    """Set the result of ``future`` to what ``call`` returns or raises."""
    try:
        future.set_result(call())
    except Exception as error:
        future.set_exception(error)
