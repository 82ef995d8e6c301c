"""Random numbers as hashes of what they are for (SplitMix64), equal for every machine and numpy version."""

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)


def mixed(words: Words) -> Words:
    """One step of SplitMix64: the numbers 0, 1, 2, ... come out as if drawn at random, without repetition."""
    words = words + _STEP
    words = (words ^ (words >> _SHIFTS[0])) * _FACTORS[0]
    words = (words ^ (words >> _SHIFTS[1])) * _FACTORS[1]
    return words ^ (words >> _SHIFTS[2])


def hashed(*parts: int | Numbers | Words) -> Words:
    """One word for each place of ``parts``, whose shapes are broadcast; a change of any part changes it."""
    words = np.zeros(1, np.uint64)  # not a scalar, whose arithmetic would warn about wrapping around
    for part in parts:
        words = mixed(words ^ np.asarray(part).astype(np.uint64))
    return words


def uniform(words: Words) -> npt.NDArray[np.float64]:
    """The words as numbers from 0 to below 1."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def skewed(words: Words, size: int) -> Numbers:
    """The words as numbers below ``size``, low ones more often: the lower quarter gets half of them."""
    share = uniform(words)
    return (share * share * size).astype(np.int64)
