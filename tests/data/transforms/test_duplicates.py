"""Dropping duplicate facts; test_audit.py tests their numbering."""

from evaluation.toys import dataset_of

from nary.data.transforms.duplicates import drop_duplicates
from nary.data.transforms.simplify import primary_triples
from nary.facts import Fact

TRAIN = [
    Fact("Ada", "won", "Prize", [("in", "1901")]),
    Fact("Ben", "won", "Prize"),
    Fact("Ada", "won", "Prize", [("in", "1902"), ("with", "Ben")]),
]


def test_every_fact_once_where_it_stands_first() -> None:
    data = dataset_of(train=TRAIN)
    assert list(drop_duplicates(primary_triples(data.train)).facts(data.vocabulary)) == [
        Fact("Ada", "won", "Prize"),
        Fact("Ben", "won", "Prize"),
    ]
    assert drop_duplicates(data.train) == data.train  # they differ in their qualifiers
