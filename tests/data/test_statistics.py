"""Statistics of a dataset small enough to count by hand."""

import pytest

from nary.data.dataset import Dataset
from nary.data.statistics import counts, statistics
from nary.facts import Fact, FactTable, Vocabulary

VOCABULARY = Vocabulary.of(
    ["ada", "babbage", "engine", "notes", "1843"], ["wrote", "built", "knows", "year", "about"], {"wrote": "author of"}
)
SPLITS = {
    "train": [
        Fact("ada", "wrote", "notes", [("year", "1843"), ("about", "engine")]),
        Fact("babbage", "built", "engine"),
        Fact("ada", "knows", "babbage"),
        Fact("babbage", "knows", "babbage"),
    ],
    "test": [Fact("ada", "knows", "babbage", [("year", "1843")])],
    "context": [Fact("babbage", "built", "engine", [("year", "1843"), ("year", "1843")])],
}


@pytest.fixture
def toy() -> Dataset:
    return Dataset(
        "toy", VOCABULARY, {split: FactTable.from_facts(facts, VOCABULARY) for split, facts in SPLITS.items()}
    )


def test_counts(toy: Dataset) -> None:
    assert counts(toy) == {
        "name": "toy",
        "facts": {"train": 4, "test": 1, "context": 1},
        "entities": 5,
        "relations": 5,
        "higher_arity": 3,
        "arities": {"2": 3, "3": 1, "4": 2},
    }


def test_statistics(toy: Dataset) -> None:
    found = statistics(toy).as_dict()
    assert {key: found[key] for key in counts(toy)} == counts(toy)
    assert found["primary_relations"] == 3
    assert found["attributes"] == 2
    assert found["qualifiers"] == {
        "facts_with": 3,
        "share": 0.5,
        "per_fact_mean": 5 / 6,
        "top_attributes": [("year", 4), ("about", 1)],
    }
    assert found["top_relations"] == [("knows", 3), ("built", 2), ("wrote", 1)]


def test_degree_counts_a_fact_once_however_often_it_mentions_an_entity(toy: Dataset) -> None:
    # ada 3, babbage 5 (the fact about himself is one), engine 3, notes 1, 1843 3 (once where it stands twice)
    found = statistics(toy)
    assert dict(zip(VOCABULARY.entities, found.degrees.tolist(), strict=True)) == {
        "ada": 3,
        "babbage": 5,
        "engine": 3,
        "notes": 1,
        "1843": 3,
    }
    # sorted 1 3 3 3 5; the 90th percentile lies at place 3.6 of 0..4, between 3 and 5
    assert found.degree == {"min": 1, "median": 3.0, "mean": 3.0, "p90": pytest.approx(4.2), "max": 5, "once": 1}


def test_equally_frequent_names_come_in_alphabetical_order() -> None:
    facts = [Fact("ada", relation, "ada") for relation in ("year", "about", "knows")]
    toy = Dataset("toy", VOCABULARY, {"train": FactTable.from_facts(facts, VOCABULARY)})
    assert statistics(toy).top_relations == [("about", 1), ("knows", 1), ("year", 1)]


def test_no_facts() -> None:
    found = statistics(Dataset("empty", Vocabulary.of([], []), {"train": FactTable([])})).as_dict()
    assert found["facts"] == {"train": 0}
    assert found["arities"] == {}
    assert found["degree"]["max"] == 0
    assert found["qualifiers"]["share"] == 0
