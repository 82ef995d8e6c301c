"""The index for search while typing: what looking at every name gives, in alphabetical order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.facts import Vocabulary
from nary.inference import names as names_module
from nary.inference import search
from nary.inference.names import Names
from nary.inference.nearest import fold
from nary.inference.search import SearchIndex

_TEXT = st.text("abBÄé \ud800字", min_size=1, max_size=4)


def test_by_hand() -> None:
    labels = {"Q1": "Ångström", "Q2": "angst", "Q3": "Ban", "Q4": "Q4"}
    index = SearchIndex(list(labels), labels.__getitem__)
    assert index.starting("ANGS", 9) == [1, 0]  # angst, angstrom
    assert index.containing("an", 9) == [1, 0, 2]
    assert index.containing("an", 2) == [1, 0]
    assert index.starting("q", 9) == [0, 1, 2, 3]
    assert index.equal("ANGSTRÖM") == [0]
    assert index.equal("angstr") == []
    assert index.around("b", 2) == [("angstrom", 0), ("ban", 2)]
    assert (index.starting("", 2), index.containing("", 2)) == ([1, 0], [1, 0])
    empty = SearchIndex([], str)
    assert (empty.starting("a", 1), empty.containing("a", 1), empty.equal("a"), empty.around("a", 3)) == (
        [],
        [],
        [],
        [],
    )


@given(st.lists(st.tuples(_TEXT, _TEXT), max_size=12, unique_by=lambda pair: pair[0]), _TEXT, st.integers(1, 5))
def test_like_looking_at_every_name(pairs: list[tuple[str, str]], text: str, limit: int) -> None:
    names, labels = [name for name, _ in pairs], dict(pairs)
    index = SearchIndex(names, labels.__getitem__)

    def folded(one: str) -> str:
        return fold(one).replace("\ud800", "?")

    texts = sorted((folded(one), i) for i, pair in enumerate(pairs) for one in dict.fromkeys(pair))
    part = folded(text)

    def places(is_match: "list[bool]") -> list[int]:
        chosen = [place for (_, place), match in zip(texts, is_match, strict=True) if match]
        return list(dict.fromkeys(chosen))

    assert index.starting(text, limit) == places([one.startswith(part) for one, _ in texts])[:limit]
    assert index.containing(text, limit) == places([part in one for one, _ in texts])[:limit]
    assert index.equal(text) == places([one == part for one, _ in texts])
    assert set(index.around(text, len(texts))) == set(texts)


def test_names_are_indexed_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"name {i * 7 % 50:02d}" for i in range(50)]
    whole = SearchIndex(names, str)
    monkeypatch.setattr(search, "_CHUNK", 3)
    chunked = SearchIndex(names, str)
    assert [chunked.containing(text, 50) for text in "0123"] == [whole.containing(text, 50) for text in "0123"]
    assert chunked.starting("name", 50) == [names.index(name) for name in sorted(names)]


def test_of_very_many_names_those_that_begin_alike_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names_module, "_MANY", 10)
    monkeypatch.setattr(names_module, "_COMPARED", 8)
    people = [f"{first} {last}" for first in ("Ada", "Ben", "Cy", "Dee") for last in ("Brown", "Jones", "Smith", "Yu")]
    names = Names(Vocabulary.of([*people, "Q1"], ["r"], {"Q1": "Dee Zander"}))
    assert [one.name for one in names.nearest("Cy Smtih")] == ["Cy Smith"]
    assert [one.label for one in names.nearest("Dee Zandre")] == ["Dee Zander"]
    assert names.nearest("Nobody at all") == []
