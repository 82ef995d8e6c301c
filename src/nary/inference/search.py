"""Search while typing: names by a part of the name or of its label, ignoring case and accents.

The texts are sorted and stand one after the other in one array of bytes, about as large as the names themselves. What
begins with a text is looked up; what contains it is found by reading the array.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np

from nary.inference.nearest import fold

_SEPARATOR = "\0"  # no name holds it
_CHUNK = 100_000  # names that are folded at a time


class SearchIndex:
    """Finds the places of names; ``label`` tells the label of a name."""

    def __init__(self, names: Sequence[str], label: Callable[[str], str]) -> None:
        import polars as pl

        schema = {"text": pl.String(), "place": pl.Int32()}
        places_of_texts = _texts(names, label)
        parts = [pl.DataFrame(schema=schema)]
        while chunk := list(islice(places_of_texts, _CHUNK)):
            parts.append(pl.DataFrame(dict(zip(schema, zip(*chunk, strict=True), strict=True)), schema))
        texts = pl.concat(parts).sort("text", maintain_order=True)  # those that are equal, in the order of places
        del parts
        self._places = texts["place"].to_numpy()
        lengths = texts["text"].str.len_bytes().to_numpy().astype(np.int64)
        self._starts = np.concatenate([[0], np.cumsum(lengths + 1)])
        joined = bytearray()
        for part in texts.iter_slices(_CHUNK):
            joined += "".join(f"{text}{_SEPARATOR}" for text in part["text"]).encode()
        self._joined = bytes(joined)

    def __len__(self) -> int:
        return len(self._places)

    def starting(self, text: str, limit: int) -> list[int]:
        """The places of at most ``limit`` names that begin with ``text``, in alphabetical order."""
        return _first(self._beginning(_encoded(text)), limit)

    def containing(self, text: str, limit: int) -> list[int]:
        """The places of at most ``limit`` names that contain ``text``, in alphabetical order."""
        return _first(self._anywhere(_encoded(text)), limit)

    def equal(self, text: str) -> list[int]:
        """The places of the names that are ``text`` but for case and accents, ascending."""
        part, number = _encoded(text), self._first_from(_encoded(text))
        places = []
        while number < len(self) and self._text(number) == part:
            places.append(int(self._places[number]))
            number += 1
        return list(dict.fromkeys(places))

    def around(self, text: str, count: int) -> list[tuple[str, int]]:
        """The ``count`` texts that are nearest to ``text`` in alphabetical order, with their places."""
        first = max(0, min(self._first_from(_encoded(text)) - count // 2, len(self) - count))
        numbers = range(first, min(first + count, len(self)))
        return [(self._text(number).decode(), int(self._places[number])) for number in numbers]

    def _beginning(self, part: bytes) -> Iterator[int]:
        for number in range(self._first_from(part), len(self)):
            if not self._text(number).startswith(part):
                return
            yield int(self._places[number])

    def _anywhere(self, part: bytes) -> Iterator[int]:
        at = self._joined.find(part)
        while 0 <= at < len(self._joined):
            number = int(np.searchsorted(self._starts, at, side="right")) - 1
            yield int(self._places[number])
            at = self._joined.find(part, self._starts[number + 1])

    def _first_from(self, part: bytes) -> int:
        """The number of the first text that is not before ``part``."""
        return bisect_left(range(len(self)), part, key=self._text)

    def _text(self, number: int) -> bytes:
        return self._joined[self._starts[number] : self._starts[number + 1] - 1]


def _texts(names: Sequence[str], label: Callable[[str], str]) -> Iterator[tuple[str, int]]:
    """All names and labels as they are compared, with their places, ascending."""
    for place, name in enumerate(names):
        yield _folded(name), place
        if (labeled := label(name)) != name:
            yield _folded(labeled), place


def _folded(text: str) -> str:
    folded = fold(text).replace(_SEPARATOR, " ")
    return folded if folded.isascii() else folded.encode(errors="replace").decode()  # without lone surrogates


def _encoded(text: str) -> bytes:
    return _folded(text).encode()


def _first(places: Iterator[int], limit: int) -> list[int]:
    """The first distinct ones."""
    return list(islice(dict.fromkeys(islice(places, 2 * limit)), limit))  # a place comes twice at most: name and label
