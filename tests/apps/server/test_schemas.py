"""Whatever a client makes of the description of the API, it gets an answer that the description promises."""

import re
from collections import Counter

import pytest
import schemathesis
from apps.server.running import Served
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

POST = ("predict", "score", "lines", "suggest", "explain", "facts", "graph")
GET = (
    *("similar", "search", "facts", "examples", "model"),
    *("entity", "missing", "doubtful", "relations", "relation", "rules"),
)
MAY_NEVER_SUCCEED = ("rules",)  # the model of these tests has none
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


@pytest.mark.parametrize(("method", "name"), [*(("POST", name) for name in POST), *(("GET", name) for name in GET)])
def test_the_server_keeps_to_its_description(served: Served, method: str, name: str) -> None:
    described = schemathesis.openapi.from_url(f"{served.url}openapi.json")
    operation = described[f"/api/{name}"][method]
    examples = operation.get_strategies_from_examples()
    random = [operation.as_strategy(generation_mode=mode) for mode in GenerationMode]
    seen: Counter[int] = Counter()

    @given(st.one_of(*examples, *random))
    @settings(max_examples=30, database=None, suppress_health_check=list(HealthCheck))
    def ask(case: schemathesis.Case) -> None:
        seen[case.call_and_validate(checks=CHECKS).status_code] += 1

    ask()
    assert seen[200] or name in MAY_NEVER_SUCCEED, (
        "no request succeeded, so answers were not compared with their description"
    )


def test_schema_valid_requests_are_not_refused_for_their_form(served: Served) -> None:
    schemas = served.get("/openapi.json").json()["components"]["schemas"]
    text, name = schemas["PredictRequest"]["properties"]["fact"]["oneOf"][0], schemas["FactJsonRequest"]["properties"]
    for line in ("a | b | ?", "a|b|c", '"a | b" | c | ? | d: e'):
        assert re.search(text["pattern"], line), line
    for line in ("", "a | b", "a | | c", " | b | c", "a | b | ", "a | b | c\0"):
        assert not re.search(text["pattern"], line), line
        assert served.post("/api/predict", fact=line).status_code == 400
    assert [bool(re.search(name["subject"]["pattern"], text)) for text in ("a", " a ", "", " ", "a\0")] == [
        *(True, True),
        *(False, False, False),
    ]
    assert schemas["ScoreRequest"]["oneOf"] == [{"required": ["fact"]}, {"required": ["facts"]}]


def test_every_endpoint_is_described_in_words(served: Served) -> None:
    paths = served.get("/openapi.json").json()["paths"]
    assert set(paths) == {"/health", *(f"/api/{name}" for name in (*POST, *GET))}
    for operations in paths.values():
        for operation in operations.values():
            assert operation["summary"]
            assert operation["description"]
            assert operation["responses"]["200"]["content"]["application/json"]["schema"]
