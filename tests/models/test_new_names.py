"""Which names are new to a model."""

import numpy as np

from nary.facts import Fact, FactTable, Vocabulary
from nary.models.base import DatasetInfo
from nary.models.new_names import NewNames

KNOWN = Vocabulary.of(["a", "b", "c", "d"], ["p", "q", "r"])
LARGER = KNOWN.with_names(Vocabulary.of(["e"], ["s"]))
TRAINED = FactTable.from_facts([Fact("a", "p", "b")], KNOWN)


def info_of(vocabulary: Vocabulary, facts: FactTable) -> DatasetInfo:
    return DatasetInfo(len(vocabulary.entities), len(vocabulary.relations), 3, facts)


def test_names_are_new_if_the_model_does_not_have_them_or_only_added_facts_do() -> None:
    added = FactTable.from_facts([Fact("c", "p", "b", [("q", "a")]), Fact("e", "s", "a")], LARGER)
    names = NewNames.of(info_of(KNOWN, TRAINED), info_of(LARGER, FactTable.concatenate([TRAINED, added])), added)
    assert [LARGER.entities[i] for i in names.entities] == ["c", "e"]  # d has no facts at all
    assert [LARGER.relations[i] for i in names.relations] == ["q", "s"]
    assert names.per_name(added) == 1  # c and q, e and s, once each
    of_b = FactTable.from_facts([Fact("a", "p", "b")], LARGER)
    assert len(names.facts_with(FactTable.concatenate([added, of_b]))) == 2


def test_names_that_are_appended_are_new_even_without_facts() -> None:
    names = NewNames.of(info_of(KNOWN, TRAINED), info_of(LARGER, TRAINED), FactTable([]))
    assert np.array_equal(names.entities, [4])
    assert np.array_equal(names.relations, [3])
    assert np.array_equal(names.of_kind("relation"), names.relations)
