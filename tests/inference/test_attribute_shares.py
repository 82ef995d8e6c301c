"""Which attribute comes next: counted by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs.small import dataset_of, small_data

from nary.facts import Fact
from nary.inference.attribute_shares import attribute_shares

TRAIN = [
    Fact("Ada", "meets", "Ben", [("with", "Cy"), ("since", "1900")]),
    Fact("Ada", "meets", "Ben", [("with", "Dee"), ("with", "Cy")]),
    Fact("Ada", "meets", "Cy", [("since", "1900")]),
    Fact("Ada", "meets", "Dee", [("with", "Cy"), ("since", "1900"), ("at", "noon")]),
    Fact("Ada", "sees", "Ben", [("at", "noon")]),
    Fact("Ada", "hears", "Ben"),
]
DATA = dataset_of(train=TRAIN)
NAMES = DATA.vocabulary
INVENTED = small_data()


def shares(relation: str, object: str, *present: str) -> tuple[dict[str, float], bool]:
    ids = [NAMES.relation(name) for name in present]
    size = len(NAMES.relations)
    numbers, counted = attribute_shares(DATA.train, NAMES.relation(relation), NAMES.entity(object), ids, size)
    return {name: numbers[NAMES.relation(name)] for name in ("with", "since", "at")}, counted


def test_by_hand() -> None:
    """``meets`` with one ``with`` present; of the 9 qualifiers in train 4 are ``with``, 3 ``since``, 2 ``at``."""
    numbers, counted = shares("meets", "Ben", "with")
    # all facts of the relation: 1 more `since`, 1 more `with`, 1 `since`, half a `since` and half an `at`
    first = np.array([1, 2.5, 0.5]) + np.array([4, 3, 2]) / 9
    # those with `with`, without the third; the last has two more, so it weighs 2 * 3 / (4 * 3) = 1/2
    second = np.array([1, 1 + 1 / 4, 1 / 4]) + first / 5
    # of these the first two, which have the object
    third = np.array([1, 1, 0]) + second / 3.5
    assert list(numbers.values()) == pytest.approx((third / 3).tolist())
    assert counted


def test_attributes_that_no_fact_has_together_leave_those_of_the_relation() -> None:
    numbers, _ = shares("meets", "Ben", "at", "at")
    assert list(numbers.values()) == pytest.approx([(2 + 4 / 9) / 5, (2 + 3 / 9) / 5, 2 / 9 / 5])
    numbers, counted = shares("sees", "Ben", "at", "with")  # no fact of this relation has `with`, nor more than it has
    assert list(numbers.values()) == pytest.approx([4 / 9, 3 / 9, 2 / 9])
    assert not counted


def test_a_relation_without_qualifiers_has_those_of_all() -> None:
    numbers, counted = shares("hears", "Ben")
    assert list(numbers.values()) == pytest.approx([4 / 9, 3 / 9, 2 / 9])
    assert not counted


@given(st.integers(0, 3), st.integers(0, 19), st.lists(st.integers(0, 3), max_size=4))
def test_shares_are_a_distribution(relation: int, object: int, present: list[int]) -> None:
    numbers, _ = attribute_shares(INVENTED.train, relation, object, present, len(INVENTED.vocabulary.relations))
    assert numbers.min() >= 0
    assert numbers.sum() == pytest.approx(1)
