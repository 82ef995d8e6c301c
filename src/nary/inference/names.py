"""Names as people write them: matched exactly, then by label, then whatever the case."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from nary.errors import DataError, SettingError, did_you_mean
from nary.facts import GAP, Element, Fact, Position, Query, Vocabulary
from nary.inference.results import Found
from nary.inference.search import SearchIndex
from nary.models.base import Kind

_Statement = TypeVar("_Statement", Fact, Query)
_SHOWN = 5  # of the names that an ambiguous text may mean


class Names:
    """Finds the entities and relations of a vocabulary by name or label."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._of: dict[Kind, _KindNames] = {
            "entity": _KindNames("entity", vocabulary.entities, vocabulary.entity_ids, vocabulary),
            "relation": _KindNames("relation", vocabulary.relations, vocabulary.relation_ids, vocabulary),
        }

    def entity(self, text: str) -> int:
        """The id of the entity that ``text`` names."""
        return self._of["entity"].id_of(text)

    def relation(self, text: str) -> int:
        """The id of the relation that ``text`` names."""
        return self._of["relation"].id_of(text)

    def find(self, text: str, kind: Kind | None = None) -> tuple[Kind, int]:
        """The kind and id of what ``text`` names; without a ``kind`` an entity or, if there is none, a relation."""
        if kind is not None:
            return kind, self._chosen(kind)[0].id_of(text)
        for own in self._of.values():
            if own.matches(text):
                return own.kind, own.id_of(text)
        known = [name for own in self._of.values() for name in own.names_and_labels]
        raise DataError(f"unknown name {text!r}", did_you_mean(text, known))

    def resolve(self, statement: _Statement) -> _Statement:
        """The same fact or query in the names of the vocabulary."""
        found: dict[Position, Element] = {}
        for position, element in statement.elements().items():
            own = self._of["entity" if position.role.is_entity else "relation"]
            found[position] = GAP if element is GAP else own.names[own.id_of(str(element))]
        return type(statement).from_elements(found)

    def search(self, text: str, kind: Kind | None = None, limit: int = 20) -> list[Found]:
        """Names that begin with ``text``, or whose label does, then those that hold it, whatever the case."""
        searched = self._chosen(kind)
        found: dict[tuple[Kind, int], Found] = {}
        for step in ("starting", "holding"):
            for own in searched:
                for i in getattr(own.index, step)(text, limit):
                    found.setdefault((own.kind, i), Found(own.names[i], own.labels[i], own.kind))
        return list(found.values())[:limit]

    def labeled(self, statement: Fact | Query) -> str:
        """The text form with labels instead of names, for people to read."""
        of = self._vocabulary.label
        elements = {at: GAP if element is GAP else of(str(element)) for at, element in statement.elements().items()}
        return str(type(statement).from_elements(elements))

    def _chosen(self, kind: Kind | None) -> "list[_KindNames]":
        if kind is not None and kind not in self._of:
            raise SettingError(f"{kind!r} is no kind of name", f"Expected {' or '.join(self._of)}.")
        return [own for own in self._of.values() if kind in (None, own.kind)]


class _KindNames:
    """The names of one kind."""

    def __init__(self, kind: Kind, names: Sequence[str], ids: Mapping[str, int], vocabulary: Vocabulary) -> None:
        self.kind = kind
        self.names = names
        self._ids = ids
        self._vocabulary = vocabulary

    def matches(self, text: str) -> Sequence[int]:
        """The ids ``text`` may mean."""
        if (exact := self._ids.get(text)) is not None:
            return [exact]
        return self._by_label.get(text) or self._by_folded.get(text.casefold()) or []

    def id_of(self, text: str) -> int:
        """The one id that ``text`` means."""
        found = self.matches(text)
        if not found:
            raise DataError(f"unknown {self.kind} {text!r}", did_you_mean(text, self.names_and_labels))
        if len(found) > 1:
            meant = ", ".join(self.names[i] for i in found[:_SHOWN]) + (", ..." if len(found) > _SHOWN else "")
            kinds = "entities" if self.kind == "entity" else "relations"
            raise DataError(f"{text!r} may mean {len(found):,} {kinds}", f"Write the name of the one you mean: {meant}")
        return found[0]

    @cached_property
    def labels(self) -> list[str]:
        """The label of each name."""
        return [self._vocabulary.label(name) for name in self.names]

    @property
    def names_and_labels(self) -> list[str]:
        """Everything that could have been written, once each."""
        return list(dict.fromkeys([*self.names, *self.labels]))

    @cached_property
    def index(self) -> SearchIndex:
        """For searching while typing."""
        return SearchIndex(self.names, self.labels)

    @cached_property
    def _by_label(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = {}
        for i, label in enumerate(self.labels):
            found.setdefault(label, []).append(i)
        return found

    @cached_property
    def _by_folded(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = {}
        for i, (name, label) in enumerate(zip(self.names, self.labels, strict=True)):
            for text in {name.casefold(), label.casefold()}:
                found.setdefault(text, []).append(i)
        return found
