"""A calculated order has every number once, the same in parts and as a whole, and looks random."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nary.training.permutation import Permutation


@given(size=st.integers(1, 3000), seed=st.integers(0, 2**31 - 1), epoch=st.integers(0, 100))
def test_every_number_once(size: int, seed: int, epoch: int) -> None:
    assert sorted(Permutation(size, seed, epoch)(np.arange(size)).tolist()) == list(range(size))


@given(size=st.integers(1, 10**12), seed=st.integers(0, 2**31 - 1), data=st.data())
def test_a_part_is_the_same_as_in_the_whole(size: int, seed: int, data: st.DataObject) -> None:
    places = np.array(data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=20, unique=True)))
    permutation = Permutation(size, seed)
    numbers = permutation(places)
    assert len(np.unique(numbers)) == len(places)
    assert ((numbers >= 0) & (numbers < size)).all()
    assert [int(permutation(places[i : i + 1])[0]) for i in range(len(places))] == numbers.tolist()


def test_the_order_depends_on_every_part_of_the_key() -> None:
    orders = {tuple(Permutation(50, *key)(np.arange(50)).tolist()) for key in ((0, 0), (0, 1), (1, 0), (1, 1))}
    assert len(orders) == 4


def test_numbers_look_independent_of_their_places() -> None:
    size, keys = 100, 1000
    orders = np.array([Permutation(size, key)(np.arange(size)) for key in range(keys)])
    # Each number is as often at each place: the mean of 10,000 squared deviations is that of binomial counts.
    counts = np.array([np.bincount(orders[:, place], minlength=size) for place in range(size)])
    assert abs(((counts - keys / size) ** 2).mean() / (keys / size) - 1) < 0.05
    # Neighbors are unrelated: a number is larger than the one before it half of the time.
    assert abs((np.diff(orders, axis=1) > 0).mean() - 0.5) < 0.005


def test_a_large_order_has_no_trend() -> None:
    numbers = Permutation(10**9 + 7, 5)(np.arange(200_000)).astype(float)
    assert abs(np.corrcoef(np.arange(200_000), numbers)[0, 1]) < 0.01
    assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 0.01
    assert abs(numbers.mean() / (10**9 + 7) - 0.5) < 0.005
