"""Names for an unknown one: near ones, and otherwise none."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.facts import Vocabulary
from nary.inference.names import Names
from nary.inference.nearest import NearestTexts, fold

NAMES = ["Marie Curie", "Pierre Curie", "Irène Joliot-Curie", "Warsaw", "University of Warsaw", "1911", "Q17", "male"]


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("Mary Curie", ["Marie Curie"]),
        ("Marie Curi", ["Marie Curie"]),
        ("curie, marie", ["Marie Curie"]),
        ("irene joliot", ["Irène Joliot-Curie"]),
        ("Warschaw", ["Warsaw"]),
        ("warsaw university", ["University of Warsaw"]),
        ("Curie", ["Marie Curie", "Pierre Curie", "Irène Joliot-Curie"]),
        ("1912", []),  # another year is no misspelling
        ("Q18", []),
        ("Lise Meitner", []),
        ("Ma", []),
        ("?!", []),
    ],
)
def test_only_what_can_have_been_meant(text: str, near: list[str]) -> None:
    assert [NAMES[place] for place in NearestTexts(NAMES).find(text, 3)] == near


def test_labels_that_several_have_are_told_apart_by_names() -> None:
    names = Names(Vocabulary.of(["Q1", "Q2", "Q3"], ["r"], {"Q1": "Springfield", "Q2": "Springfield", "Q3": "Berlin"}))
    with pytest.raises(Exception, match="unknown entity") as caught:
        names.entity("Springfeld")
    assert caught.value.hint == "Did you mean Q1 or Q2?"  # type: ignore[attr-defined]
    assert [(one.name, one.label) for one in names.nearest("Berlni")] == [("Q3", "Berlin")]
    assert names.nearest("Berlin", "relation") == []


@given(st.text(max_size=8), st.lists(st.text(max_size=8), max_size=6))
def test_any_text_can_be_looked_for(text: str, texts: list[str]) -> None:
    places = NearestTexts(texts).find(text, 3)
    assert len(places) == len(set(places)) <= 3
    assert fold(fold(text)) == fold(text) or "\u0345" in text  # the iota subscript turns into a letter


def test_among_very_many_names_it_takes_little_time() -> None:
    texts = [f"person number {i * 7919 % 50_000:06d} of somewhere" for i in range(50_000)]
    nearest = NearestTexts(texts)
    start = time.perf_counter()
    assert nearest.find("persn number 004711 of somewhere", 3) == [texts.index("person number 004711 of somewhere")]
    assert time.perf_counter() - start < 2  # a tenth of a second, on a machine that may be busy
