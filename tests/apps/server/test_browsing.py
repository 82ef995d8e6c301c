"""The endpoints that describe entities and relations return what the model returns in Python."""

import pytest
from apps.server.running import Served, same_json

from nary.runs import TrainedModel


def test_entity(served: Served, nobel_run: TrainedModel) -> None:
    body = served.get("/api/entity", name="marie curie", limit=2).json()
    assert body == nobel_run.entity("Marie Curie", 2).as_dict()
    assert body["total"] == served.get("/api/facts", entity="Marie Curie").json()["total"]


def test_the_facts_of_one_group(served: Served) -> None:
    group = served.get("/api/entity", name="Nobel Peace Prize", limit=5).json()["groups"][0]
    assert (group["role"], group["relation"]) == ("object", "award received")
    where = {"entity": "Nobel Peace Prize", "role": "object", "relation": "award received"}
    assert served.get("/api/facts", **where, limit=5).json()["facts"] == group["facts"]
    page = served.get("/api/facts", **where, limit=2, offset=3).json()
    assert page["facts"] == group["facts"][3:5]
    assert page["total"] == group["total"]


@pytest.mark.parametrize("given", [{"role": "object"}, {"relation": "award received"}])
def test_a_group_needs_role_and_relation(served: Served, given: dict[str, str]) -> None:
    response = served.get("/api/facts", entity="Nobel Peace Prize", **given)
    assert response.status_code == 400
    assert response.json()["error"]["message"] == "role and relation belong together"


def test_missing(served: Served, nobel_run: TrainedModel) -> None:
    body = served.get("/api/missing", entity="Klas Pontus Arnoldson", k=3).json()
    assert same_json(body, nobel_run.missing("Klas Pontus Arnoldson", 3).as_dict())
    assert served.get("/api/missing", entity="Marie Curie", k=17).status_code == 422


def test_doubtful(served: Served, nobel_run: TrainedModel) -> None:
    body = served.get("/api/doubtful", entity="Marie Curie", limit=3, offset=1).json()
    assert same_json(body, nobel_run.doubtful("Marie Curie", 3, 1).as_dict())
    assert served.get("/api/doubtful", entity="Marie Curie", offset=1000).json()["facts"] == []
    assert served.get("/api/doubtful", entity="Marie Curie", limit=101).status_code == 422


def test_relations(served: Served, nobel_run: TrainedModel) -> None:
    body = served.get("/api/relations", limit=2, offset=1).json()
    assert body == nobel_run.predictor.relations.counts(2, 1).as_dict()
    assert body["total"] == len(nobel_run.vocabulary.relations)


def test_relation(served: Served, nobel_run: TrainedModel) -> None:
    body = served.get("/api/relation", name="award received", limit=2).json()
    expected = nobel_run.relation("award received", 2).as_dict()
    assert body == {**expected, "arities": {str(arity): n for arity, n in expected["arities"].items()}}
    assert sum(body["facts"].values()) == sum(body["arities"].values()) > 100


def test_a_model_without_rules_says_so(served: Served) -> None:
    response = served.get("/api/rules", relation="award received")
    assert response.status_code == 400
    assert "has no rules" in response.json()["error"]["message"]


@pytest.mark.parametrize("path", ["entity?name", "missing?entity", "doubtful?entity", "relation?name"])
def test_unknown_names_are_refused(served: Served, path: str) -> None:
    response = served.client.get(f"/api/{path}=nobody at all")
    assert response.status_code == 400
    assert response.json()["error"]["message"].startswith("unknown ")
