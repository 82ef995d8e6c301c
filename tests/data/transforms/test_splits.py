"""Dividing facts: sizes, what stays together, and that train mentions everything."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.data.dataset import Dataset
from nary.data.transforms.splits import hold_out, split_dataset, split_facts
from nary.data.transforms.stratify import fair_counts
from nary.errors import SettingError
from nary.facts import Fact, FactTable, Vocabulary


def encode(facts: list[Fact]) -> tuple[FactTable, Vocabulary]:
    entities = [name for f in facts for name in (f.subject, f.object, *(value for _, value in f.qualifiers))]
    relations = [name for f in facts for name in (f.relation, *(attribute for attribute, _ in f.qualifiers))]
    vocabulary = Vocabulary.of(entities, relations)
    return FactTable.from_facts(facts, vocabulary), vocabulary


def mentioned(table: FactTable) -> tuple[set[int], set[int]]:
    entities = {int(i) for block in table.blocks for i in block.entities.ravel()}
    relations = {int(i) for block in table.blocks for i in block.relations.ravel()}
    return entities, relations


def clique(size: int) -> list[Fact]:
    """Every entity knows every other: only a few facts are needed to mention them all."""
    people = [f"person {i}" for i in range(size)]
    return [Fact(a, "knows", b) for a in people for b in people if a != b]


def shared(train: set[object], valid: set[object], test: set[object]) -> set[object]:
    return (train & valid) | (train & test) | (valid & test)


facts_strategy = st.lists(
    st.builds(
        Fact,
        st.sampled_from("abcd"),
        st.sampled_from("rs"),
        st.sampled_from("abcd"),
        st.lists(st.tuples(st.sampled_from("rst"), st.sampled_from("abcde")), max_size=2),
    ),
    min_size=3,
    max_size=40,
)


def test_sizes_are_exact_when_enough_facts_are_free() -> None:
    table, _ = encode(clique(10))  # 90 facts; at most 10 of them are needed to mention 10 entities and 1 relation
    found = split_facts(table, 0.2, 0.3)
    assert {split: len(part) for split, part in found.items()} == {"train": 45, "valid": 18, "test": 27}


def test_train_takes_what_only_one_fact_mentions() -> None:
    lonely = [Fact(f"a{i}", "r", f"b{i}") for i in range(20)]
    table, _ = encode(lonely)
    found = split_facts(table, 0.4, 0.4)
    assert (len(found["train"]), len(found["valid"]), len(found["test"])) == (20, 0, 0)


def test_the_first_of_two_units_that_mention_the_same_covers() -> None:
    # Either fact may be the cover; the other is then free and, test being filled first, goes there.
    table, _ = encode([Fact("a", "r", "b"), Fact("b", "r", "a"), Fact("a", "r", "b", [("r", "a")])])
    found = split_facts(table, 0.1, 0.1)
    assert (len(found["train"]), len(found["valid"]), len(found["test"])) == (1, 1, 1)


def test_a_positive_share_of_few_facts_is_one_fact_and_no_share_is_none() -> None:
    table, _ = encode([Fact("a", "r", "b"), Fact("b", "r", "a"), Fact("a", "r", "a"), Fact("b", "r", "b")])
    found = split_facts(table, 0.0, 0.1)
    assert (len(found["train"]), len(found["valid"]), len(found["test"])) == (3, 0, 1)


def test_units_too_large_are_passed_over() -> None:
    facts = [Fact("a", "r", "b")] * 3 + [Fact("b", "r", "a")] * 3 + [Fact("a", "r", "a")] * 3 + [Fact("b", "r", "b")]
    table, vocabulary = encode([*facts, *facts])  # sizes 6, 6, 6, 2; only the last fits a split of 2
    for seed in range(8):
        test = split_facts(table, 0.0, 0.1, seed)["test"]
        assert {str(fact) for fact in test.facts(vocabulary)} <= {"b | r | b"}
        assert len(test) in (0, 2)  # none where the pair itself was needed to mention a or b


def test_equal_facts_stay_together_and_their_primary_triples_when_asked() -> None:
    facts = [*clique(6), *clique(6), *(Fact(f.subject, f.relation, f.object, [("in", "person 0")]) for f in clique(6))]
    table, vocabulary = encode(facts)
    plain = split_facts(table, 0.2, 0.2, seed=5)
    parts = [set(part.facts(vocabulary)) for part in plain.values()]
    assert shared(*parts) == set()
    assert shared(*({fact.primary for fact in part} for part in parts))  # so that keeping them together is seen below
    together = split_facts(table, 0.2, 0.2, seed=5, keep_primary_together=True)
    primaries = [{fact.primary for fact in part.facts(vocabulary)} for part in together.values()]
    assert all(primaries)
    assert shared(*primaries) == set()


def test_the_old_order_is_kept() -> None:
    table, vocabulary = encode(clique(8))
    place = {fact: i for i, fact in enumerate(clique(8))}
    for part in split_facts(table, 0.2, 0.2).values():
        places = [place[fact] for fact in part.facts(vocabulary)]
        assert places == sorted(places)


def test_seeds() -> None:
    table, _ = encode(clique(10))
    first, again, other = (split_facts(table, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first["test"] != other["test"]


def test_the_random_order_never_changes() -> None:
    """Whoever repeats a run with another version must get the same splits: these places are fixed for good."""
    table, vocabulary = encode(clique(5))
    place = {fact: i for i, fact in enumerate(clique(5))}
    test = split_facts(table, 0.2, 0.2, seed=0)["test"]
    assert [place[fact] for fact in test.facts(vocabulary)] == [5, 9, 12, 16]


def test_hold_out() -> None:
    table, vocabulary = encode(clique(10))
    kept, held_out = hold_out(table, 0.2, seed=3)
    assert (len(kept), len(held_out)) == (72, 18)
    assert mentioned(kept) == mentioned(table)
    assert set(kept.facts(vocabulary)).isdisjoint(held_out.facts(vocabulary))


def test_a_dataset_is_pooled_and_divided_anew() -> None:
    table, vocabulary = encode(clique(10))
    old = Dataset("toy", vocabulary, {"train": table.take(np.arange(5)), "test": table.take(np.arange(5, 90))})
    found = split_dataset(old, 0.1, 0.2)
    assert {split: len(part) for split, part in found.splits.items()} == {"train": 63, "valid": 9, "test": 18}
    assert found.notes == ("The 90 facts are split randomly (seed 0): train 63, valid 9, test 18.",)


def shares(dataset: Dataset) -> dict[str, dict[str, float]]:
    tables = {**dataset.splits, "all": dataset.facts}
    relations = {split: [fact.relation for fact in table.facts(dataset.vocabulary)] for split, table in tables.items()}
    return {split: {r: names.count(r) / len(names) for r in set(names)} for split, names in relations.items()}


def most_different(dataset: Dataset) -> float:
    by_split = shares(dataset)
    return max(
        abs(by_split[split].get(relation, 0) - share)
        for split in ("valid", "test")
        if split in by_split
        for relation, share in by_split["all"].items()
    )


def payments(amount: str, every: int = 1000) -> Dataset:
    """40% payments with amounts of their own, but for one in ``every``; 40% likes; 20% rare relations."""
    amounts = [amount.format(i if i % every else 0) for i in range(800)]
    facts = [Fact(f"a{i % 30}", "paid", f"b{i % 7}", [("amount", amounts[i]), ("n", f"a{i % 29}")]) for i in range(800)]
    facts += [
        Fact(f"a{i % 30}", "likes", f"b{i % 7}", [("at", f"b{i % 11 % 7}"), ("n", f"a{i % 29}")]) for i in range(800)
    ]
    facts += [Fact(f"a{i % 30}", f"r{i % 20}", f"b{i % 7}", [("n", f"a{i % 29}")]) for i in range(400)]
    return Dataset.from_facts("toy", {"train": facts})


@pytest.mark.parametrize("seed", range(3))
def test_relations_keep_their_shares(seed: int) -> None:
    divided = split_dataset(payments("{}^^number"), seed=seed)  # amounts are literals, which train need not have
    assert {split: len(table) for split, table in divided.splits.items()} == {"train": 1600, "valid": 200, "test": 200}
    assert most_different(divided) <= 0.005


def test_a_split_shrinks_rather_than_change_the_shares() -> None:
    """100 of 800 payments have the same amount, so 99 may leave train where 160 would keep the share of 40%."""
    dataset = payments("{}", every=8)
    divided = split_dataset(dataset, 0.0, 0.2)
    assert most_different(divided) <= 0.02
    assert 230 <= len(divided.test) <= 99 / 0.38
    assert "400 were requested for valid and test" in divided.notes[-1]


def test_a_relation_that_train_needs_whole_is_reported() -> None:
    divided = split_dataset(payments("{}"))
    assert set(shares(divided)["test"]) == {"likes", *(f"r{i}" for i in range(20))}
    assert "The shares of relations differ" in divided.notes[-1]
    assert "'paid' by 40%" in divided.notes[-1]


@given(st.lists(st.integers(0, 500), min_size=1, max_size=12), st.data())
def test_fair_counts(quotas: list[int], data: st.DataObject) -> None:
    """Counts never exceed what there is, and every share is within the tolerance, unless nothing is left."""
    available = np.array([data.draw(st.integers(0, quota)) for quota in quotas])
    target = np.array(quotas) / max(1, sum(quotas))
    counts = fair_counts(available, target)
    assert (counts <= available).all()
    assert (counts >= 0).all()
    if counts.sum():
        assert np.abs(counts / counts.sum() - target).max() <= 0.02
    if np.array_equal(available, quotas):
        assert counts.tolist() == quotas


@given(facts_strategy, st.floats(0, 0.49), st.floats(0, 0.49), st.integers(0, 1000), st.booleans())
def test_laws_of_stratified_splits(facts: list[Fact], valid: float, test: float, seed: int, together: bool) -> None:
    dataset = Dataset.from_facts("toy", {"train": facts})
    divided = split_dataset(dataset, valid, test, seed, keep_primary_together=together)
    parts = {split: list(table.facts(dataset.vocabulary)) for split, table in divided.splits.items()}
    assert sorted(map(str, facts)) == sorted(str(fact) for part in parts.values() for fact in part)
    for table in divided.splits.values():
        for mine, trained in zip(mentioned(table), mentioned(divided.train), strict=True):
            assert mine <= trained
    unit = (lambda fact: fact.primary) if together else (lambda fact: fact)
    units = [{unit(fact) for fact in part} for part in parts.values()]
    assert len(set.union(*units)) == sum(map(len, units))
    for split, share in (("valid", valid), ("test", test)):
        assert len(parts.get(split, ())) <= max(np.floor(share * len(facts) + 0.5), share > 0)
    again = split_dataset(dataset, valid, test, seed, keep_primary_together=together)
    assert divided.fingerprint == again.fingerprint


def test_a_dataset_that_cannot_be_split_as_requested_says_so() -> None:
    table, vocabulary = encode([Fact(f"a{i}", "r", f"b{i}") for i in range(20)])
    found = split_dataset(Dataset("toy", vocabulary, {"train": table}))
    assert list(found.splits) == ["train"]
    assert "train 20, valid 0, test 0. 4 were requested for valid and test" in found.notes[0]


@pytest.mark.parametrize("fractions", [(-0.1, 0.1), (0.5, 0.5), (0.1, 1.0), (float("nan"), 0.1)])
def test_impossible_fractions(fractions: tuple[float, float]) -> None:
    table, _ = encode(clique(3))
    with pytest.raises(SettingError, match="cannot set aside"):
        split_facts(table, *fractions)


def test_too_few_facts_and_a_bad_seed() -> None:
    table, _ = encode([Fact("a", "r", "b"), Fact("b", "r", "a")])
    with pytest.raises(SettingError, match="2 facts are too few to make 3 splits"):
        split_facts(table)
    with pytest.raises(SettingError, match="seed is -1"):
        hold_out(table, 0.5, seed=-1)


@given(
    facts_strategy,
    st.floats(0, 0.49),
    st.floats(0, 0.49),
    st.integers(0, 1000),
    st.booleans(),
)
def test_laws(facts: list[Fact], valid: float, test: float, seed: int, together: bool) -> None:
    table, vocabulary = encode(facts)
    found = split_facts(table, valid, test, seed, keep_primary_together=together)
    parts = {split: list(part.facts(vocabulary)) for split, part in found.items()}
    assert sorted(map(str, facts)) == sorted(str(fact) for part in parts.values() for fact in part)
    for part in found.values():
        for mine, trained in zip(mentioned(part), mentioned(found["train"]), strict=True):
            assert mine <= trained
    unit = (lambda fact: fact.primary) if together else (lambda fact: fact)
    units = [{unit(fact) for fact in part} for part in parts.values()]
    assert len(units[0] | units[1] | units[2]) == sum(map(len, units))
    for split, share in (("valid", valid), ("test", test)):
        assert len(parts[split]) <= max(np.floor(share * len(facts) + 0.5), share > 0)
