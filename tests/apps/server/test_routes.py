"""Every endpoint returns what the predictor returns in Python; the page is served as it is on disk."""

from importlib.resources import files
from typing import Any

import pytest
from apps.server.conftest import SCRIPT
from apps.server.running import Served, same_json

from nary.runs import TrainedModel

QUERY = "Marie Curie | award received | ? | point in time: 1911"
FACT = "Marie Curie | award received | Nobel Prize in Chemistry | point in time: 1911"
TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
FORM = {
    "subject": "Marie Curie",
    "relation": "award received",
    "object": "?",
    "qualifiers": [["point in time", "1911"]],
}


def test_predict(served: Served, nobel_run: TrainedModel) -> None:
    response = served.post("/api/predict", fact=QUERY, k=7)
    assert response.status_code == 200
    assert same_json(response.json(), nobel_run.predict(QUERY, 7).as_dict())
    assert len(response.json()["answers"]) == 7
    assert served.post("/api/predict", fact=FORM, k=7).json() == response.json()
    with_split = {**FORM, "split": "test"}
    assert served.post("/api/predict", fact=with_split, k=7).json() == response.json()


@pytest.mark.parametrize("known", ["first", "mark", "hide", "only"])
def test_predict_with_known_answers_first_left_out_or_alone(
    served: Served, nobel_run: TrainedModel, known: Any
) -> None:
    query = "Rabindranath Tagore | field of work | ?"
    body = served.post("/api/predict", fact=query, known=known).json()
    assert same_json(body, nobel_run.predict(query, known=known).as_dict())
    is_known = [answer["known"] for answer in body["answers"]]
    assert [bool(answer["stored"]) for answer in body["answers"]] == is_known
    if known == "first":
        assert is_known == sorted(is_known, reverse=True)
    elif known != "mark":
        assert set(is_known) == {known == "only"}


def test_predict_several_gaps(served: Served, nobel_run: TrainedModel) -> None:
    query = "Marie Curie | award received | ? | point in time: ?"
    body = served.post("/api/predict", fact=query, k=3).json()
    assert same_json(body, nobel_run.complete(query, 3).as_dict())
    assert body["experimental"]


def test_score(served: Served, nobel_run: TrainedModel) -> None:
    facts = [str(fact) for fact in nobel_run.dataset.test.facts(nobel_run.dataset.vocabulary)][:70]
    expected = [one.as_dict() for one in nobel_run.score(facts)]
    assert same_json(served.post("/api/score", facts=facts).json()["facts"], expected)
    assert same_json(served.post("/api/score", fact=facts[0]).json()["facts"], expected[:1])
    assert served.post("/api/score", facts=[]).json() == {"facts": []}


def test_suggest(served: Served, nobel_run: TrainedModel) -> None:
    assert same_json(served.post("/api/suggest", fact=FACT, k=4).json(), nobel_run.suggest(FACT, 4).as_dict())
    known = served.post(
        "/api/suggest", fact="Marie Curie | award received | Nobel Prize in Physics", known="only"
    ).json()
    assert {"point in time", "together with"} <= {one["attribute"] for one in known["suggestions"]}
    assert all("Henri Becquerel" in one["stored"]["fact"] for one in known["suggestions"])


@pytest.mark.parametrize("position", ["object", "value 1"])
def test_explain(served: Served, nobel_run: TrainedModel, position: str) -> None:
    body = served.post("/api/explain", fact=FACT, position=position).json()
    assert same_json(body, nobel_run.explain(FACT, position).as_dict())
    assert {"from", "to", "type", "weight"} == body["attention"][0].keys()


def test_similar(served: Served, nobel_run: TrainedModel) -> None:
    assert same_json(
        served.get("/api/similar", name="Marie Curie", k=3).json(), nobel_run.similar("Marie Curie", k=3).as_dict()
    )
    relation = served.get("/api/similar", name="spouse", kind="relation", k=2).json()
    assert relation["kind"] == "relation"
    assert len(relation["neighbors"]) == 2


def test_search(served: Served) -> None:
    body = served.get("/api/search", q="CURIE", kind="entity", limit=5).json()["matches"]
    assert {"name": "Marie Curie", "label": "Marie Curie", "kind": "entity"} in body
    assert len(served.get("/api/search", q="").json()["matches"]) == 20
    assert {one["kind"] for one in served.get("/api/search", q="a", kind="relation").json()["matches"]} == {"relation"}


def test_facts_that_mention_an_entity(served: Served, nobel_run: TrainedModel) -> None:
    data = nobel_run.dataset
    expected = [
        (str(fact), split)
        for split, table in data.splits.items()
        for fact in table.facts(data.vocabulary)
        if "Marie Curie" in (fact.subject, fact.object, *(value for _, value in fact.qualifiers))
    ]
    body = served.get("/api/facts", entity="marie curie", limit=1000).json()
    assert body["pattern"] == "Marie Curie"
    assert body["total"] == len(expected) > 5
    assert [(fact["fact"], fact["split"]) for fact in body["facts"]] == expected
    part = served.get("/api/facts", entity="Marie Curie", limit=2, offset=3).json()["facts"]
    assert part == body["facts"][3:5]
    assert served.get("/api/facts", entity="Marie Curie", offset=1_000_000_000).json()["facts"] == []


