"""Every endpoint answers what the predictor answers in Python."""

import json
from typing import Any

import pytest
from apps.server.conftest import SCRIPT
from apps.server.running import Served
from runs.small import wait_until

from nary.runs import Run

QUERY = "Marie Curie | award received | ? | point in time: 1911"
FACT = "Marie Curie | award received | Nobel Prize in Chemistry | point in time: 1911"
FORM = {
    "subject": "Marie Curie",
    "relation": "award received",
    "object": "?",
    "qualifiers": [["point in time", "1911"]],
}


def same(found: Any, expected: Any) -> bool:
    """Whether two JSON values agree, numbers up to the rounding of sums in another order."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[key], expected[key]) for key in expected)
    if isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(map(same, found, expected))
    return found == pytest.approx(expected, rel=1e-4, abs=1e-5) if isinstance(expected, float) else found == expected


def test_predict(served: Served, nobel_run: Run) -> None:
    answer = served.post("/api/predict", fact=QUERY, k=7)
    assert answer.status_code == 200
    assert same(answer.json(), nobel_run.predict(QUERY, 7).as_dict())
    assert len(answer.json()["answers"]) == 7
    assert served.post("/api/predict", fact=FORM, k=7).json() == answer.json()
    with_split = {**FORM, "split": "test"}
    assert served.post("/api/predict", fact=with_split, k=7).json() == answer.json()


@pytest.mark.parametrize("known", ["hide", "only"])
def test_predict_with_known_answers_left_out_or_alone(served: Served, nobel_run: Run, known: Any) -> None:
    query = "Rabindranath Tagore | field of work | ?"
    found = served.post("/api/predict", fact=query, known=known).json()
    assert same(found, nobel_run.predict(query, known=known).as_dict())
    assert {answer["known"] for answer in found["answers"]} == {known == "only"}


def test_predict_several_gaps(served: Served, nobel_run: Run) -> None:
    query = "Marie Curie | award received | ? | point in time: ?"
    found = served.post("/api/predict", fact=query, k=3).json()
    assert same(found, nobel_run.complete(query, 3).as_dict())
    assert found["experimental"]


def test_score(served: Served, nobel_run: Run) -> None:
    facts = [str(fact) for fact in nobel_run.dataset.test.facts(nobel_run.dataset.vocabulary)][:70]
    expected = [one.as_dict() for one in nobel_run.score(facts)]
    assert same(served.post("/api/score", facts=facts).json()["facts"], expected)
    assert same(served.post("/api/score", fact=facts[0]).json()["facts"], expected[:1])
    assert served.post("/api/score", facts=[]).json() == {"facts": []}


def test_suggest(served: Served, nobel_run: Run) -> None:
    assert same(served.post("/api/suggest", fact=FACT, k=4).json(), nobel_run.suggest(FACT, 4).as_dict())


@pytest.mark.parametrize("position", ["object", "value 1"])
def test_explain(served: Served, nobel_run: Run, position: str) -> None:
    found = served.post("/api/explain", fact=FACT, position=position).json()
    assert same(found, nobel_run.explain(FACT, position).as_dict())
    assert {"from", "to", "type", "weight"} == found["attention"][0].keys()


def test_similar(served: Served, nobel_run: Run) -> None:
    assert same(
        served.get("/api/similar", name="Marie Curie", k=3).json(), nobel_run.similar("Marie Curie", k=3).as_dict()
    )
    relation = served.get("/api/similar", name="spouse", kind="relation", k=2).json()
    assert relation["kind"] == "relation"
    assert len(relation["neighbors"]) == 2


def test_search(served: Served) -> None:
    found = served.get("/api/search", q="CURIE", kind="entity", limit=5).json()["found"]
    assert {"name": "Marie Curie", "label": "Marie Curie", "kind": "entity"} in found
    assert len(served.get("/api/search", q="").json()["found"]) == 20
    assert {one["kind"] for one in served.get("/api/search", q="a", kind="relation").json()["found"]} == {"relation"}


def test_facts_that_mention_an_entity(served: Served, nobel_run: Run) -> None:
    data = nobel_run.dataset
    expected = [
        (str(fact), split)
        for split, table in data.splits.items()
        for fact in table.facts(data.vocabulary)
        if "Marie Curie" in (fact.subject, fact.object, *(value for _, value in fact.qualifiers))
    ]
    found = served.get("/api/facts", entity="marie curie", limit=1000).json()
    assert found["entity"] == "Marie Curie"
    assert found["total"] == len(expected) > 5
    assert [(fact["fact"], fact["split"]) for fact in found["facts"]] == expected
    part = served.get("/api/facts", entity="Marie Curie", limit=2, offset=3).json()["facts"]
    assert part == found["facts"][3:5]
    assert served.get("/api/facts", entity="Marie Curie", offset=1_000_000_000).json()["facts"] == []


def test_graph(served: Served) -> None:
    found = served.post("/api/graph", fact=QUERY).json()
    assert found["fact"] == QUERY
    assert found["form"] == FORM
    assert [(vertex["position"], vertex["role"], vertex["name"]) for vertex in found["vertices"]] == [
        ("relation", "relation", "award received"),
        ("subject", "subject", "Marie Curie"),
        ("object", "object", None),
        ("attribute 1", "attribute", "point in time"),
        ("value 1", "value", "1911"),
    ]
    assert [(edge["first"], edge["second"], edge["type"], edge["label"]) for edge in found["edges"]] == [
        ("subject", "relation", 1, "subject-relation"),
        ("object", "relation", 2, "object-relation"),
        ("relation", "attribute 1", 3, "relation-attribute"),
        ("attribute 1", "value 1", 4, "attribute-value"),
    ]
    assert served.post("/api/graph", fact="nobody | knows | these").status_code == 200


def test_examples_can_be_asked(served: Served) -> None:
    found = served.get("/api/examples").json()["examples"]
    positions = [one["position"] for shown in found for one in shown["elements"] if one["name"] is None]
    assert positions[:3] == ["object", "relation", "value 1"]
    assert len({len(shown["elements"]) for shown in found}) > 1
    for shown in found:
        by_text = served.post("/api/predict", fact=shown["fact"])
        assert by_text.status_code == 200
        assert served.post("/api/predict", fact=shown["form"]).json() == by_text.json()


def test_model(served: Served, nobel_run: Run) -> None:
    found = served.get("/api/model").json()
    assert found["name"] == "gran"
    assert found["dataset"] == "nobel"
    assert found["settings"]["num_layers"] == 1
    assert found["counts"]["entities"] == len(nobel_run.dataset.vocabulary.entities)
    assert found["counts"]["facts"]["test"] == len(nobel_run.dataset.test)
    assert sum(found["counts"]["arities"].values()) == sum(found["counts"]["facts"].values())
    assert found["calibrated"]


def test_health(served: Served) -> None:
    assert served.get("/health").json() == {"status": "ok"}


def test_labels_are_data(served: Served) -> None:
    answer = served.get("/api/search", q="<script>")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.json()["found"] == [{"name": "Ada Yonath", "label": SCRIPT, "kind": "entity"}]
    fact = served.get("/api/facts", entity=SCRIPT, limit=1).json()["facts"][0]
    assert SCRIPT in [element["label"] for element in fact["elements"]]


def test_the_list_of_endpoints(served: Served) -> None:
    page = served.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    for path in served.get("/openapi.json").json()["paths"]:
        assert path in page.text
    assert "script" not in page.text


def test_the_log_has_a_line_for_each_answer_and_no_questions(served: Served) -> None:
    seen = len(served.log)
    served.get("/api/search", q="secret-question")
    served.post("/api/predict", fact=QUERY)
    wait_until(lambda: any("/api/predict" in line for line in served.log[seen:]), served.process)
    lines = {line["path"]: line for line in map(json.loads, served.log[seen:])}
    search, predict = lines["/api/search"], lines["/api/predict"]
    assert {"method": "GET", "status": 200, "batch": None}.items() <= search.items()
    assert {"method": "POST", "status": 200, "batch": 1}.items() <= predict.items()
    assert "secret-question" not in "".join(served.log)
    assert 0 < search["ms"] < 60_000
    assert search["time"] <= predict["time"]
