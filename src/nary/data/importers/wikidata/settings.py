"""What to import from a Wikidata dump."""

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nary.errors import DataError, SettingError, did_you_mean
from nary.files.reading import read_bytes

DATATYPES = (
    *("wikibase-item", "wikibase-property", "wikibase-lexeme", "wikibase-form", "wikibase-sense", "entity-schema"),
    *("quantity", "time", "globe-coordinate", "monolingualtext", "string"),
)
"""The datatypes whose values are imported."""

OTHER_DATATYPES = ("external-id", "url", "commonsMedia", "geo-shape", "tabular-data", "math", "musical-notation")
"""Datatypes that are left out unless asked for: nearly all their values occur once and say nothing to a model."""

_MAX_IDS = 1 << 30  # bytes


@dataclass(frozen=True)
class WikidataSettings:
    """Filters and choices of an import; an empty filter lets everything pass.

    ``properties`` are those whose statements are imported. ``classes`` and ``ids`` choose the entities whose statements
    are imported: instances (P31) of these classes, or these entities. ``languages`` are those of labels, the first that
    an entity has. ``best_rank`` drops statements of normal rank beside preferred ones. ``datatypes`` are some of
    :data:`OTHER_DATATYPES`. ``keep_missing`` keeps unknown and missing values, as the entities ``somevalue`` and
    ``novalue``. ``without_qualifiers`` accepts a dump that has no qualifiers.
    """

    properties: Collection[str] = ()
    classes: Collection[str] = ()
    ids: Collection[str] = ()
    languages: Collection[str] = ("en", "mul")
    best_rank: bool = False
    datatypes: Collection[str] = ()
    keep_missing: bool = False
    without_qualifiers: bool = False

    def check(self) -> None:
        """Refuse what cannot be the id of a property or class, or a datatype."""
        for what, ids, letter in (("property", self.properties, "P"), ("class", self.classes, "Q")):
            for id in ids:
                if not re.fullmatch(rf"{letter}[1-9][0-9]*", id):
                    raise SettingError(f"{id!r} is not the id of a {what}", f"Write it like {letter}31.")
        for datatype in self.datatypes:
            if datatype not in OTHER_DATATYPES:
                raise SettingError(
                    f"no datatype to add is called {datatype!r}", did_you_mean(datatype, OTHER_DATATYPES)
                )

    def as_dict(self) -> Mapping[str, Any]:
        """Return the settings for files; a list of ids is told by its length and hash."""
        digest = hashlib.sha256("\n".join(sorted(self.ids)).encode()).hexdigest()
        return {
            "properties": sorted(self.properties),
            "classes": sorted(self.classes),
            "ids": f"{len(self.ids)} ids, sha256 {digest}" if self.ids else "",
            "languages": list(self.languages),
            "best_rank": self.best_rank,
            "datatypes": sorted(self.datatypes),
            "keep_missing": self.keep_missing,
            "without_qualifiers": self.without_qualifiers,
        }


def read_ids(path: Path) -> frozenset[str]:
    """Read ids of entities, one per line."""
    try:
        lines = read_bytes(path, _MAX_IDS).decode().split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot be read: {reason}", "Expected a text file with one id per line.", str(path)) from None
    ids = {}
    for number, line in enumerate(lines, 1):
        if id := line.strip():
            if not re.fullmatch(r"[A-Z][1-9][0-9]*", id):
                raise DataError(f"{id[:40]!r} is not the id of an entity", "Write it like Q42.", str(path), number)
            ids[id] = True
    if not ids:
        raise DataError("has no ids", "Expected one id per line, such as Q42.", str(path))
    return frozenset(ids)
