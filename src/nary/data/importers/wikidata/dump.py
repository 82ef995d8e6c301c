"""A JSON dump of Wikidata as lines with entities: an array with one entity per line, or JSON Lines."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

import orjson

from nary.data.files import Source, display_name
from nary.data.importers.wikidata.statements import NO_QUALIFIERS
from nary.errors import DataError

MAX_LINE = 1 << 26
"""Maximum length of a line in bytes: the largest entities take a few megabytes."""

_BRACKETS = (b"", b"[", b"]", b"],")
_KEYS = (b'"mainsnak"', b'"sitelinks"')  # which the entities at the beginning of a dump have
_RDF = re.compile(rb"^\s*(?:<https?://|@prefix|@base|PREFIX|BASE|_:)", re.IGNORECASE)
_HINT = 'Expected one entity per line: {"type": "item", "id": "Q42", "labels": {...}, "claims": {...}}'


def is_dump(head: bytes) -> bool:
    """Whether a file that begins with ``head`` looks like a dump of Wikidata."""
    return head.lstrip().startswith((b"[", b"{")) and any(key in head for key in _KEYS)


def check_head(path: PurePath, head: bytes) -> None:
    """Refuse RDF, of which Wikidata has dumps, too."""
    if _RDF.match(head):
        raise DataError("is RDF, not JSON", NO_QUALIFIERS, display_name(path), 1)


def entities(source: Source, skipped: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield the number and content of each line that has an entity; ``skipped`` lines at the beginning are not read."""
    number = 0
    for chunk in source.chunks(MAX_LINE):
        if number < skipped and (lines := chunk.count(b"\n") + 1) <= skipped - number:
            number += lines
            continue
        for line in chunk.split(b"\n"):
            number += 1
            content = line.strip()
            if number > skipped and content not in _BRACKETS:
                yield number, content


def parse_entity(line: bytes) -> Mapping[str, Any]:
    """Parse the entity on a line, which may end in a comma, or begin or end an array."""
    if len(line) > MAX_LINE:
        raise DataError(f"a line of more than {MAX_LINE:,} bytes", _HINT)
    text = line.rstrip(b",")
    text = text[1:] if text.startswith(b"[") else text
    try:
        entity = orjson.loads(text.removesuffix(b"]") if text.endswith(b"}]") else text)
    except orjson.JSONDecodeError as error:
        if b'},{"type":' in text:
            raise DataError(
                "several entities on one line", "Write one per line, for example with jq -c '.[]'."
            ) from None
        raise DataError(f"not JSON: {error}", _HINT) from None
    if not isinstance(entity, dict):
        raise DataError("expected the JSON object of an entity", _HINT)
    if not isinstance(entity.get("id"), str) or not entity["id"]:
        raise DataError(f"an entity without id: it has {', '.join(entity) or 'no keys'}"[:200], _HINT)
    return entity
