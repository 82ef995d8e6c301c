"""Labels that fit: cleaned, broken into at most two lines, and shortened where that is not enough."""

import re
import unicodedata
from itertools import accumulate

from nary.apps.drawing.style import LABEL_SIZE

ROOM = 190.0
"""The widest line of a label."""

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WIDTHS = {
    **dict.fromkeys("ijlI'|.,:;! ", 0.34),
    **dict.fromkeys('frtJ()[]{}-/\\"`*', 0.43),
    **dict.fromkeys("mMW@%", 0.98),
    **dict.fromkeys("wGOQ&+=<>~#_", 0.82),
}


def clean(text: str) -> str:
    """``text`` without the characters that XML does not allow, even escaped; they become the replacement mark."""
    return _NOT_IN_XML.sub("\ufffd", text)


def text_width(text: str, size: float = LABEL_SIZE) -> float:
    """How wide ``text`` becomes, rather too much than too little: the font of the viewer is unknown."""
    return size * sum(map(_character_width, text))


def fit(text: str, room: float = ROOM) -> tuple[str, ...]:
    """``text`` in one line or two of about equal length, shortened with an ellipsis if it needs more."""
    words = clean(text).split() or ["\u2423"]  # a label of white space alone is shown as an open box
    one = " ".join(words)
    if text_width(one) <= room:
        return (one,)
    starts = list(accumulate((text_width(word + " ") for word in words), initial=0.0))
    cuts = range(1, len(words))
    cut = min(cuts, key=lambda i: max(starts[i], starts[-1] - starts[i]), default=0)
    if cut and max(starts[cut], starts[-1] - starts[cut]) <= room:
        return " ".join(words[:cut]), " ".join(words[cut:])
    return _fill(one, room)


def _fill(text: str, room: float) -> tuple[str, str]:
    """A full first line, broken at a space if one is near its end, and as much of the rest as fits."""
    end = _fitting(text, room)
    space = text.rfind(" ", 0, end + 1)
    end = space if space > end // 2 else end
    first, rest = text[:end], text[end:].lstrip()
    if text_width(rest) > room:
        rest = rest[: _fitting(rest, room - text_width("…"))].rstrip() + "…"
    return first, rest


def _fitting(text: str, room: float) -> int:
    """How many characters of ``text`` fit."""
    return sum(width <= room for width in accumulate(map(text_width, text)))


def _character_width(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    return _WIDTHS.get(character, 0.74 if character.isupper() else 0.63)
