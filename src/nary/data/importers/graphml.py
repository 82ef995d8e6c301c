"""GraphML: nodes and edges with typed data, as NetworkX, Gephi, yEd and APOC write them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat

from nary.data.files import Source
from nary.data.importers.tables import Table, table_of_rows
from nary.errors import DataError
from nary.progress import Progress, no_progress

_NUMBERS = ("int", "long", "float", "double")


def read_graphml(path: Path, progress: Progress = no_progress) -> tuple[Table, Table]:
    """Read the nodes and edges of a GraphML file."""
    reader = _Reader()
    with Source(path, progress) as source:
        try:
            for piece in source.pieces():
                reader.parser.Parse(piece)
            reader.parser.Parse(b"", True)
        except expat.ExpatError as error:
            reason = expat.errors.messages[error.code]
            raise DataError(f"not XML: {reason}", "Expected a GraphML file.", source.name, error.lineno) from None
        except _GraphmlError as error:
            raise DataError(str(error), error.hint, source.name, reader.parser.CurrentLineNumber) from None
    if not reader.rows["edge"]:
        raise DataError("has no edges", "Expected a GraphML file with at least one edge.", source.name)
    return tuple(  # type: ignore[return-value]
        table_of_rows(f"{source.name} ({what}s)", reader.rows[what], reader.lines[what]) for what in ("node", "edge")
    )


class _GraphmlError(Exception):
    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class _Reader:
    """Collects nodes and edges while the parser reads."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self.rows: dict[str, list[dict[str, Any]]] = {"node": [], "edge": []}
        self.lines: dict[str, list[int]] = {"node": [], "edge": []}
        self._keys: dict[str, tuple[str, str]] = {}
        self._element: dict[str, Any] | None = None
        self._key: str | None = None
        self._data: list[str] = []
        self._seen_graph = False

    def _refuse_doctype(self, *_: object) -> None:
        raise _GraphmlError("has a document type, which may define entities", "Remove the DOCTYPE.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if tag == "graph":
            self._seen_graph = True
        elif tag == "key":
            key = attributes.get("id", "")
            self._keys[key] = attributes.get("attr.name", key), attributes.get("attr.type", "string")
        elif tag in ("node", "edge"):
            self._element = dict(self._attributes(tag, attributes))
            self.rows[tag].append(self._element)
            self.lines[tag].append(self.parser.CurrentLineNumber)
        elif tag == "data":
            self._key, self._data = attributes.get("key"), []
        elif not self._seen_graph and tag not in ("graphml", "desc", "default"):
            raise _GraphmlError(f"contains <{tag}>, which is not GraphML", "Expected <graphml> and <graph>.")

    def _attributes(self, tag: str, attributes: dict[str, str]) -> Iterator[tuple[str, str | list[str]]]:
        needed = {"node": {"id": "_id"}, "edge": {"source": "_start", "target": "_end"}}[tag]
        for attribute, column in needed.items():
            if attribute not in attributes:
                raise _GraphmlError(f"<{tag}> without {attribute}", f"Each {tag} needs {' and '.join(needed)}.")
            yield column, attributes[attribute]
        if "labels" in attributes:
            yield "_labels", [label for label in attributes["labels"].split(":") if label]
        if tag == "edge" and "label" in attributes:
            yield "_type", attributes["label"]
        if tag == "edge" and "id" in attributes:
            yield "_id", attributes["id"]

    def _text(self, text: str) -> None:
        if self._key is not None:
            self._data.append(text)

    def _end(self, name: str) -> None:
        if name.rpartition(" ")[2] == "data" and self._key is not None:
            column, type = self._keys.get(self._key, (self._key, "string"))
            text = "".join(self._data).strip()
            if self._element is not None and text:
                self._element.setdefault(column, self._value(text, type))
            self._key = None

    def _value(self, text: str, type: str) -> str | int | float:
        if type not in _NUMBERS:
            return text
        try:
            return int(text) if type in ("int", "long") else float(text)
        except ValueError:
            raise _GraphmlError(
                f"{text!r} is not of the type {type}", "Correct it, or change the key's type."
            ) from None
