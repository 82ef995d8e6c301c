"""How the columns of a property graph become facts: guessed, shown, changed by the user, and stored with the data."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import TypeAdapter, ValidationError

from nary.errors import DataError, SettingError
from nary.files.reading import read_bytes

FILE = "mapping.toml"
"""The mapping in a folder of imported data."""


@dataclass(frozen=True)
class EdgeMapping:
    """The columns of a table of edges. Each edge is a fact: start, type, end, and a qualifier for each further value.

    ``relation`` is the relation of all edges if there is no column for their ``type``; ``id`` is a column that names
    the edges. ``qualifiers`` gives the type of values of each other column in use.
    """

    file: str
    start: str
    end: str
    type: str = ""
    relation: str = ""
    id: str = ""
    qualifiers: dict[str, str] = field(default_factory=dict)

    def roles(self) -> Iterator[tuple[str, str]]:
        """Every column in use, and what it becomes."""
        yield self.start, "subject"
        yield self.type or f"(all: {self.relation})", "relation"
        yield self.end, "object"
        if self.id:
            yield self.id, "id of the edge, kept out of the facts"
        yield from ((column, f"qualifier: {type}") for column, type in self.qualifiers.items())


@dataclass(frozen=True)
class NodeMapping:
    """The columns of a table of nodes: ``id`` is the name of the entity, ``name`` its label, ``types`` its types.

    ``facts`` gives the type of values of each column that becomes a fact of its own: node, column, value.
    """

    file: str
    id: str
    name: str = ""
    types: str = ""
    all_types: str = ""
    facts: dict[str, str] = field(default_factory=dict)

    def roles(self) -> Iterator[tuple[str, str]]:
        """Every column in use, and what it becomes."""
        yield self.id, "entity"
        if self.name:
            yield self.name, "label of the entity"
        if self.types or self.all_types:
            yield self.types or f"(all: {self.all_types})", "types of the entity"
        yield from ((column, f"fact: {type}") for column, type in self.facts.items())


@dataclass(frozen=True)
class GraphMapping:
    """The mapping of all tables of a property graph."""

    edges: list[EdgeMapping]
    nodes: list[NodeMapping] = field(default_factory=list)

    def to_toml(self) -> str:
        """Return the text of the mapping file; what is empty is left out."""
        content = {key: [_without_empty(each) for each in tables] for key, tables in asdict(self).items() if tables}
        return tomli_w.dumps(content)

    @classmethod
    def read(cls, path: Path) -> "GraphMapping":
        """Read a mapping file."""
        try:
            content = tomllib.loads(read_bytes(path).decode())
            return TypeAdapter(cls).validate_python(content)
        except OSError as error:
            raise DataError(f"cannot be opened: {error.strerror}", "Check the path.", str(path)) from None
        except ValueError as error:
            reason = error.errors()[0] if isinstance(error, ValidationError) else None
            message = f"{'.'.join(map(str, reason['loc']))}: {reason['msg']}" if reason else str(error)
            raise DataError(
                f"is not a mapping: {message}", "nary import writes one beside the data.", str(path)
            ) from None

    def rows(self, columns: Mapping[str, Sequence[str]]) -> list[tuple[str, str, str]]:
        """Return file, column and what it becomes, for every one of ``columns`` by file."""
        rows: list[tuple[str, str, str]] = []
        tables: list[EdgeMapping | NodeMapping] = [*self.edges, *self.nodes]
        for table in tables:
            used = dict(table.roles())
            rows += [(table.file, column, role) for column, role in used.items()]
            rows += [(table.file, column, "not used") for column in columns[table.file] if column not in used]
        return rows


def check_types(types: Mapping[str, str], known: Sequence[str]) -> None:
    """Refuse a type of values that does not exist."""
    for column, type in types.items():
        if type not in known:
            raise SettingError(f"the type of column {column!r} is {type!r}", f"Expected one of {', '.join(known)}.")


def _without_empty(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if value}
