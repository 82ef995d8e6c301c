"""Queries that arrive together are answered together; each gets its own answer, in time, or a reason."""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from apps.server.running import Served, same_json

from nary.apps.server import batching
from nary.apps.server.batching import OverloadError, TimeLimitError, Worker
from nary.facts import GAP, Query
from nary.inference.results import Prediction
from nary.runs import TrainedModel


class Model:
    """Answers a query with its own text, notes the sizes of the batches, and may be held up."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.free = threading.Event()
        self.free.set()

    def predict_many(self, queries: Sequence[Query], k: int, known: Any) -> list[Prediction]:
        self.batches.append(len(queries))
        assert self.free.wait(10)
        if any(query.subject == "bad" for query in queries):
            raise ValueError("a bad query")
        return [Prediction(str(query), f"{k} {known}", []) for query in queries]


def query(subject: str) -> Query:
    return Query(subject, "r", GAP)


async def held_up(worker: Worker, model: Model) -> "asyncio.Task[Any]":
    """Keep the worker busy until ``model.free`` is set."""
    model.free.clear()
    first = asyncio.create_task(worker.predict(query("first"), 1, "mark"))
    while not model.batches:
        await asyncio.sleep(0.001)
    return first


def test_queries_that_wait_are_answered_together_and_each_rightly() -> None:
    async def main() -> None:
        model = Model()
        async with Worker(model.predict_many, timeout=10) as worker:
            first = await held_up(worker, model)
            others = [asyncio.create_task(worker.predict(query(f"s{i}"), 1 + i % 2, "mark")) for i in range(20)]
            await asyncio.sleep(0)
            model.free.set()
            assert await first == (Prediction("first | r | ?", "1 mark", []), 1)
            for i, other in enumerate(others):
                assert await other == (Prediction(f"s{i} | r | ?", f"{1 + i % 2} mark", []), 10)
        assert model.batches == [1, 10, 10]  # equal options go together

    asyncio.run(main())


def test_a_bad_query_fails_alone() -> None:
    async def main() -> None:
        model = Model()
        async with Worker(model.predict_many, timeout=10) as worker:
            first = await held_up(worker, model)
            tasks = [asyncio.create_task(worker.predict(query(name), 1, "mark")) for name in ("a", "bad", "b")]
            await asyncio.sleep(0)
            model.free.set()
            results = await asyncio.gather(first, *tasks, return_exceptions=True)
        assert [one[0].query if isinstance(one, tuple) else str(one) for one in results] == [
            *("first | r | ?", "a | r | ?", "a bad query", "b | r | ?")
        ]

    asyncio.run(main())


def test_a_query_that_is_alone_does_not_wait_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "_WAIT", 60)

    async def main() -> None:
        model = Model()
        async with Worker(model.predict_many, timeout=10) as worker:
            for _ in range(5):
                await worker.predict(query("s"), 1, "mark")
        assert model.batches == [1] * 5

    asyncio.run(main())


def test_after_a_batch_of_several_as_many_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "_WAIT", 60)

    async def main() -> None:
        model = Model()
        async with Worker(model.predict_many, timeout=10) as worker:
            first = await held_up(worker, model)
            together = [asyncio.create_task(worker.predict(query("s"), 1, "mark")) for _ in range(3)]
            await asyncio.sleep(0)
            model.free.set()
            await asyncio.gather(first, *together)
            again = []
            for _ in range(3):
                again.append(asyncio.create_task(worker.predict(query("s"), 1, "mark")))
                await asyncio.sleep(0.02)
            await asyncio.gather(*again)
        assert model.batches == [1, 3, 3]

    asyncio.run(main())


def test_more_than_the_queue_holds_is_refused() -> None:
    async def main() -> None:
        model = Model()
        async with Worker(model.predict_many, timeout=10, capacity=4) as worker:
            first = await held_up(worker, model)
            waiting = [asyncio.create_task(worker.predict(query("s"), 1, "mark", turn=i % 2)) for i in range(4)]
            await asyncio.sleep(0)
            with pytest.raises(OverloadError):
                await worker.run(lambda: 3, turn=2)
            model.free.set()
            await asyncio.gather(first, *waiting)
            assert await worker.run(lambda: 3) == 3

    asyncio.run(main())


def test_no_client_fills_the_queue_alone() -> None:
    async def main() -> None:
        model = Model()
        async with Worker(model.predict_many, timeout=10, capacity=8) as worker:
            first = await held_up(worker, model)
            many = [asyncio.create_task(worker.run(lambda: 3, turn="greedy")) for _ in range(6)]
            await asyncio.sleep(0)
            other = asyncio.create_task(worker.run(lambda: 4, turn="modest"))
            await asyncio.sleep(0)
            model.free.set()
            results = await asyncio.gather(*many, return_exceptions=True)
            assert [isinstance(result, OverloadError) for result in results] == [False] * 4 + [True] * 2
            assert await other == 4
            await first

    asyncio.run(main())


def test_clients_take_turns() -> None:
    async def main() -> None:
        model, order = Model(), []
        async with Worker(model.predict_many, timeout=10) as worker:
            first = await held_up(worker, model)
            names = [*("a" for _ in range(5)), "b", "b", "c"]
            jobs = [asyncio.create_task(worker.run(partial(order.append, name), turn=name)) for name in names]
            await asyncio.sleep(0)
            model.free.set()
            await asyncio.gather(first, *jobs)
        assert "".join(order) == "abcabaaa"

    asyncio.run(main())


def test_who_has_left_is_not_worked_for() -> None:
    async def main() -> None:
        model, done = Model(), []
        async with Worker(model.predict_many, timeout=10, capacity=2) as worker:
            first = await held_up(worker, model)
            for _ in range(5):  # more than there is room for: what is given up makes room at once
                job = asyncio.create_task(worker.run(lambda: done.append(1)))
                await asyncio.sleep(0)
                job.cancel()
                await asyncio.sleep(0)
            parts = asyncio.create_task(worker.run_parts([lambda: model.free.wait(1) and [1], lambda: done.append(2)]))
            await asyncio.sleep(0)
            parts.cancel()
            model.free.set()
            await first
            await worker.run(lambda: None)
        assert done == []

    asyncio.run(main())


def test_what_takes_too_long_is_given_up_and_not_done_later() -> None:
    async def main() -> None:
        model = Model()
        async with Worker(model.predict_many, timeout=0.1) as worker:
            first = await held_up(worker, model)
            done = []
            with pytest.raises(TimeLimitError, match=r"0\.1 seconds"):
                await worker.run(lambda: done.append(1))
            with pytest.raises(TimeLimitError):
                await first
            model.free.set()
            assert await worker.run_parts([lambda: [1, 2], lambda: [3]]) == [1, 2, 3]
            assert done == []

    asyncio.run(main())


def test_errors_of_work_reach_who_asked_for_it() -> None:
    async def main() -> None:
        async with Worker(Model().predict_many, timeout=10) as worker:
            with pytest.raises(ZeroDivisionError):
                await worker.run(lambda: 1 // 0)

    asyncio.run(main())


def test_32_clients_at_once_get_the_answers_of_the_predictor(served: Served, nobel_run: TrainedModel) -> None:
    facts = list(nobel_run.dataset.test.facts(nobel_run.dataset.vocabulary))[:96]
    queries = [str(fact.query(list(fact.elements())[i % len(fact.elements())])) for i, fact in enumerate(facts)]
    expected = [nobel_run.predict(one, 3).as_dict() for one in queries]
    seen = len(served.log)
    with ThreadPoolExecutor(32) as clients:
        responses = list(clients.map(lambda one: served.post("/api/predict", fact=one, k=3), queries))
    assert {response.status_code for response in responses} == {200}
    assert all(map(same_json, [response.json() for response in responses], expected))
    assert any('"batch":1}' not in line for line in served.log[seen:] if "/api/predict" in line)
