"""Attribute names put back from a larger dataset."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.data.catalog.restore import restore
from nary.data.dataset import Dataset
from nary.errors import DatasetError
from nary.facts import Fact, FactTable, Vocabulary


def dataset(name: str, **splits: Sequence[Fact]) -> Dataset:
    facts = [fact for own in splits.values() for fact in own]
    vocabulary = Vocabulary.of(
        (name for fact in facts for name in (fact.subject, fact.object, *(value for _, value in fact.qualifiers))),
        (name for fact in facts for name in (fact.relation, *(attribute for attribute, _ in fact.qualifiers))),
    )
    return Dataset(name, vocabulary, {split: FactTable.from_facts(own, vocabulary) for split, own in splits.items()})


def stripped(fact: Fact) -> Fact:
    """As a line of tuples gives it: the values in the order of the line, under numbered attributes."""
    values = [value for _, value in reversed(fact.qualifiers)]
    pairs = [(f"{fact.relation}_{k}", value) for k, value in enumerate(values)]
    return Fact(fact.subject, fact.relation, fact.object, pairs)


FULL = dataset(
    "full",
    train=[
        Fact("Ada", "member of", "club", [("start", "1901"), ("end", "1905")]),
        Fact("Ada", "member of", "club", [("start", "1907")]),
        Fact("Bea", "born in", "Rome"),
    ],
    test=[Fact("Cem", "member of", "guild", [("role", "cook"), ("start", "1901")])],
)


def test_attributes_come_back_whatever_the_order_of_values() -> None:
    bare = dataset(
        "bare",
        train=[Fact("Cem", "member of", "guild", [("member of_0", "cook"), ("member of_1", "1901")])],
        test=[Fact("Ada", "member of", "club", [("member of_0", "1905"), ("member of_1", "1901")])],
    )
    found = restore(bare, FULL)
    assert found.name == "bare"
    assert list(found.train.facts(found.vocabulary)) == list(FULL.test.facts(FULL.vocabulary))
    assert list(found.test.facts(found.vocabulary)) == [next(FULL.train.facts(FULL.vocabulary))]
    assert found.vocabulary.entities == ("1901", "1905", "Ada", "Cem", "club", "cook", "guild")  # no Bea, no 1907
    assert found.vocabulary.relations == ("end", "member of", "role", "start")


def test_several_arities_keep_the_order_of_the_facts() -> None:
    originals = list(FULL.train.facts(FULL.vocabulary))
    bare = dataset("bare", train=[stripped(fact) for fact in reversed(originals)])
    found = restore(bare, FULL)
    assert list(found.train.facts(found.vocabulary)) == list(reversed(originals))


def test_of_several_that_fit_the_last_one_counts() -> None:
    full = dataset("full", train=[Fact("a", "r", "b", [("x", "v")])], test=[Fact("a", "r", "b", [("y", "v")])])
    found = restore(dataset("bare", train=[Fact("a", "r", "b", [("r_0", "v")])]), full)
    assert list(found.train.facts(found.vocabulary)) == [Fact("a", "r", "b", [("y", "v")])]


@pytest.mark.parametrize(
    "lost",
    [
        Fact("Ada", "member of", "club", [("member of_0", "1901"), ("member of_1", "1901")]),  # known names
        Fact("Ada", "member of", "club", [("member of_0", "1999")]),  # an unknown value
        Fact("Ada", "left", "club", [("left_0", "1907")]),  # an unknown relation
        Fact("Ada", "member of", "club", [(f"member of_{k}", "1907") for k in range(5)]),  # an unknown arity
    ],
    ids=str,
)
def test_a_fact_that_is_not_there_is_an_error_that_shows_it(lost: Fact) -> None:
    present = Fact("Ada", "member of", "club", [("member of_0", "1907")])
    with pytest.raises(DatasetError, match="valid fact of bare is not in full") as caught:
        restore(dataset("bare", valid=[present, lost]), FULL)
    assert str(lost) in caught.value.message


names = st.sampled_from("abcd")


@given(
    st.lists(
        st.builds(Fact, names, names, names, st.lists(st.tuples(names, names), max_size=3)),
        min_size=1,
        unique_by=lambda fact: (fact.primary, tuple(sorted(value for _, value in fact.qualifiers))),
    )
)
def test_restoring_undoes_stripping(facts: list[Fact]) -> None:
    full = dataset("full", train=facts)
    found = restore(dataset("bare", test=[stripped(fact) for fact in facts]), full)
    assert list(found.test.facts(found.vocabulary)) == facts
    assert found.vocabulary == full.vocabulary
