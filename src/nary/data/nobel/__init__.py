"""The embedded dataset ``nobel``: the Nobel prizes 1901 to 2024, as facts. The card is README.md beside this file."""

from nary.data.dataset import Dataset
from nary.data.nobel.derive import facts
from nary.data.splits import split_facts
from nary.facts import FactTable, Vocabulary

__all__ = ["dataset", "facts"]

_SEED = 3  # with this one every arity occurs in every split


def dataset() -> Dataset:
    """The facts, one in ten of them for valid and one in ten for test; always the same ones."""
    found = facts()
    vocabulary = Vocabulary.of(
        (name for fact in found for name in (fact.subject, fact.object, *(value for _, value in fact.qualifiers))),
        (name for fact in found for name in (fact.relation, *(attribute for attribute, _ in fact.qualifiers))),
    )
    table = FactTable.from_facts(found, vocabulary)
    # Two prizes of one kind for one laureate differ in their qualifiers only: divided, one would give the other away.
    return Dataset("nobel", vocabulary, split_facts(table, (0.1, 0.1), _SEED, keep_primary_together=True))
