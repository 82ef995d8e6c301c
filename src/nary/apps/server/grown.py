"""Models that know more than the served one: facts given with a request, and names that it does not know.

Growing a model takes a moment and copies its weights. So one thread does it, few requests may wait for it, and the
models of the last requests are kept: who asks for answers mostly asks for their reasons next.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from nary.apps.server.batching import OverloadError, TimeLimitError
from nary.errors import NaryError, SettingError
from nary.facts import Fact, Query
from nary.inference.predictor import Predictor
from nary.runs import TrainedModel

_KEPT = 3  # models
_WAITING = 4  # models that are being grown or wait for it
_MAX_PARAMETERS = 100_000_000


class GrownModels:
    """Grows the served model for requests; ``timeout`` is how many seconds a request waits for it."""

    def __init__(self, model: TrainedModel, timeout: float) -> None:
        self._model = model
        self._timeout = timeout
        self._thread = ThreadPoolExecutor(1, "growing")
        self._models: OrderedDict[tuple[str, ...], Future[TrainedModel]] = OrderedDict()

    async def predictor(self, facts: Sequence[Fact], statements: Sequence[Fact | Query], unseen: bool) -> Predictor:
        """The predictor of a model that knows ``facts`` and, if they may be ``unseen``, all names of ``statements``."""
        if unseen and all(self._model.predictor.names.knows(one) for one in statements):
            unseen = False
        if not facts and not unseen:
            return self._model.predictor
        return (await self._grown(list(facts), list(statements) if unseen else [])).predictor

    async def _grown(self, facts: list[Fact], statements: list[Fact | Query]) -> TrainedModel:
        key = (*map(str, facts), "", *map(str, statements))
        if key not in self._models:
            self._models[key] = self._submit(facts, statements)
        self._models.move_to_end(key)
        while len(self._models) > _KEPT and next(iter(self._models.values())).done():
            self._models.popitem(last=False)
        try:
            async with asyncio.timeout(self._timeout):
                return await asyncio.shield(asyncio.wrap_future(self._models[key]))  # others may wait for it, too
        except TimeoutError:
            raise TimeLimitError(self._timeout) from None
        except NaryError:
            self._models.pop(key, None)
            raise

    def _submit(self, facts: list[Fact], statements: list[Fact | Query]) -> "Future[TrainedModel]":
        if self._model.num_parameters > _MAX_PARAMETERS:
            raise SettingError(
                f"a model of {self._model.num_parameters:,} parameters cannot learn within a request",
                "Add the facts with nary update, and serve the new model.",
            )
        if sum(not future.done() for future in self._models.values()) >= _WAITING:
            raise OverloadError
        return self._thread.submit(self._grow, facts, statements)

    def _grow(self, facts: list[Fact], statements: list[Fact | Query]) -> TrainedModel:
        model = self._model.with_facts(facts) if facts else self._model
        return model.with_unseen_names(statements) if statements else model
