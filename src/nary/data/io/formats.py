"""The registry of file formats, and detection of the format of a file."""

import json
from collections.abc import Iterator
from pathlib import PurePath

from nary.data.files import display_name, extension
from nary.data.io.base import Format
from nary.data.rdf import is_rdf
from nary.errors import DataError
from nary.registry import Registry

_BUILT_IN = {
    "jsonl": "nary.data.io.jsonl:JsonLines",
    "hyper-relational": "nary.data.io.separated:HyperRelational",
    "tuples": "nary.data.io.separated:Tuples",
    "numbered-tuples": "nary.data.io.separated:NumberedTuples",
    "wikipeople": "nary.data.io.wikipeople:WikiPeopleJson",
    "wikipeople-roles": "nary.data.io.wikipeople:WikiPeopleRoles",
    "gran": "nary.data.io.wikipeople:Gran",
    "parquet": "nary.data.io.parquet:Parquet",
}
_PARQUET_MAGIC = b"PAR1"

FORMATS: Registry[type[Format]] = Registry("format", _BUILT_IN)
"""All file formats by name, including those of other packages (entry points ``nary.formats``)."""

register_format = FORMATS.register
"""Class decorator that registers a format: ``@nary.register_format("my-format")``."""


def format_from_extension(path: PurePath) -> str | None:
    """Return the format that the extension of a file identifies, if any."""
    ending = extension(path)
    names = _extensible_names() if ending else ()
    return next((name for name in names if ending in FORMATS.get(name).extensions), None)


def known_extensions() -> list[str]:
    """List the extensions that identify a format."""
    return [ending for name in FORMATS for ending in FORMATS.get(name).extensions]


def detect_format(path: PurePath, head: bytes) -> str:
    """Detect the format of a file from its first bytes and its extension.

    An extension that a registered format claims is decisive; for built-in formats the content counts first.
    """
    expected = format_from_extension(path)
    if expected is not None and expected not in _BUILT_IN:
        return expected
    if head.startswith(_PARQUET_MAGIC):
        return "parquet"
    if expected is None and is_rdf(path):
        raise DataError("is RDF", f"Import it first: nary import {path.name} --out DATA", display_name(path))
    if expected == "parquet":
        raise DataError(
            "is not a Parquet file", "Check the file, or give its format with --format.", display_name(path)
        )
    line = _first_line(head)
    if _is_roles(line):
        return "wikipeople-roles"
    if expected == "hyper-relational" and not _is_json(line):
        return expected  # an entity may start with a bracket
    if line.startswith("["):
        raise DataError(
            "contains a JSON array",
            'Write one JSON object per line: {"subject": ..., "relation": ..., "object": ...}',
            display_name(path),
        )
    if line.startswith("{") or expected == "jsonl":
        return _json_format(line, expected)
    return "hyper-relational"


def _extensible_names() -> Iterator[str]:
    """Built-in formats first: other packages are only imported for an extension that is not built in."""
    yield from _BUILT_IN
    yield from (name for name in FORMATS if name not in _BUILT_IN)


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


def _json_format(line: str, expected: str | None) -> str:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return "jsonl"
    if not isinstance(content, dict):
        return "jsonl"
    if {"N", "relation", "subject", "object"} <= content.keys():
        return "gran"
    if "qualifiers" in content:
        return "jsonl"
    if any(key.endswith("_h") for key in content) and any(key.endswith("_t") for key in content):
        return "wikipeople"
    extra = set(content) - {"relation", "subject", "object", "split"}
    is_gran = "N" in extra or (expected != "jsonl" and any(_is_list_of_names(content[key]) for key in extra))
    return "gran" if is_gran else "jsonl"


def _is_list_of_names(value: object) -> bool:
    """Whether ``value`` is the value of an attribute in a gran file, and not of a misspelled key of JSON Lines."""
    return isinstance(value, list) and bool(value) and all(isinstance(name, str) for name in value)
