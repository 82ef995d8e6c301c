"""A random order of very many numbers, of which any part can be computed without the others."""

import numpy as np
import numpy.typing as npt

from nary.data.synthetic import Words, hash_words, split_mix

Array = npt.NDArray[np.int64]
_ROUNDS = 4


class Permutation:
    """A pseudo-random order of the numbers 0 to ``size`` - 1 that follows from ``key`` and takes no memory.

    It is a Feistel network: in turn, each half of the bits of a number is changed by a hash of the other half, which
    can be undone, so that different numbers stay different. The network permutes all numbers of that many bits; one
    that is ``size`` or more is put through it again, less than once on average, until it is below.
    """

    def __init__(self, size: int, *key: int) -> None:
        self.size = size
        num_bits = max(2, (size - 1).bit_length())
        self._num_low = np.uint64(num_bits // 2)
        self._low, self._high = (np.uint64((1 << bits) - 1) for bits in (num_bits // 2, num_bits - num_bits // 2))
        self._keys = hash_words(*key, np.arange(2 * _ROUNDS))

    def __call__(self, places: Array) -> Array:
        """The numbers at ``places`` of the order."""
        numbers = self._mix(places.astype(np.uint64))
        while (outside := np.flatnonzero(numbers >= self.size)).size:
            numbers[outside] = self._mix(numbers[outside])
        return numbers.astype(np.int64)

    def _mix(self, numbers: Words) -> Words:
        low, high = numbers & self._low, numbers >> self._num_low
        for first, second in self._keys.reshape(-1, 2):
            high ^= split_mix(low ^ first) & self._high
            low ^= split_mix(high ^ second) & self._low
        return high << self._num_low | low
