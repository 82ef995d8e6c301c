"""Facts given with a request, and names that the model does not know."""

import asyncio
from typing import Any

import pytest
from apps.server.running import Served, same_json

from nary.apps.server.batching import TimeLimitError
from nary.apps.server.grown import GrownModels
from nary.facts import parse_fact, parse_query
from nary.runs import TrainedModel

UNSEEN = "Ada Lovelace | field of work | ?"
GIVEN = ["Ada Lovelace | born in | London", "Ada Lovelace | sex or gender | female"]


def test_an_unknown_name_is_refused_unless_it_may_be_unseen(served: Served, nobel_run: TrainedModel) -> None:
    refused = served.post("/api/predict", fact=UNSEEN)
    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == "unknown entity 'Ada Lovelace'"
    body = served.post("/api/predict", fact=UNSEEN, unseen=True, k=3).json()
    assert same_json(body, nobel_run.with_unseen_names([UNSEEN]).predict(UNSEEN, 3).as_dict())
    assert body["notes"] == ["'Ada Lovelace' is treated as the average subject of field of work"]
    assert served.post("/api/predict", fact=UNSEEN).status_code == 400  # for others nothing has changed


def test_facts_that_come_with_a_request_are_known_to_it_alone(served: Served) -> None:
    query = "Ada Lovelace | born in | ?"
    body = served.post("/api/predict", fact=query, with_facts=GIVEN, known="only").json()
    assert [(one["name"], one["stored"]["fact"]) for one in body["answers"]] == [("London", GIVEN[0])]
    assert served.post("/api/facts", fact=query).status_code == 400


@pytest.mark.parametrize(("path", "more"), [("suggest", {}), ("explain", {"position": "object"})])
def test_all_questions_about_a_fact_take_unseen_names(served: Served, path: str, more: dict[str, Any]) -> None:
    fact = "Ada Lovelace | born in | London"
    assert served.post(f"/api/{path}", fact=fact, **more).status_code == 400
    response = served.post(f"/api/{path}", fact=fact, unseen=True, **more)
    assert response.status_code == 200
    assert response.json()["fact"] == fact


def test_what_is_given_must_be_facts_and_not_too_many(served: Served) -> None:
    assert served.post("/api/predict", fact=UNSEEN, with_facts=["a | b | ?"]).status_code == 400
    assert served.post("/api/predict", fact=UNSEEN, with_facts=GIVEN * 26).status_code == 422


def test_a_model_is_kept_for_the_next_question_and_no_model_is_grown_for_known_names(nobel_run: TrainedModel) -> None:
    async def ask() -> None:
        grown = GrownModels(nobel_run, 60)
        known, new = [parse_fact("Marie Curie | born in | Warsaw")], [parse_query(UNSEEN)]
        assert await grown.predictor([], known, True) is nobel_run.predictor
        first = await grown.predictor([], new, True)
        assert first is not nobel_run.predictor
        assert await grown.predictor([], new, True) is first

    asyncio.run(ask())


def test_nobody_waits_for_longer_than_the_time_limit(nobel_run: TrainedModel) -> None:
    async def ask() -> None:
        with pytest.raises(TimeLimitError):
            await GrownModels(nobel_run, 1e-6).predictor([], [parse_query(UNSEEN)], True)

    asyncio.run(ask())
