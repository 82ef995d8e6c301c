"""Labels that look like a mistake in the data or in how it was read."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypedDict

from nary.facts import Vocabulary

_LONG = 200
_EXAMPLES = 5
_MISSING = frozenset({"nan", "null", "none", "n/a", "#n/a", "undefined"})


class Finding(TypedDict):
    """How many labels are suspicious for one reason, and the first of them."""

    count: int
    examples: list[str]


def suspicious_labels(vocabulary: Vocabulary) -> dict[str, Finding]:
    """Findings by reason, for entities and relations together; only reasons that apply to some label."""
    found: dict[str, list[str]] = defaultdict(list)
    for names in (vocabulary.entities, vocabulary.relations):
        for name in names:
            for reason in _reasons(name):
                found[reason].append(name)
        found["differs from another only in case, white space or Unicode form"] += _near_equal(names)
    return {
        reason: {"count": len(names), "examples": names[:_EXAMPLES]} for reason, names in sorted(found.items()) if names
    }


def _reasons(name: str) -> Iterator[str]:
    """What is odd about one label."""
    if name != name.strip():
        yield "white space around it"
    if len(name) > _LONG:
        yield f"longer than {_LONG} characters"
    if name.casefold() in _MISSING:
        yield "looks like a missing value"
    if name.isascii() and name.isprintable():
        return
    if any(unicodedata.category(character) == "Cc" for character in name):
        yield "control characters"
    if "\ufffd" in name or any(unicodedata.category(character) == "Cs" for character in name):
        yield "broken encoding"
    if _misread(name, "cp1252") or _misread(name, "latin-1"):
        yield "UTF-8 that was read as another encoding"


def _misread(name: str, encoding: str) -> bool:
    """Whether ``name`` consists of the bytes of UTF-8 text, each shown as one character of ``encoding``."""
    try:
        return name.encode(encoding).decode("utf-8") != name
    except UnicodeError:
        return False


def _near_equal(names: Iterable[str]) -> list[str]:
    """Names that another one resembles but for case, white space or Unicode form, those of a kind side by side."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        alike[" ".join(unicodedata.normalize("NFC", name.casefold()).split())].append(name)
    return [name for group in alike.values() if len(group) > 1 for name in group]
