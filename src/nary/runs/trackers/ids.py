"""Which run of a tool a run folder belongs to, so that a resumed training goes on with it."""

from pathlib import Path

import orjson

from nary.files.reading import read_bytes
from nary.files.writing import atomic_path

_FILE = "tracking.json"


def stored_id(folder: Path | None, tool: str) -> str | None:
    """The id that was stored."""
    if folder is None or not (folder / _FILE).is_file():
        return None
    ids = orjson.loads(read_bytes(folder / _FILE))
    return str(ids[tool]) if tool in ids else None


def store_id(folder: Path | None, tool: str, id: str) -> None:
    """Store an id beside those of other tools."""
    if folder is None:
        return
    ids = orjson.loads(read_bytes(folder / _FILE)) if (folder / _FILE).is_file() else {}
    with atomic_path(folder / _FILE) as temporary:
        temporary.write_bytes(orjson.dumps({**ids, tool: id}))
