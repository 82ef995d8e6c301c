"""The formats facts come in, and telling them apart."""

import json
from pathlib import PurePath

from nary.data.files import PACKED, shown
from nary.data.formats import parquet
from nary.data.formats.jsonl import JsonLines
from nary.data.formats.lines import LineFormat
from nary.data.formats.separated import HyperRelational, NumberedTuples, Tuples
from nary.data.formats.wikipeople import Gran, WikiPeopleJson, WikiPeopleRoles
from nary.errors import DataError, SettingError, did_you_mean

LINE_FORMATS: dict[str, type[LineFormat]] = {
    kind.name: kind
    for kind in (JsonLines, HyperRelational, Tuples, NumberedTuples, WikiPeopleJson, WikiPeopleRoles, Gran)
}
NAMES = (*LINE_FORMATS, "parquet")
"""The names of all formats."""

BY_EXTENSION = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".tsv": "hyper-relational",
    ".csv": "hyper-relational",
}


def extension(path: PurePath) -> str:
    """The extension that tells the format: ``.jsonl`` of ``facts.jsonl.gz``."""
    return path.with_suffix("").suffix if path.suffix in PACKED else path.suffix


def by_extension(path: PurePath) -> str | None:
    """The format the name of a file tells, if it does."""
    return BY_EXTENSION.get(extension(path))


def known(name: str) -> str:
    """``name`` if it is a format's."""
    if name not in NAMES:
        raise SettingError(f"unknown format {name!r}", did_you_mean(name, NAMES))
    return name


def detect(path: PurePath, head: bytes) -> str:
    """The format of a file by its first bytes and its extension."""
    told = by_extension(path)
    if head.startswith(parquet.MAGIC):
        return "parquet"
    if told == "parquet":
        raise DataError("is not a Parquet file", "Check the file, or give its format with --format.", shown(path))
    line = _first_line(head)
    if _is_roles(line):
        return "wikipeople-roles"
    if told == "hyper-relational" and not _is_json(line):
        return told  # an entity may start with a bracket
    if line.startswith("["):
        raise DataError(
            "holds a JSON array",
            'Write one JSON object a line: {"subject": ..., "relation": ..., "object": ...}',
            shown(path),
        )
    if line.startswith("{") or told == "jsonl":
        return _json_kind(line, told)
    return "hyper-relational"


def _first_line(head: bytes) -> str:
    text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    return next((line for line in text.split("\n") if line.strip()), "").strip()


def _is_roles(line: str) -> bool:
    joined, tab, _ = line.partition("\t")
    roles = joined.split("/")
    return bool(tab) and any(role.endswith("_h") and f"{role[:-2]}_t" in roles for role in roles)


def _is_json(line: str) -> bool:
    try:
        return isinstance(json.loads(line), list | dict)
    except (ValueError, RecursionError):
        return False


def _json_kind(line: str, told: str | None) -> str:
    try:
        keys = json.loads(line)
    except (ValueError, RecursionError):
        return "jsonl"
    if not isinstance(keys, dict):
        return "jsonl"
    if {"N", "relation", "subject", "object"} <= keys.keys():
        return "gran"
    if "qualifiers" in keys:
        return "jsonl"
    if any(key.endswith("_h") for key in keys) and any(key.endswith("_t") for key in keys):
        return "wikipeople"
    extra = set(keys) - {"relation", "subject", "object", "split"}
    gran = "N" in extra or (told != "jsonl" and any(_is_names(keys[key]) for key in extra))
    return "gran" if gran else "jsonl"


def _is_names(value: object) -> bool:
    """Whether ``value`` is what gran files have for an attribute, and not ours under a misspelled key."""
    return isinstance(value, list) and bool(value) and all(isinstance(name, str) for name in value)
