"""Names as people write them: exactly, by label, in another case; and searching while typing."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.errors import DataError, SettingError
from nary.facts import GAP, Fact, Query, Vocabulary
from nary.inference.names import Names

LABELS = {"Q1": "Ada", "Q2": "Ben", "Q3": "ben", "Q4": "Straße", "Q5": "Cy", "Q6": "Cy", "P1": "likes"}
NAMES = Names(Vocabulary.of(["Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "Cyrus", "cyrus"], ["P1", "since"], LABELS))
VOCABULARY = NAMES._vocabulary


def _entity(text: str) -> str:
    return VOCABULARY.entities[NAMES.entity(text)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Q1", "Q1"),
        ("Ada", "Q1"),
        ("ADA", "Q1"),
        ("q1", "Q1"),
        ("ben", "Q3"),  # the label as it is written wins over another case
        ("Ben", "Q2"),
        ("cyrus", "cyrus"),
        ("STRASSE", "Q4"),
    ],
)
def test_an_entity(text: str, name: str) -> None:
    assert _entity(text) == name


@pytest.mark.parametrize(("text", "meant"), [("BEN", "Q2, Q3"), ("Cy", "Q5, Q6"), ("CYRUS", "Cyrus, cyrus")])
def test_what_may_mean_two_is_refused_with_both(text: str, meant: str) -> None:
    with pytest.raises(DataError, match=f"'{text}' may mean 2 entities") as caught:
        NAMES.entity(text)
    assert meant in str(caught.value.hint)


def test_an_unknown_name_lists_the_nearest_names_and_labels() -> None:
    with pytest.raises(DataError, match="unknown entity 'Cyrrus'") as caught:
        NAMES.entity("Cyrrus")
    assert "Cyrus" in str(caught.value.hint)
    with pytest.raises(DataError, match="unknown relation 'lykes'") as caught:
        NAMES.relation("lykes")
    assert "likes" in str(caught.value.hint)
    with pytest.raises(DataError, match="unknown relation 'Q1'"):
        NAMES.relation("Q1")


def test_find_takes_entities_first_unless_told() -> None:
    both = Names(Vocabulary.of(["x", "since"], ["since", "r"]))
    assert both.find("since")[0] == "entity"
    assert both.find("since", "relation")[0] == "relation"
    assert both.find("R")[0] == "relation"
    with pytest.raises(DataError, match="unknown name 'sinse'") as caught:
        both.find("sinse")
    assert "since" in str(caught.value.hint)
    with pytest.raises(SettingError, match="unknown kind of name"):
        both.find("x", "thing")  # type: ignore[arg-type]


def test_facts_and_queries_are_resolved_and_labeled() -> None:
    fact = NAMES.resolve(Fact("ada", "LIKES", "Ben", [("Since", "Q5")]))
    assert fact == Fact("Q1", "P1", "Q2", [("since", "Q5")])
    query = NAMES.resolve(Query("ada", GAP, "Ben"))
    assert query == Query("Q1", GAP, "Q2")
    assert NAMES.labeled(fact) == "Ada | likes | Ben | since: Cy"
    assert NAMES.labeled(query) == "Ada | ? | Ben"


def test_search() -> None:
    found = [(one.name, one.label, one.kind) for one in NAMES.search("b")]
    assert found == [("Q2", "Ben", "entity"), ("Q3", "ben", "entity")]
    assert {one.name for one in NAMES.search("CY")} == {"Q5", "Q6", "Cyrus", "cyrus"}
    assert [one.name for one in NAMES.search("s", "relation")] == ["since", "P1"]  # begins with it, then holds it
    assert [one.name for one in NAMES.search("yru")] == ["Cyrus", "cyrus"]
    assert NAMES.search("nothing like it") == NAMES.search("\0") == []
    assert len(NAMES.search("", limit=3)) == 3
    with pytest.raises(SettingError):
        NAMES.search("x", "thing")  # type: ignore[arg-type]


_TEXT = st.text("abAB \nß", min_size=1, max_size=4)


@given(st.dictionaries(_TEXT, _TEXT, min_size=1, max_size=12), _TEXT)
def test_search_finds_what_looking_at_every_name_finds(labels: dict[str, str], text: str) -> None:
    names = Names(Vocabulary.of(labels, ["r"], labels))
    folded = text.casefold()
    wanted = {name for name, label in labels.items() if folded in name.casefold() or folded in label.casefold()}
    found = names.search(text, "entity", limit=100)
    assert len(found) == len(wanted)
    assert {one.name for one in found} == wanted
    begins = [any(t.casefold().startswith(folded) for t in (one.name, one.label)) for one in found]
    assert begins == sorted(begins, reverse=True)
    assert names.search(text, "entity", limit=1) == found[:1]


def test_searching_many_labels_takes_little_time() -> None:
    labels = {f"Q{i}": f"person number {i * 7919 % 100_000:05d} of somewhere" for i in range(100_000)}
    names = Names(Vocabulary.of(labels, ["r"], labels))
    names.search("person")
    times = []
    for text in ("person", "04711", "somewhere", "not there", "p", "Q99"):
        start = time.perf_counter()
        names.search(text)
        times.append(time.perf_counter() - start)
    assert max(times) < 0.1, times  # a few milliseconds, on a machine that may be busy
    assert [one.label for one in names.search("04711")] == ["person number 04711 of somewhere"]
