"""The known names nearest to an unknown one: no name is better than one that nobody can have meant."""

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import islice

import numpy as np
import numpy.typing as npt

_SIMILAR = 0.8  # the share of characters that must agree
_SHORTEST = 3  # of texts that are compared with parts of names
_LONGEST = 200  # of texts that are compared at all: time grows with the square
_COMPARED = 500  # texts, those with the most letters in common
_LETTERS = 32  # that are counted; others are counted as one of these
_CHUNK = 50_000  # texts counted at a time


def fold(text: str) -> str:
    """The text in lower case and without accents."""
    if text.isascii():
        return text.lower()
    return "".join(one for one in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(one))


class NearestTexts:
    """Finds texts that are spelled almost like another one or, if there are none, that have all of its words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [" ".join(_words(text)) for text in texts]
        self._lengths = np.array([len(text) for text in self._texts], np.int64)
        chunks = (self._texts[at : at + _CHUNK] for at in range(0, len(self._texts), _CHUNK))
        self._letters = np.concatenate([_letters([""]), *map(_letters, chunks)])[1:]

    def find(self, text: str, limit: int) -> list[int]:
        """The places of at most ``limit`` texts, the nearest first.

        Numbers are names: ``1911`` is not nearly ``1912``, nor ``Q17`` nearly ``Q18``.
        """
        words = _words(text)
        wanted = " ".join(words)
        if not 0 < len(wanted) <= _LONGEST:
            return []
        near = [(1 - similarity, place) for place, similarity in self._spelled_like(wanted)]
        if not near and len(wanted) >= _SHORTEST:
            near = [(len(other), place) for place, other in enumerate(self._texts) if _holds(other, words)]
        return [place for _, place in sorted(near)[:limit]]

    def _spelled_like(self, wanted: str) -> list[tuple[int, float]]:
        """The places of texts with similar spelling, and how similar each is."""
        shared = np.minimum(self._letters, _letters([wanted])).sum(1, dtype=np.int64)
        highest = 2 * shared / np.maximum(1, self._lengths + len(wanted))  # similarity cannot be higher
        places = np.flatnonzero(highest >= _SIMILAR)
        places = places[np.argsort(-highest[places], kind="stable")].tolist()
        numbers = _numbers(wanted)
        same_numbers = (place for place in places if _numbers(self._texts[place]) == numbers)
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(wanted)
        near = []
        for place in islice(same_numbers, _COMPARED):
            matcher.set_seq1(self._texts[place])
            if (similarity := matcher.ratio()) >= _SIMILAR:
                near.append((place, similarity))
        return near


def _letters(texts: Sequence[str]) -> npt.NDArray[np.uint8]:
    """How often each letter occurs in each text [n, letters]."""
    codes = np.frombuffer("\0".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    numbers = np.cumsum(codes == 0)
    kept = codes != 0
    counts = np.bincount(numbers[kept] * _LETTERS + codes[kept] % _LETTERS, minlength=len(texts) * _LETTERS)
    return counts.clip(max=255).astype(np.uint8).reshape(-1, _LETTERS)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", fold(text))


def _numbers(text: str) -> list[str]:
    """The numbers in a text, without leading zeros."""
    return re.findall(r"0*(\d+)", text)


def _holds(text: str, words: Sequence[str]) -> bool:
    """Whether each word is the beginning of a word of ``text``."""
    padded = f" {text}"
    return all(f" {word}" in padded for word in words)