def test_stored_facts_that_contain_a_pattern(served: Served, nobel_run: TrainedModel) -> None:
    for pattern in (QUERY, "marie curie | ? | ?", "? | award received | ? | ?: 1911"):
        body = served.post("/api/facts", fact=pattern, limit=3).json()
        assert body == nobel_run.find_facts(pattern, limit=3).as_dict()
        assert body["total"] > 0
    assert served.post("/api/facts", fact=FORM).json()["facts"][0]["split"] in nobel_run.dataset.splits
    everything = served.post("/api/facts", fact="Marie Curie | ? | ?").json()["facts"]
    assert served.post("/api/facts", fact="Marie Curie | ? | ?", limit=2, offset=1).json()["facts"] == everything[1:3]


def test_graph(served: Served) -> None:
    body = served.post("/api/graph", fact=QUERY).json()
    assert body["fact"] == QUERY
    assert body["form"] == FORM
    assert [(vertex["position"], vertex["role"], vertex["name"]) for vertex in body["vertices"]] == [
        ("relation", "relation", "award received"),
        ("subject", "subject", "Marie Curie"),
        ("object", "object", None),
        ("attribute 1", "attribute", "point in time"),
        ("value 1", "value", "1911"),
    ]
    assert [(edge["first"], edge["second"], edge["type"], edge["label"]) for edge in body["edges"]] == [
        ("subject", "relation", 1, "subject-relation"),
        ("object", "relation", 2, "object-relation"),
        ("relation", "attribute 1", 3, "relation-attribute"),
        ("attribute 1", "value 1", 4, "attribute-value"),
    ]
    assert served.post("/api/graph", fact="nobody | knows | these").status_code == 200


def test_examples_can_be_asked(served: Served) -> None:
    body = served.get("/api/examples").json()["examples"]
    positions = [one["position"] for shown in body for one in shown["elements"] if one["name"] is None]
    assert positions[:3] == ["object", "relation", "value 1"]
    assert len({len(shown["elements"]) for shown in body}) > 1
    for shown in body:
        by_text = served.post("/api/predict", fact=shown["fact"])
        assert by_text.status_code == 200
        assert served.post("/api/predict", fact=shown["form"]).json() == by_text.json()


def test_model(served: Served, nobel_run: TrainedModel) -> None:
    body = served.get("/api/model").json()
    assert body["name"] == "gran"
    assert body["dataset"] == "nobel"
    assert body["settings"]["num_layers"] == 1
    assert body["counts"]["entities"] == len(nobel_run.dataset.vocabulary.entities)
    assert body["counts"]["facts"]["test"] == len(nobel_run.dataset.test)
    assert sum(body["counts"]["arities"].values()) == sum(body["counts"]["facts"].values())
    assert body["calibrated"]


def test_health(served: Served) -> None:
    assert served.get("/health").json() == {"status": "ok"}


def test_labels_are_data(served: Served) -> None:
    response = served.get("/api/search", q="<script>")
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.json()["matches"] == [{"name": "Ada Yonath", "label": SCRIPT, "kind": "entity"}]
    fact = served.get("/api/facts", entity=SCRIPT, limit=1).json()["facts"][0]
    assert SCRIPT in fact["label"]


def test_the_list_of_endpoints(served: Served) -> None:
    page = served.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    for path in served.get("/openapi.json").json()["paths"]:
        assert path in page.text
    assert "script" not in page.text


def test_every_file_of_the_page(served: Served) -> None:
    served_files = [file for file in files("nary.apps").joinpath("page").iterdir() if file.name[0] not in "._"]
    assert "index.html" in {file.name for file in served_files}
    for file in served_files:
        response = served.get("/" if file.name == "index.html" else f"/{file.name}")
        assert response.content == file.read_bytes()
        assert response.headers["content-type"].split(";")[0] == TYPES[file.name.rpartition(".")[2]]
        assert response.headers["content-security-policy"].startswith("default-src 'self';")
        assert response.headers["cache-control"] == "no-cache"


def test_an_unchanged_file_is_not_sent_again(served: Served) -> None:
    tag = served.get("/").headers["etag"]
    again = served.client.get("/", headers={"If-None-Match": tag})
    assert again.status_code == 304
    assert again.content == b""
    assert served.client.head("/").headers["etag"] == tag


@pytest.mark.parametrize(
    "path", ["/../cli/main.py", "/..%2fcli%2fmain.py", "/%2e%2e/cli/main.py", "//etc/passwd", "/index.html/x", "/%00"]
)
def test_nothing_else_is_reachable(served: Served, path: str) -> None:
    assert served.client.get(served.url.rstrip("/") + path).status_code == 404
