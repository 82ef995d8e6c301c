"""The audit, on a dataset small enough to count by hand."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.data.audit import Audit, audit, suspicious_labels
from nary.data.dataset import Dataset
from nary.data.load import load
from nary.data.transforms.duplicates import number_facts, number_triples
from nary.data.transforms.splits import split_facts
from nary.facts import Fact, FactTable, Vocabulary


def dataset(**splits: list[Fact]) -> Dataset:
    facts = [fact for part in splits.values() for fact in part]
    entities = [name for f in facts for name in (f.subject, f.object, *(value for _, value in f.qualifiers))]
    relations = [name for f in facts for name in (f.relation, *(attribute for attribute, _ in f.qualifiers))]
    vocabulary = Vocabulary.of(entities, relations)
    return Dataset("toy", vocabulary, {split: FactTable.from_facts(part, vocabulary) for split, part in splits.items()})


TRAIN = [
    Fact("ada", "wrote", "notes", [("year", "1843"), ("about", "engine")]),
    Fact("ada", "wrote", "notes", [("about", "engine"), ("year", "1843")]),  # the same fact in another order
    Fact("ada", "wrote", "notes", [("about", "engine"), ("about", "engine")]),  # a qualifier twice: another fact
    Fact("babbage", "built", "engine"),
    Fact(
        "babbage", "knows", "babbage", [("about", "engine"), ("about", "notes"), ("year", "notes")]
    ),  # subject is object
    Fact("babbage", "built", "engine"),
    Fact("babbage", "built", "engine"),  # 2 beyond the first
]
VALID = [
    Fact("babbage", "built", "engine", [("year", "1843")]),  # primary triple in train
    Fact("ada", "met", "babbage"),  # unseen relation met
    Fact("ada", "wrote", "notes", [("year", "1843"), ("about", "engine")]),  # in train
]
TEST = [
    Fact("ada", "met", "babbage"),  # in valid; met is unseen in train
    Fact("ada", "wrote", "notes", [("for", "menabrea")]),  # primary in train; attribute and value unseen
    Fact("ada", "wrote", "letters"),  # unseen entity
    Fact("babbage", "built", "engine"),  # in train
]


@pytest.fixture
def found() -> Audit:
    return audit(dataset(train=TRAIN, valid=VALID, test=TEST))


def test_duplicates_compare_qualifiers_as_a_multiset(found: Audit) -> None:
    assert found.duplicates == {"train": 3, "valid": 0, "test": 0}


def test_overlap_of_the_splits(found: Audit) -> None:
    assert found.test_in_train == 1
    assert found.test_primary_in_train == 2
    assert found.test_primary_in_train_share == 0.5
    assert found.valid_in_train == 1
    assert found.valid_primary_in_train == 2
    assert found.test_in_valid == 1


def test_unseen_elements(found: Audit) -> None:
    assert found.test_unseen == 2  # menabrea, letters
    assert found.test_unseen_relations == 2  # met, for
    assert found.valid_unseen == 0
    assert found.valid_unseen_relations == 1
    assert found.unseen_entities == 2
    assert found.unseen_relations == 2


def test_what_changes_for_a_model_that_has_also_seen_valid(found: Audit) -> None:
    assert found.test_against_train_and_valid == {"identical": 2, "primary": 3, "unseen": 2, "unseen_relations": 1}


def test_odd_facts(found: Audit) -> None:
    assert found.subject_is_object == 1
    assert found.repeated_qualifiers == 1


def test_as_dict_holds_every_finding_and_the_verdict(found: Audit) -> None:
    assert found.as_dict()["clean"] is False
    assert found.as_dict()["test_primary_in_train"] == 2
    assert set(found.as_dict()) == {*Audit.__dataclass_fields__, "clean"}


def test_missing_splits_count_as_empty() -> None:
    found = audit(dataset(train=TRAIN[3:5]))
    assert found.duplicates == {"train": 0}
    assert found.test_in_train == found.test_unseen == found.unseen_entities == 0
    assert found.test_primary_in_train_share == 0.0
    assert found.clean
    without_train = audit(dataset(test=TRAIN[3:5]))
    assert without_train.test_unseen == without_train.test_unseen_relations == 2
    assert not without_train.clean


def test_a_name_that_no_split_mentions_is_not_unseen() -> None:
    whole = dataset(train=TRAIN)
    table = FactTable.from_facts([TRAIN[3]], whole.vocabulary)
    assert audit(Dataset("toy", whole.vocabulary, {"train": table})).unseen_entities == 0


@pytest.mark.parametrize(
    ("train", "test"),
    [
        ([Fact("a", "r", "b"), Fact("a", "r", "b")], []),  # a duplicate
        ([Fact("a", "r", "b", [("r", "a")])], [Fact("a", "r", "b", [("r", "b")])]),  # the primary triple
        ([Fact("a", "r", "b")], [Fact("a", "r", "c")]),  # an unseen entity
        ([Fact("a", "r", "b"), Fact("b", "s", "a")], [Fact("a", "t", "a")]),  # an unseen relation
        ([Fact("a ", "r", "b")], []),  # a suspicious label
    ],
)
def test_one_finding_is_enough_to_be_unclean(train: list[Fact], test: list[Fact]) -> None:
    assert not audit(dataset(train=train, test=test)).clean


def test_overlap_with_valid_is_unclean() -> None:
    train = [Fact("a", "r", "b"), Fact("b", "r", "a")]
    assert audit(dataset(train=train, valid=[Fact("a", "r", "a")])).clean
    assert not audit(dataset(train=train, valid=[Fact("a", "r", "b", [("r", "a")])])).clean
    assert not audit(dataset(train=train, valid=[Fact("a", "r", "a")], test=[Fact("a", "r", "a", [("r", "b")])])).clean


def test_suspicious_labels_by_reason() -> None:
    lone = "\udc80"
    names = [" padded", "tab\tinside", "caf\ufffd", lone, "CafÃ©", "donâ€™t", "x" * 201, "NaN", "Café", "x" * 200]
    found = suspicious_labels(Vocabulary.of(names, ["r", "tidy relation"]))
    assert {reason: set(finding["examples"]) for reason, finding in found.items()} == {
        "white space around it": {" padded"},
        "control characters": {"tab\tinside"},
        "broken encoding": {"caf\ufffd", lone},
        "UTF-8 that was read as another encoding": {"CafÃ©", "donâ€™t"},
        "longer than 200 characters": {"x" * 201},
        "looks like a missing value": {"NaN"},
    }


def test_near_equal_names_stand_side_by_side_and_each_is_counted() -> None:
    entities = ["Ada", "ada", "Ada  Lovelace", "Ada Lovelace", "caf\u00e9", "cafe\u0301", "other", "knows"]
    found = suspicious_labels(Vocabulary.of(entities, ["Knows"]))  # relations have names of their own
    (finding,) = found.values()
    assert finding["count"] == 6
    first = finding["examples"][:2]
    assert first in (["Ada", "ada"], ["Ada  Lovelace", "Ada Lovelace"])
    assert len(finding["examples"]) == 5


def test_labels_in_any_script_are_not_suspicious() -> None:
    names = ["Łódź", "東京", "Москва", "القاهرة", "naïve", "Ångström", "Q42", "1843-01-01", "São Paulo", "½"]
    assert suspicious_labels(Vocabulary.of(names, ["r"])) == {}


FIGURES = {
    "jf17k": {"duplicates": {"train": 0, "test": 0}, "test_primary_in_train": 10954, "subject_is_object": 171},
    "jf17k-clean": {"test_primary_in_train": 0, "test_unseen": 0, "clean": True},
    "wikipeople-": {
        "duplicates": {"train": 6544, "valid": 141, "test": 145},
        "test_in_train": 1120,
        "test_primary_in_train": 1261,
        "valid_in_train": 1170,
        "test_in_valid": 449,
        "test_unseen": 0,
        "subject_is_object": 4,
    },
    "jf17k-4": {"test_primary_in_train": 730, "test_unseen": 21},
    "wikipeople-3": {"test_primary_in_train": 976, "valid_unseen_relations": 1},
    "wd50k": {"test_in_train": 0, "valid_in_train": 272, "test_unseen": 948, "subject_is_object": 237},
    "fb-auto": {"test_primary_in_train": 1360, "test_unseen": 258},
}


@pytest.mark.benchmark_data
@pytest.mark.parametrize("name", FIGURES)
def test_the_figures_of_the_benchmarks(name: str, benchmark_data: Path) -> None:
    found = audit(load(name)).as_dict()
    assert {key: found[key] for key in FIGURES[name]} == FIGURES[name]
    assert found["suspicious_labels"] == {}


@pytest.mark.benchmark_data
def test_valid_seen_too(benchmark_data: Path) -> None:
    assert audit(load("wd50k")).test_against_train_and_valid["unseen"] == 0
    assert audit(load("wikipeople-")).test_against_train_and_valid["identical"] == 1176


facts_strategy = st.lists(
    st.builds(
        Fact,
        st.sampled_from("ab"),
        st.sampled_from("rs"),
        st.sampled_from("ab"),
        st.lists(st.tuples(st.sampled_from("rs"), st.sampled_from("ab")), max_size=3),
    ),
    max_size=12,
)


@given(facts_strategy, facts_strategy)
def test_numbers_are_equal_exactly_for_equal_facts(train: list[Fact], test: list[Fact]) -> None:
    splits = dataset(train=train, test=test).splits
    for number, key in ((number_facts, lambda fact: fact), (number_triples, lambda fact: fact.primary)):
        first, second = number(list(splits.values()))
        pairs = {*zip(map(key, train), first.tolist(), strict=True), *zip(map(key, test), second.tolist(), strict=True)}
        assert len(pairs) == len(dict(pairs)) == len({n for _, n in pairs})


@given(facts_strategy, facts_strategy)
def test_the_audit_counts_like_sets_of_facts(train: list[Fact], test: list[Fact]) -> None:
    found = audit(dataset(train=train, test=test))
    assert found.test_in_train == sum(fact in set(train) for fact in test)
    assert found.test_primary_in_train == sum(fact.primary in {other.primary for other in train} for fact in test)
    assert found.duplicates == {"train": len(train) - len(set(train)), "test": len(test) - len(set(test))}


@given(st.lists(st.builds(Fact, *[st.sampled_from("abcdef")] * 3), min_size=3, max_size=40, unique=True))
def test_a_split_of_distinct_triples_is_clean(facts: list[Fact]) -> None:
    whole = dataset(train=facts)
    assert audit(whole.with_splits(split_facts(whole.train, 0.2, 0.2), "split")).clean
