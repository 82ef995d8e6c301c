"""Facts without their qualifiers."""

from evaluation.toys import dataset_of

from nary.data.triples import distinct, primary_triples, triples_only
from nary.facts import Fact, FactTable

TRAIN = [
    Fact("Ada", "won", "Prize", [("in", "1901")]),
    Fact("Ben", "won", "Prize"),
    Fact("Ada", "won", "Prize", [("in", "1902"), ("with", "Ben")]),
]
TEST = [Fact("Ada", "won", "Prize", [("in", "1903")]), Fact("Cy", "won", "Prize"), Fact("Cy", "won", "Prize")]


def test_the_primary_triple_of_each_fact_in_order() -> None:
    data = dataset_of(train=TRAIN)
    found = primary_triples(data.train)
    assert list(found.facts(data.vocabulary)) == [
        Fact("Ada", "won", "Prize"),
        Fact("Ben", "won", "Prize"),
        Fact("Ada", "won", "Prize"),
    ]
    assert primary_triples(found) == found
    assert len(primary_triples(FactTable([]))) == 0


def test_every_fact_once_where_it_stands_first() -> None:
    data = dataset_of(train=TRAIN)
    assert list(distinct(primary_triples(data.train)).facts(data.vocabulary)) == [
        Fact("Ada", "won", "Prize"),
        Fact("Ben", "won", "Prize"),
    ]
    assert distinct(data.train) == data.train  # they differ in their qualifiers


def test_there_may_be_no_train() -> None:
    found = triples_only(dataset_of(valid=TRAIN, test=TEST))
    assert found.notes[-1] == "Qualifiers are left out. Distinct triples: 2 of 3 in valid, 2 of 3 in test."


def test_a_dataset_keeps_its_splits_and_names() -> None:
    data = dataset_of(train=TRAIN, test=TEST)
    found = triples_only(data)
    assert {split: len(table) for split, table in found.splits.items()} == {"train": 3, "test": 3}
    assert found.facts.arities == {2: 6}
    assert found.vocabulary == data.vocabulary  # values stay candidates
    assert found.name == data.name
    assert found.fingerprint != data.fingerprint
    assert found.notes[-1] == (
        "Qualifiers are left out. Distinct triples: 2 of 3 in train, 2 of 3 in test. "
        "1 facts of test are triples of train."
    )
