"""The vocabulary: two sorted id spaces, nearest names in errors, a fingerprint of the names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.errors import DataError
from nary.facts import Vocabulary

names = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=4))


def test_names_are_sorted_and_numbered() -> None:
    vocabulary = Vocabulary.of(["Warsaw", "Paris", "Warsaw", "1903"], ["born in", "award"])
    assert vocabulary.entities == ("1903", "Paris", "Warsaw")
    assert vocabulary.relations == ("award", "born in")
    assert (vocabulary.entity("Warsaw"), vocabulary.relation("award")) == (2, 0)


def test_a_name_may_be_an_entity_and_a_relation() -> None:
    vocabulary = Vocabulary.of(["a", "b"], ["b"])
    assert (vocabulary.entity("b"), vocabulary.relation("b")) == (1, 0)


def test_unknown_names_list_the_nearest() -> None:
    vocabulary = Vocabulary.of(["Warsaw", "Paris"], ["award received", "born in"])
    with pytest.raises(DataError, match="unknown entity 'Warsow'") as error:
        vocabulary.entity("Warsow")
    assert error.value.hint == "Did you mean Warsaw?"
    with pytest.raises(DataError, match="unknown relation 'Warsaw'") as error:
        vocabulary.relation("Warsaw")
    assert error.value.hint == "Known: award received, born in"


def test_labels_are_for_people() -> None:
    vocabulary = Vocabulary.of(["Q1", "Q2"], ["P1"], {"Q1": "the universe", "P1": "part of"})
    assert [vocabulary.label(name) for name in ("Q1", "Q2", "P1")] == ["the universe", "Q2", "part of"]
    assert vocabulary == Vocabulary.of(["Q1", "Q2"], ["P1"])
    assert vocabulary.fingerprint == Vocabulary.of(["Q1", "Q2"], ["P1"]).fingerprint


@given(names, names)
def test_ids_and_names_are_each_others_inverse(entities: list[str], relations: list[str]) -> None:
    vocabulary = Vocabulary.of(entities, relations)
    assert [vocabulary.entity(name) for name in vocabulary.entities] == list(range(len(set(entities))))
    assert [vocabulary.relation(name) for name in vocabulary.relations] == list(range(len(set(relations))))
    assert list(vocabulary.entities) == sorted(set(entities))


@given(names, names, names, names)
def test_fingerprints_tell_vocabularies_apart(a: list[str], b: list[str], c: list[str], d: list[str]) -> None:
    one, other = Vocabulary.of(a, b), Vocabulary.of(c, d)
    assert (one.fingerprint == other.fingerprint) == (one == other)


def test_fingerprints_know_where_entities_end() -> None:
    assert Vocabulary(("a", "b"), ("c",)).fingerprint != Vocabulary(("a",), ("b", "c")).fingerprint
    assert Vocabulary(("a b",), ()).fingerprint != Vocabulary(("a", "b"), ()).fingerprint
