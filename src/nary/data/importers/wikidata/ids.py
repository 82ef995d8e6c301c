"""A set of ids of Wikidata."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl

_ID = r"^(?:.*:)?([A-Z])([0-9]{1,9})$"  # an entity, or a literal with one as its unit

_ONES = np.array([byte.bit_count() for byte in range(256)])


class IdSet:
    """A set of ids such as Q42, with a bit for each number: 20 MB for all entities of Wikidata."""

    def __init__(self) -> None:
        self._bits: dict[str, npt.NDArray[np.uint8]] = {}

    def add(self, names: Iterable[str]) -> None:
        """Add the ids among ``names``, and those that are units of literals."""
        parts = pl.Series(names, dtype=pl.String).str.extract_groups(_ID).struct.unnest().drop_nulls()
        for (letter,), rows in parts.group_by("1"):
            numbers = rows["2"].cast(pl.Int64).to_numpy()
            bits = self._bits.get(str(letter), np.zeros(0, np.uint8))
            missing = int(numbers.max() >> 3) + 1 - bits.size
            if missing > 0:
                bits = np.append(bits, np.zeros(missing + bits.size // 8, np.uint8))
            np.bitwise_or.at(bits, numbers >> 3, (1 << (numbers & 7)).astype(np.uint8))
            self._bits[str(letter)] = bits

    def __contains__(self, id: str) -> bool:
        bits, digits = self._bits.get(id[:1]), id[1:]
        if bits is None or not digits.isdecimal() or len(digits) > 9:
            return False
        number = int(digits)
        return number >> 3 < bits.size and bool(bits[number >> 3] & 1 << (number & 7))

    def __len__(self) -> int:
        return sum(int(np.bincount(bits, minlength=256) @ _ONES) for bits in self._bits.values())

    def to_bytes(self) -> bytes:
        """Return the set for a file."""
        sizes = orjson.dumps({letter: bits.size for letter, bits in self._bits.items()})
        return b"".join((sizes, b"\n", *(bits.tobytes() for bits in self._bits.values())))

    @classmethod
    def from_bytes(cls, content: bytes) -> "IdSet":
        """Read what :meth:`to_bytes` wrote."""
        sizes, _, rest = content.partition(b"\n")
        ids, start = cls(), 0
        for letter, size in orjson.loads(sizes).items():
            ids._bits[letter] = np.frombuffer(rest, np.uint8, size, start).copy()
            start += size
        return ids
