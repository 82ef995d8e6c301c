"""What tuning tries: values and ranges for keys of a recipe."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, log
from typing import Any

from nary.config import parse_overrides
from nary.errors import SettingError


@dataclass(frozen=True)
class Range:
    """All numbers from ``low`` to ``high``, whole ones if both are; with ``log``, small ones are as likely as large."""

    low: float
    high: float
    log: bool = False

    @property
    def whole(self) -> bool:
        """Whether the range is of whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    def draw(self, generator: random.Random) -> float:
        """A random number of the range."""
        if self.log:
            return self.rounded(exp(generator.uniform(log(self.low), log(self.high))))
        return self.rounded(generator.uniform(self.low, self.high))

    def rounded(self, value: float) -> float:
        """Three digits say enough, and name a folder well."""
        return round(value) if self.whole else float(f"{min(max(value, self.low), self.high):.3g}")


Space = Mapping[str, Sequence[Any] | Range]
"""What to try for each key of a recipe, such as ``model.dropout``: some values, or a range."""
Values = dict[str, Any]


def parse_space(grids: Sequence[str], ranges: Sequence[str] = ()) -> Space:
    """Parse grids such as ``model.dropout=0.1,0.2`` and ranges such as ``training.learning_rate=1e-4:1e-2:log``.

    Values are TOML or plain words.
    """
    space: dict[str, Sequence[Any] | Range] = {}
    for parse, texts in ((_parse_values, grids), (_parse_range, ranges)):
        for text in texts:
            key, _, given = text.partition("=")
            choice = parse(key.strip(), given, text)
            if key.strip() in space:
                raise SettingError(f"{key} is given twice", f"List all values at once: --grid {key}=VALUE,VALUE")
            space[key.strip()] = choice
    return space


def _parse_values(key: str, given: str, text: str) -> Sequence[Any] | Range:
    parts = given.split(",")
    if not all(part.strip() for part in parts):
        raise SettingError(f"cannot read the grid {text!r}", "Write table.key=value,value: model.dropout=0.1,0.2")
    return [_value(key, part) for part in parts]


def _parse_range(key: str, given: str, text: str) -> Sequence[Any] | Range:
    low, high, *scale = [part.strip() for part in given.split(":")] if ":" in given else ["", ""]
    hint = "Write table.key=low:high or low:high:log, with 0 < low: training.learning_rate=1e-4:1e-2:log"
    ends = [_value(key, end) for end in (low, high) if end]
    if len(ends) != 2 or not all(type(end) in (int, float) for end in ends) or scale not in ([], ["log"]):
        raise SettingError(f"cannot read the range {text!r}", hint)
    if ends[0] >= ends[1] or (scale and ends[0] <= 0):
        raise SettingError(f"not a range: {text!r}", hint)
    return Range(ends[0], ends[1], log=bool(scale))


def _value(key: str, text: str) -> Any:
    return parse_overrides([f"{key}={text}"])[key]


def combinations(space: Space) -> list[Values]:
    """All combinations of values, and of the ends of ranges; the last key varies fastest."""
    listed = [[choice.low, choice.high] if isinstance(choice, Range) else choice for choice in space.values()]
    return [dict(zip(space, values, strict=True)) for values in product(*listed)]


def one_at_a_time(space: Space) -> list[Values]:
    """The unchanged recipe, then every value on its own."""
    return [{}, *({key: value} for key, values in space.items() for value in values)]  # type: ignore[union-attr]
