"""The lines of a file: each has its result or its error, in order."""

import json

from apps.server.running import Served, same_json

from nary.runs import TrainedModel

FACT = "Marie Curie | award received | Nobel Prize in Chemistry | point in time: 1911"
QUERY = "Marie Curie | award received | ? | point in time: 1911"
TWO_GAPS = "Marie Curie | award received | ? | point in time: ?"


def test_facts_are_scored_and_queries_answered(served: Served, nobel_run: TrainedModel) -> None:
    form = {"subject": "marie curie", "relation": "born in", "object": "?"}
    lines = [QUERY, FACT, json.dumps(form), TWO_GAPS, FACT]
    results = served.post("/api/lines", lines=lines, k=3, known="hide").json()["results"]
    assert [one["line"] for one in results] == [1, 2, 3, 4, 5]
    assert all(one["error"] is None for one in results)
    assert same_json(results[0]["prediction"], nobel_run.predict(QUERY, 3, "hide").as_dict())
    assert same_json(results[1]["plausibility"], nobel_run.score([FACT])[0].as_dict())
    assert results[2]["prediction"]["query"] == "Marie Curie | born in | ?"
    assert same_json(results[3]["prediction"], nobel_run.complete(TWO_GAPS, 3, "hide").as_dict())
    assert results[4]["plausibility"] == results[1]["plausibility"]


def test_bad_lines_have_an_error_each_and_stop_nothing(served: Served) -> None:
    lines = ["no fact", FACT, "Marie Curi | born in | ?", "{", "", FACT + " | point in time: 1911" * 64]
    results = served.post("/api/lines", lines=lines).json()["results"]
    errors = [one["error"] and one["error"]["message"] for one in results]
    assert errors[0] == "'no fact' has 1 of the three parts of a fact"
    assert errors[1] is None
    assert errors[2] == "unknown entity 'Marie Curi'"
    assert errors[3].startswith("not JSON")
    assert errors[4] == "empty element in ''"
    assert errors[5] == "a fact with 65 qualifiers"
    assert results[2]["error"]["hint"] == "Did you mean Marie Curie?"
    assert all(one["plausibility"] is one["prediction"] is None for one in results if one["error"])


def test_many_lines_are_answered_in_parts(served: Served, nobel_run: TrainedModel) -> None:
    facts = [str(fact) for fact in nobel_run.dataset.test.facts(nobel_run.vocabulary)][:100]
    results = served.post("/api/lines", lines=facts).json()["results"]
    assert [one["plausibility"]["fact"] for one in results] == facts
    assert served.post("/api/lines", lines=["x"] * 201).status_code == 422
    assert served.post("/api/lines", lines=[]).json() == {"results": []}
