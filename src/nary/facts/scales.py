"""Literals as numbers on a scale, so that they can be compared: 66000 is near 65000, and 2025 comes after 1903.

Every type has its scale, and every unit one of its own: nothing converts kilograms to pounds. Dates are in years, times
in hours. Points and texts have no scale.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nary.facts.literal import MARK, Literal

Numbers = npt.NDArray[np.float64]
_DATE = re.compile(r"([+-]?)([0-9]{4,})(?:-([0-9]{2}))?(?:-([0-9]{2}))?")
_LARGEST = 1e300
_MEAN_MONTH = 365.25 / 12


@dataclass(frozen=True, eq=False)
class Scales:
    """The literals of a vocabulary that are on a scale, ordered by scale.

    A scale has the number of its first literal among those of other scales, so that names which are added to a
    vocabulary do not change it.
    """

    names: tuple[str, ...]
    """Of the scales: the type, and the unit after a colon."""
    ids: npt.NDArray[np.int64]
    """The ids of the literals [L]."""
    scales: npt.NDArray[np.int64]
    """The number of the scale of each [L], ascending."""
    values: Numbers
    """What each is on its scale [L]."""

    @classmethod
    def of(cls, entities: Sequence[str]) -> "Scales":
        """The literals among ``entities``."""
        numbers: dict[str, int] = {}
        rows = []
        for i, name in enumerate(entities):
            if (MARK in name or name[:1] in "+-") and (place := on_scale(name)) is not None:
                rows.append((i, numbers.setdefault(place[0], len(numbers)), place[1]))
        rows.sort(key=lambda row: row[1])
        ids, scales, values = zip(*rows, strict=True) if rows else ((), (), ())
        return cls(tuple(numbers), np.array(ids, np.int64), np.array(scales, np.int64), np.array(values, np.float64))

    def by_entity(self, num_entities: int) -> tuple[npt.NDArray[np.int64], Numbers]:
        """The scale of each entity [E], -1 for those on none, and its value, which is NaN for these."""
        scales, values = np.full(num_entities, -1), np.full(num_entities, np.nan)
        scales[self.ids], values[self.ids] = self.scales, self.values
        return scales, values


def on_scale(name: str) -> tuple[str, float] | None:
    """The scale of a literal and its value there; None for other names.

    >>> on_scale("5^^quantity:kg")
    ('quantity:kg', 5.0)
    """
    if MARK not in name:  # the times of WikiPeople: +1903-00-00T00:00:00Z#0#0#0#9#http://...
        return ("date", _years(name)) if "T00:00:00Z#" in name and _DATE.match(name) else None
    literal = Literal.from_name(name)
    if literal is None:
        return None
    if literal.type in ("number", "quantity"):
        scale = f"{literal.type}:{literal.unit}" if literal.unit else literal.type
        return scale, min(max(float(literal.value), -_LARGEST), _LARGEST)
    if literal.type in ("date", "datetime"):
        date, _, time = literal.value.partition("T")
        return "date", _years(date) + (_hours(time) / 24 / 365.25 if time else 0.0)
    return ("time", _hours(literal.value)) if literal.type == "time" else None


def _years(date: str) -> float:
    """Years as decimals; a month or day that is missing or 0 is the first."""
    sign, year, month, day = _DATE.match(date).groups()  # type: ignore[union-attr]
    days = (max(1, int(month or 1)) - 1) * _MEAN_MONTH + max(1, int(day or 1)) - 1
    return min((-1 if sign == "-" else 1) * float(year) + days / 365.25, _LARGEST)


def _hours(time: str) -> float:
    """Hours since midnight, whatever the zone."""
    hours, minutes, *seconds = re.match(r"[0-9:.]+", time).group().split(":")  # type: ignore[union-attr]
    return int(hours) + int(minutes) / 60 + float(seconds[0] if seconds else 0) / 3600
