"""Generated facts: what was asked for, always the same, and with a structure to learn."""

import numpy as np
import pytest

from nary.data.audit import audit
from nary.data.dataset import Dataset
from nary.data.synthetic import generate, hash_words, skewed, split_mix
from nary.errors import SettingError
from nary.facts.layout import OBJECT, RELATION, SUBJECT


def entropy(*columns: np.ndarray) -> float:
    """Bits, of the columns taken together."""
    _, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def primary(dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    heads = np.concatenate([block.ids[:, :3] for block in dataset.train.blocks])
    return heads[:, RELATION], heads[:, SUBJECT], heads[:, OBJECT]


def test_what_was_asked_for() -> None:
    found = generate(5000, 300, relations=12, max_arity=5)
    assert found.name == "generated"
    assert list(found.splits) == ["train"]
    assert len(found.train) == 5000
    assert sorted(found.train.arities) == [2, 3, 4, 5]
    assert len(found.vocabulary.entities) == 300
    assert sum(name.startswith("relation ") for name in found.vocabulary.relations) == 12
    assert {"entity 000001", "entity 000300"} <= set(found.vocabulary.entities)
    assert {"attribute 01", "relation 12"} <= set(found.vocabulary.relations)


def test_names_are_sorted_and_all_occur() -> None:
    found = generate(40, 1000, relations=150, max_arity=4)
    for names, kind in ((found.vocabulary.entities, "entities"), (found.vocabulary.relations, "relations")):
        assert list(names) == sorted(names)
        used = np.unique(np.concatenate([getattr(block, kind).ravel() for block in found.train.blocks]))
        assert used.tolist() == list(range(len(names)))


def test_facts_are_distinct_and_labels_clean() -> None:
    assert audit(generate(5000, 200)).clean


def test_equal_settings_give_equal_facts_and_other_seeds_others() -> None:
    assert generate(500, 50).train == generate(500, 50).train
    assert generate(500, 50, seed=1).train != generate(500, 50).train


def test_the_facts_never_change() -> None:
    """Generated data serve as a yardstick: these facts are fixed for good."""
    found = generate(6, 10, relations=3, max_arity=4, seed=7)
    assert [str(fact) for fact in found.train.facts(found.vocabulary)] == [
        "entity 000002 | relation 02 | entity 000009 | attribute 01: entity 000009",
        "entity 000004 | relation 01 | entity 000002 | attribute 01: entity 000001",
        "entity 000001 | relation 01 | entity 000002",
        "entity 000005 | relation 01 | entity 000006",
        "entity 000006 | relation 03 | entity 000002",
        "entity 000003 | relation 03 | entity 000007 | attribute 01: entity 000008 | attribute 02: entity 000006",
    ]


def test_triples_only() -> None:
    found = generate(300, 40, max_arity=2)
    assert found.train.arities == {2: 300}
    assert not any(name.startswith("attribute") for name in found.vocabulary.relations)


def test_the_object_follows_from_subject_and_relation() -> None:
    found = generate(20_000, 500, noise=0.1)
    relation, subject, object = primary(found)
    marginal = entropy(object)
    given = entropy(relation, subject, object) - entropy(relation, subject)
    assert marginal > 7  # nearly as many bits as 500 entities can have, 9
    assert given < marginal / 3


def test_noise_takes_the_structure_away() -> None:
    def concentration(noise: float) -> float:
        relation, _, object = primary(generate(20_000, 500, relations=5, noise=noise))
        return entropy(relation) + entropy(object) - entropy(relation, object)  # bits they tell of each other

    assert concentration(0.0) > 2 * concentration(0.5) > 4 * concentration(1.0)


def test_values_follow_from_relation_and_attribute() -> None:
    block = next(block for block in generate(20_000, 500).train.blocks if block.qualifiers == 1)
    relation, attribute, value = block.ids[:, RELATION], block.attributes[:, 0], block.values[:, 0]
    assert entropy(value) - (entropy(relation, attribute, value) - entropy(relation, attribute)) > 1


def test_popularity_is_skewed() -> None:
    _, subject, _ = primary(generate(20_000, 500))
    sizes = np.sort(np.bincount(subject))[::-1]
    assert sizes[:125].sum() > 0.45 * sizes.sum()  # a quarter of the entities


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"entities": 1}, "number of entities is 1"),
        ({"facts": 0}, "number of facts is 0"),
        ({"relations": 0}, "number of relations is 0"),
        ({"max_arity": 1}, "maximum arity is 1"),
        ({"noise": 1.5}, "noise is 1.5"),
        ({"noise": float("nan")}, "noise is nan"),
        ({"facts": 3}, "3 facts cannot have every arity from 2 to 6"),
        ({"entities": 2, "relations": 1, "max_arity": 2}, "only 4 of 1,000 distinct facts"),
    ],
)
def test_impossible_settings(settings: dict[str, int], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        generate(**{"facts": 1000, "entities": 50, **settings})


def test_the_hash_is_splitmix64() -> None:
    # The first outputs of the published generator for the seed 0, which steps by the golden ratio each time.
    step = np.uint64(0x9E3779B97F4A7C15)
    states = np.arange(3, dtype=np.uint64) * step
    assert split_mix(states).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_hashes_depend_on_every_part_and_their_order() -> None:
    words = {int(hash_words(*parts)[0]) for parts in [(1, 2), (2, 1), (1, 2, 0), (0, 1, 2), (1, 3)]}
    assert len(words) == 5


def test_skewed_numbers() -> None:
    found = skewed(hash_words(np.arange(100_000)), 100)
    assert found.min() == 0
    assert found.max() == 99
    assert np.mean(found < 25) == pytest.approx(0.5, abs=0.01)
