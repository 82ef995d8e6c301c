"""The JSON form of facts and queries, and lines in either form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.errors import FactError, NaryError
from nary.facts import GAP, Fact, Query
from nary.facts.json import DuplicateKeyError, fact_from_json, load_object, parse_line, query_from_json, to_json
from nary.facts.text import as_query

LABEL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(
    lambda t: t != "?"
)
FACT = st.builds(Fact, LABEL, LABEL, LABEL, st.lists(st.tuples(LABEL, LABEL), max_size=3))


@given(FACT, st.data())
def test_there_and_back(fact: Fact, data: st.DataObject) -> None:
    assert fact_from_json(to_json(fact)) == fact
    query = fact.query(data.draw(st.sampled_from(list(fact.elements()))))
    assert query_from_json(to_json(query)) == query


def test_by_hand() -> None:
    assert to_json(Query("s", GAP, "o", [("a", "v")])) == {
        "subject": "s",
        "relation": "?",
        "object": "o",
        "qualifiers": [["a", "v"]],
    }
    assert (
        parse_line("s | r | o") == parse_line('{"subject": "s", "relation": "r", "object": "o"}') == Fact("s", "r", "o")
    )


def test_a_gap_where_there_must_be_none_and_the_reverse() -> None:
    with pytest.raises(FactError, match=r"'s \| r \| \?' has a gap, and a whole fact is needed"):
        fact_from_json({"subject": "s", "relation": "r", "object": "?"})
    with pytest.raises(FactError, match=r"'s \| r \| o' has no gap") as caught:
        query_from_json({"subject": "s", "relation": "r", "object": "o"})
    assert "Write ?" in str(caught.value.hint)


def test_the_nearest_key_is_named() -> None:
    with pytest.raises(FactError, match="unknown key 'subjekt'") as caught:
        query_from_json({"subjekt": "?", "relation": "r", "object": "o"})
    assert caught.value.hint == "Did you mean subject or object?"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "a JSON object was expected, not a list"),
        ("null", "not null"),
        ('{"a": ' + "9" * 5000 + "}", "a number of very many digits"),
        ('{"a": ' * 100_000 + "1", "nested too deeply"),
        ("{", "not JSON: .* at character"),
    ],
)
def test_what_is_no_object(text: str, message: str) -> None:
    with pytest.raises(FactError, match=message):
        load_object(text)
    with pytest.raises(DuplicateKeyError, match="'a' occurs twice"):
        load_object('{"a": 1, "a": 2}')


@pytest.mark.parametrize(
    ("line", "query"),
    [
        ('{"subject": "?", "relation": "r", "object": "o"}', Query(GAP, "r", "o")),
        (
            '{"subject": "s", "relation": "r", "object": "o", "qualifiers": [["?", "?"]]}',
            Query("s", "r", "o", [(GAP, GAP)]),
        ),
        ("s | r | ? | a: v", Query("s", "r", GAP, [("a", "v")])),
        (' {"object": "?", "relation": "r", "subject": "s"}', Query("s", "r", GAP)),
    ],
)
def test_a_query_on_a_line(line: str, query: Query) -> None:
    assert parse_line(line) == query


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"subject": "?"}', "no 'relation'"),
        ('{"subject": "s", "relation": "r", "object": "o"}', "no gap"),
        ('{"subject": "?", "relation": "r", "object": "o", "qualifier": []}', "unknown key 'qualifier'"),
        ('{"subject": "?", "relation": "r", "object": "o", "qualifiers": {}}', "no list of"),
        ('{"subject": "?", "relation": "r", "object": "o", "qualifiers": [["a"]]}', "no list of"),
        ('{"subject": "?", "relation": "r", "object": ["o"]}', "a label is a string"),
        ('{"subject": "?", "relation": "r", "object": null}', "a label is a string"),
        ('{"subject": "?", "subject": "s", "relation": "r", "object": "o"}', "occurs twice"),
        ('{"subject": "?", "relation": "", "object": "o"}', "empty"),
        ("{" * 100_000, "not JSON"),
        ("s | r | o", "no gap"),
        ("[]", "1 of the three parts"),
    ],
)
def test_what_is_no_query(line: str, message: str) -> None:
    with pytest.raises(NaryError, match=message) as caught:
        as_query(parse_line(line))
    assert caught.value.exit_code == 2
