"""What is stored about an entity, grouped by where it stands."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs.small import dataset_of

from nary.errors import DataError, SettingError
from nary.facts import Fact
from nary.inference.entity_profile import entity_profile, facts_of_group
from nary.inference.lookup import FactLookup

BORN = Fact("Curie", "born in", "Warsaw")
PHYSICS = Fact("Curie", "award", "Physics", [("with", "Pierre")])
CHEMISTRY = Fact("Curie", "award", "Chemistry")
PIERRE = Fact("Pierre", "award", "Physics", [("with", "Curie"), ("with", "Becquerel")])
HERSELF = Fact("Curie", "knows", "Curie", [("with", "Curie")])
LOOKUP = FactLookup(dataset_of(train=[BORN, PHYSICS, PIERRE, HERSELF], test=[CHEMISTRY]))


def test_facts_are_grouped_by_role_and_relation() -> None:
    profile = entity_profile(LOOKUP, "curie")
    assert (profile.name, profile.total, profile.num_groups) == ("Curie", 5, 5)
    assert [(one.role, one.relation, one.total) for one in profile.groups] == [
        ("subject", "award", 2),
        ("value", "with", 2),
        ("subject", "born in", 1),
        ("subject", "knows", 1),
        ("object", "knows", 1),
    ]
    assert [(one.fact, one.split) for one in profile.groups[0].facts] == [
        (str(PHYSICS), "train"),
        (str(CHEMISTRY), "test"),
    ]
    assert [len(one.facts) for one in entity_profile(LOOKUP, "Curie", limit=1).groups] == [1] * 5


def test_a_group_page_by_page() -> None:
    pages = [facts_of_group(LOOKUP, "Curie", "value", "with", limit=1, offset=offset) for offset in range(3)]
    assert [[one.fact for one in page.facts] for page in pages] == [[str(PIERRE)], [str(HERSELF)], []]
    assert {page.total for page in pages} == {2}


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(DataError, match="unknown entity"):
        entity_profile(LOOKUP, "Lise Meitner")
    with pytest.raises(SettingError, match="unknown role 'relation' of an entity"):
        facts_of_group(LOOKUP, "Curie", "relation", "award")


_NAMES = st.sampled_from("abc")
_FACTS = st.builds(
    lambda s, r, o, pairs: Fact(s, r, o, pairs),
    _NAMES,
    st.sampled_from("rs"),
    _NAMES,
    st.lists(st.tuples(st.sampled_from("rs"), _NAMES), max_size=2),
)


@given(st.lists(_FACTS, min_size=1, max_size=8))
def test_every_mention_is_in_its_group(facts: list[Fact]) -> None:
    profile = entity_profile(FactLookup(dataset_of(train=facts)), facts[0].subject)
    name, expected = profile.name, Counter[tuple[str, str]]()
    for fact in facts:
        places = {("subject", fact.relation)} if fact.subject == name else set()
        places |= {("object", fact.relation)} if fact.object == name else set()
        expected.update(places | {("value", attribute) for attribute, value in fact.qualifiers if value == name})
    assert {(one.role, one.relation): one.total for one in profile.groups} == expected
