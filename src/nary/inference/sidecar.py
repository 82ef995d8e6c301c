"""The file beside a file of answers that says which model gave them, and with which options."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from nary.errors import OutputError
from nary.files.reading import read_bytes
from nary.files.writing import atomic_path
from nary.version import __version__

_HINT = "Give another --out, or remove that file."


def sidecar_path(out: Path) -> Path:
    """``answers.jsonl.meta.json`` for ``answers.jsonl``."""
    return out.with_name(f"{out.name}.meta.json")


def write_sidecar(out: Path, about: Mapping[str, Any]) -> None:
    """Write what the answers are about: the fingerprint of the model, and options."""
    content = orjson.dumps({**about, "nary": __version__}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    with atomic_path(sidecar_path(out)) as temporary:
        temporary.write_bytes(content)


def check_sidecar(out: Path, about: Mapping[str, Any]) -> None:
    """Refuse to go on with answers of another model, by other options, or of unknown origin."""
    path = sidecar_path(out)
    try:
        stored = orjson.loads(read_bytes(path)) if path.is_file() else None
    except orjson.JSONDecodeError:
        stored = None
    if not isinstance(stored, dict):
        raise OutputError(f"cannot continue {out}: {path.name} is missing or damaged", _HINT)
    for key, value in about.items():
        if key == "model" and stored.get(key) != value:
            raise OutputError(f"{out} holds answers from another model", _HINT)
        if stored.get(key) != value:
            raise OutputError(f"{out} holds answers with {key} {stored.get(key)}, not {value}", _HINT)
