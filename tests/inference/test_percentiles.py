"""Percentiles of lifts among true facts: counted by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs.small import dataset_of

from nary.facts import Fact, FactTable
from nary.inference.evidence import Measured
from nary.inference.percentiles import Percentiles
from nary.inference.slots import Slots

DATA = dataset_of(train=[Fact("Ada", "likes", "Ben"), Fact("Ben", "sees", "Cy"), Fact("Cy", "likes", "Ada")])
NAMES = DATA.vocabulary
SLOTS = Slots(DATA.train, len(NAMES.entities), len(NAMES.relations))


def measured(facts: list[Fact], lifts: list[list[float]]) -> Measured:
    """Facts without qualifiers; the lifts are those of relation, subject and object."""
    (block,) = FactTable.from_facts(facts, NAMES).blocks
    return Measured(block, *np.zeros((3, *block.ids.shape)), np.array(lifts), np.zeros(block.ids.shape, np.int64))


LIKES, SEES = Fact("Ada", "likes", "Ben"), Fact("Ben", "sees", "Cy")
REFERENCE = measured([LIKES, LIKES, LIKES, SEES], [[1, np.nan, -2], [2, np.nan, 0], [3, np.nan, 1], [4, np.nan, 9]])


def test_by_hand() -> None:
    percentiles = Percentiles(SLOTS, [REFERENCE])
    (features,) = percentiles.features(measured([LIKES], [[2.5, np.nan, 0.0]]))
    # 2 of 4 relations are no greater, in the role as in the slot. Of the objects of `likes` 2 of 3 are, and 2 of all 4
    # objects, which count like 5. The subject is not predicted.
    relation = (2 + 5 * 3 / 5) / 9
    object = (2 + 5 * 3 / 5) / 8
    expected = np.log([relation, 1, object, 1, 1, min(relation, object)])
    np.testing.assert_allclose(features, expected)


def test_a_fact_of_the_reference_does_not_count_for_itself() -> None:
    features = Percentiles(SLOTS, [REFERENCE]).features(REFERENCE, in_reference=True)
    assert features[1, 2] == pytest.approx(np.log((1 + 5 * 2 / 4) / 7))


def test_equal_lifts_stay_equal_if_their_last_digits_differ() -> None:
    percentiles = Percentiles(SLOTS, [measured([LIKES] * 3, [[1, 1, 1]] * 3)])
    for noise in (-1e-6, 0, 1e-6):
        (features,) = percentiles.features(measured([LIKES], [[1 + noise] * 3]))
        np.testing.assert_allclose(features, 0)


def test_a_slot_without_true_facts_has_the_percentile_of_its_role() -> None:
    percentiles = Percentiles(SLOTS, [measured([LIKES, LIKES], [[1, 1, 1], [2, 2, 2]])])
    (features,) = percentiles.features(measured([SEES], [[9, 1.5, 9]]))
    assert features[1] == pytest.approx(np.log(2 / 3))


@given(st.lists(st.floats(-9, 9), min_size=3, max_size=3), st.floats(0, 5))
def test_a_greater_lift_never_has_a_smaller_percentile(lifts: list[float], more: float) -> None:
    percentiles = Percentiles(SLOTS, [measured([LIKES, SEES], [[1, -1, 0], [2, 0, 3]])])
    less, greater = (percentiles.features(measured([SEES], [[one + add for one in lifts]])) for add in (0, more))
    assert (less <= greater).all()
    assert (greater <= 0).all()
