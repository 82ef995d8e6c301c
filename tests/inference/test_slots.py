"""What stands in which slot: counted by hand."""

import numpy as np
from runs.small import dataset_of

from nary.facts import Fact, FactTable
from nary.inference.slots import Pairs, Slots

TRAIN = [
    Fact("Ada", "likes", "Ben"),
    Fact("Ada", "likes", "Cy", [("since", "1900")]),
    Fact("Ben", "sees", "Cy", [("since", "1901"), ("with", "Ada")]),
]
DATA = dataset_of(train=TRAIN)
NAMES = DATA.vocabulary


def slots() -> Slots:
    return Slots(DATA.train, len(NAMES.entities), len(NAMES.relations))


def test_every_element_is_counted_in_its_slot() -> None:
    (block,) = FactTable.from_facts([Fact("Ada", "likes", "Ada", [("since", "1901"), ("with", "1900")])], NAMES).blocks
    counted = slots()
    numbers = counted.of(block.ids)
    # likes 2 of 3; Ada is the subject of likes twice, never its object; since with likes once, with never; 1901 is a
    # value of since, though with sees; 1900 is none of with
    assert counted.counts(numbers, block.ids).tolist() == [[2, 2, 0, 1, 0, 1, 0]]
    assert counted.totals[numbers].tolist() == [[3, 2, 2, 1, 1, 2, 1]]


def test_the_members_of_a_slot() -> None:
    since = int(slots().of_values(np.array([NAMES.relation_ids["since"]]))[0])
    ids, counts = slots().members(since)
    assert {NAMES.entities[i] for i in ids} == {"1900", "1901"}
    assert counts.tolist() == [1, 1]


def test_entities_that_occur_together() -> None:
    (block,) = FactTable.from_facts([Fact("Cy", "likes", "Ben", [("with", "1900")])], NAMES).blocks
    assert Pairs(DATA.train).counts(block).tolist() == [[1, 1, 0]]  # Cy and Ben, Cy and 1900, Ben and 1900


def test_no_facts() -> None:
    (block,) = FactTable.from_facts(TRAIN[:1], NAMES).blocks
    empty = Slots(FactTable([]), len(NAMES.entities), len(NAMES.relations))
    assert empty.counts(empty.of(block.ids), block.ids).tolist() == [[0, 0, 0]]
    assert Pairs(FactTable([])).counts(block).tolist() == [[0]]
