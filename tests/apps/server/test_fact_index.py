"""The index agrees with looking through all facts."""

from hypothesis import given, settings
from hypothesis import strategies as st
from runs.small import dataset_of

from nary.apps.server.fact_index import FactIndex
from nary.facts import Fact

NAMES = st.sampled_from("abcdef")
FACTS = st.lists(
    st.builds(Fact, NAMES, NAMES, NAMES, st.lists(st.tuples(NAMES, NAMES), max_size=3)), min_size=1, max_size=12
)


@given(FACTS, FACTS)
@settings(max_examples=50)
def test_every_entity_has_the_facts_that_mention_it_once(train: list[Fact], test: list[Fact]) -> None:
    dataset = dataset_of(train=train, test=test)
    index = FactIndex(dataset)
    everything = [(fact, "train") for fact in train] + [(fact, "test") for fact in test]
    for number, name in enumerate(dataset.vocabulary.entities):
        expected = [
            (fact, split)
            for fact, split in everything
            if name in (fact.subject, fact.object, *(value for _, value in fact.qualifiers))
        ]
        assert [index.fact(int(place)) for place in index.mentions(number)] == expected
