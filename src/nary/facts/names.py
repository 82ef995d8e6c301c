"""Very many names in little memory: their text, one after the other, and where each begins.

A Python string takes fifty bytes besides its characters, and its entry in a dictionary a hundred. Here a name takes its
bytes in UTF-8 and eight more. The two arrays can be mapped into memory from files, which processes then share.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, pairwise
from operator import lt
from typing import TypeVar, overload

import numpy as np
import numpy.typing as npt

MANY_NAMES = 1_000_000
"""From here on names are packed: fewer are quicker to look up as Python strings."""
_PIECE = 1 << 16
_T = TypeVar("_T")


class PackedNames(Sequence[str]):
    """Names as a sequence like a tuple.

    ``text`` holds their UTF-8, and name ``i`` is ``text[offsets[i] : offsets[i + 1]]``. The first ``num_sorted`` are
    sorted by code point, without repetitions, and are looked up by bisection; the others are in a dictionary.
    """

    def __init__(self, text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], num_sorted: int) -> None:
        self.text = text
        self.offsets = offsets
        self.num_sorted = num_sorted
        self._bytes = memoryview(text)  # type: ignore[arg-type]

    @classmethod
    def of(cls, names: Iterable[str]) -> "PackedNames":
        """Pack ``names``, of which only a few are Python strings at a time."""
        text, lengths = bytearray(), bytearray()
        num_sorted, last = 0, b""
        for piece in pieces(names):
            encoded = [encode(name) for name in piece]
            if num_sorted * 8 == len(lengths):  # all so far
                ascending = map(lt, [last, *encoded], encoded)
                num_sorted += next((i for i, is_larger in enumerate(ascending) if not is_larger), len(encoded))
            last = encoded[-1]
            text += b"".join(encoded)
            lengths += np.array([len(each) for each in encoded], np.int64).tobytes()
        offsets = np.zeros(len(lengths) // 8 + 1, np.int64)
        np.cumsum(np.frombuffer(lengths, np.int64), out=offsets[1:])
        return cls(np.frombuffer(text, np.uint8), offsets, num_sorted)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[str, ...]: ...
    def __getitem__(self, i: int | slice) -> str | tuple[str, ...]:
        if isinstance(i, slice):
            return tuple(self[k] for k in range(*i.indices(len(self))))
        if not -len(self) <= i < len(self):
            raise IndexError("no name has this number")
        return str(self._encoded(i % len(self)), "utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _PIECE):
            offsets = self.offsets[start : start + _PIECE + 1].tolist()
            for begin, end in pairwise(offsets):
                yield str(self._bytes[begin:end], "utf-8", "surrogatepass")

    def __contains__(self, name: object) -> bool:
        return name in self.ids

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))  # that of an equal tuple

    def __repr__(self) -> str:
        return f"PackedNames({len(self):,} names)"

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """The number of each name."""
        return _Ids(self)

    def _encoded(self, i: int) -> bytes:
        return bytes(self._bytes[self.offsets.item(i) : self.offsets.item(i + 1)])

    def _place(self, name: str) -> int | None:
        """The number of a name among the sorted ones."""
        wanted = encode(name)
        i = bisect_left(range(self.num_sorted), wanted, key=self._encoded)
        return i if i < self.num_sorted and self._encoded(i) == wanted else None


class _Ids(Mapping[str, int]):
    """The numbers of packed names."""

    def __init__(self, names: PackedNames) -> None:
        self._names = names
        rest = range(names.num_sorted, len(names))
        self._rest = {names[i]: i for i in rest}

    def __getitem__(self, name: str) -> int:
        i = self._names._place(name) if isinstance(name, str) else None
        return self._rest[name] if i is None else i

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class PackedMapping(Mapping[str, _T]):
    """Something for each of some names, stored as text: labels, or types."""

    def __init__(self, names: PackedNames, texts: PackedNames, convert: Callable[[str], _T]) -> None:
        if len(names) != len(texts):
            raise ValueError(f"{len(texts):,} texts for {len(names):,} names")
        self._names = names
        self._texts = texts
        self._convert = convert

    def __getitem__(self, name: str) -> _T:
        return self._convert(self._texts[self._names.ids[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def pack(names: Sequence[str]) -> Sequence[str]:
    """Very many names packed, fewer as a tuple."""
    if isinstance(names, PackedNames):
        return names
    return PackedNames.of(names) if len(names) >= MANY_NAMES else tuple(names)


def encode(name: str) -> bytes:
    """A name as it is stored; bytes sort like code points."""
    return name.encode("utf-8", "surrogatepass")


def pieces(names: Iterable[str]) -> Iterator[list[str]]:
    """A few names at a time, as lists that are not empty."""
    rest = iter(names)
    while piece := list(islice(rest, _PIECE)):
        yield piece
