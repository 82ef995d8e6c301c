"""The one-line text form: golden cases, any label comes back, mistakes are named."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nary.errors import FactError
from nary.facts import GAP, Fact, Query, parse, parse_fact, parse_query

any_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
special = st.text(st.sampled_from(list('|:"? \\\n\r\tab{[,/\u2028\xa0')), min_size=1, max_size=5)
labels = any_text | special
elements = labels | st.just(GAP)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("a | b | c", Fact("a", "b", "c")),
        ("a|b|c", Fact("a", "b", "c")),
        ("  Marie Curie|award received |\tPhysics\n", Fact("Marie Curie", "award received", "Physics")),
        ("a | b | c | year: 1903 | with:d", Fact("a", "b", "c", [("with", "d"), ("year", "1903")])),
        ("a | b | c | at: 12:30", Fact("a", "b", "c", [("at", "12:30")])),
        ("a:b | c:d | e:f", Fact("a:b", "c:d", "e:f")),
        ('"a|b" | "?" | " c "', Fact("a|b", "?", " c ")),
        (r'a | b | c | "x:y": "line\nend \"q\""', Fact("a", "b", "c", [("x:y", 'line\nend "q"')])),
        ('a "b" | c"d | e', Fact('a "b"', 'c"d', "e")),
        ("what? | ?? | c", Fact("what?", "??", "c")),
    ],
)
def test_reading_facts(text: str, fact: Fact) -> None:
    assert parse(text) == parse_fact(text) == fact


def test_reading_queries() -> None:
    assert parse_query("a | ? | c") == Query("a", GAP, "c")
    assert parse("a | b | ? | year: 1903 | ?: x | y:?") == Query(
        "a", "b", GAP, [("year", "1903"), (GAP, "x"), ("y", GAP)]
    )


def test_writing_quotes_only_what_needs_it() -> None:
    fact = Fact("a|b", "?", "x: y", [("p:q", "r:s"), ("n\n", '"n'), ("ä ö", "q?")])
    assert str(fact) == r'"a|b" | "?" | x: y | "n\n": "\"n" | "p:q": r:s | ä ö: q?'


@given(labels, labels, labels, st.lists(st.tuples(labels, labels), max_size=4))
@example("?", '"', "|", [(":", ":"), (" ", "\n"), ('"?"', '"a" b')])
@example("\x1c", "\x85", "\u2028", [("\ufeff", "a: b | c")])
def test_any_fact_comes_back_and_takes_one_line(
    subject: str, relation: str, object: str, pairs: list[tuple[str, str]]
) -> None:
    fact = Fact(subject, relation, object, pairs)
    assert parse(str(fact)) == fact
    assert "\n" not in str(fact)


@given(elements, elements, elements, st.lists(st.tuples(elements, elements), max_size=4))
def test_any_query_comes_back(
    subject: object, relation: object, object: object, pairs: list[tuple[object, object]]
) -> None:
    if GAP not in (subject, relation, object, *(element for pair in pairs for element in pair)):
        subject = GAP
    query = Query(subject, relation, object, pairs)  # type: ignore[arg-type]
    assert parse(str(query)) == query


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty element"),
        ("   ", "empty element"),
        ("a", "1 of the three parts"),
        ("a | b", "2 of the three parts"),
        ("a | b | ", "empty element"),
        ("a | | c", "empty element"),
        ("a | b | c |", "empty element"),
        ("a | b | c | d", "'d' in .* has no value"),
        ("a | b | c | d | e: f", "'d' in .* has no value"),
        ("a | b | c | : f", "empty element"),
        ("a | b | c | e:", "empty element"),
        ('a | b | "c', "unfinished quotes"),
        ('"a" b | c | d', "after the closing quote"),
        ('a | b | c | "d" e: f', "after the closing quote"),
        ('"" | b | c', "label is empty"),
        (r'"\u0000" | b | c', "NUL"),
        (r'"\ud800" | b | c', "surrogate"),
    ],
)
def test_mistakes_are_named(text: str, words: str) -> None:
    with pytest.raises(FactError, match=words):
        parse(text)


def test_a_whole_fact_or_a_query_may_be_asked_for() -> None:
    with pytest.raises(FactError, match="has a gap") as error:
        parse_fact("a | b | ?")
    assert error.value.hint == 'A literal question mark is written "?".'
    with pytest.raises(FactError, match="has no gap"):
        parse_query('a | b | "?"')


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse(text)
    except FactError:
        return
    assert parse(str(found)) == found
