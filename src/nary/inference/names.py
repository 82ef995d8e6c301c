"""Names as people write them, matched exactly, then by label, then ignoring case; and search while typing."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TypeVar

from nary.errors import DataError, SettingError
from nary.facts import GAP, Element, Fact, Position, Query, Vocabulary
from nary.inference.nearest import NearestTexts, fold
from nary.inference.results import Found
from nary.models.base import Kind

_Statement = TypeVar("_Statement", Fact, Query)
_SHOWN = 5  # of the names that an ambiguous text may mean
_NEAREST = 3  # names that are offered for an unknown one
_FEW = 30  # names, which are all listed if none is near
_SEPARATOR = "\0"  # no name holds it


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
        for names in self._of.values():
            if names.matches(text):
                return names.kind, names.id_of(text)
        nearest = [name for names in self._of.values() for name in names.nearest_texts(text)]
        raise DataError(
            f"unknown name {text!r}", _hint(nearest, [n for names in self._of.values() for n in names.names])
        )

    def resolve(self, statement: _Statement, unseen: bool = False) -> _Statement:
        """The same fact or query in the names of the vocabulary; an ``unseen`` name is no error and stays as it is."""
        resolved: dict[Position, Element] = {}
        for position, element in statement.elements().items():
            names = self._of["entity" if position.role.is_entity else "relation"]
            if element is GAP or (unseen and not names.matches(str(element))):
                resolved[position] = element
            else:
                resolved[position] = names.names[names.id_of(str(element))]
        return type(statement).from_elements(resolved)

    def knows(self, statement: Fact | Query) -> bool:
        """Whether all names are written as in the vocabulary, so that :meth:`resolve` is quick."""
        return all(
            element is GAP
            or str(element)
            in (self._vocabulary.entity_ids if position.role.is_entity else self._vocabulary.relation_ids)
            for position, element in statement.elements().items()
        )

    def search(self, text: str, kind: Kind | None = None, limit: int = 20) -> list[Found]:
        """Names that begin with ``text``, or whose label does, then those that contain it.

        Case and accents are ignored.
        """
        searched = self._chosen(kind)
        hits: dict[tuple[Kind, int], Found] = {}
        for find in (SearchIndex.starting, SearchIndex.containing):
            for names in searched:
                for i in find(names.index, text, limit):
                    hits.setdefault((names.kind, i), Found(names.names[i], names.labels[i], names.kind))
        return list(hits.values())[:limit]

    def nearest(self, text: str, kind: Kind | None = None) -> list[Found]:
        """The names that an unknown ``text`` may stand for: few, or none."""
        return [
            Found(names.names[i], names.labels[i], names.kind)
            for names in self._chosen(kind)
            for i in names.nearest(text)
        ]

    def labeled(self, statement: Fact | Query) -> str:
        """The text form with labels instead of names, for people to read."""
        of = self._vocabulary.label
        elements = {at: GAP if element is GAP else of(str(element)) for at, element in statement.elements().items()}
        return str(type(statement).from_elements(elements))

    def _chosen(self, kind: Kind | None) -> "list[_KindNames]":
        if kind is not None and kind not in self._of:
            raise SettingError(f"{kind!r} is no kind of name", f"Expected {' or '.join(self._of)}.")
        return [names for names in self._of.values() if kind in (None, names.kind)]


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
        ids = self.matches(text)
        if not ids:
            raise DataError(f"unknown {self.kind} {text!r}", _hint(self.nearest_texts(text), self.names))
        if len(ids) > 1:
            meant = ", ".join(self.names[i] for i in ids[:_SHOWN]) + (", ..." if len(ids) > _SHOWN else "")
            kinds = "entities" if self.kind == "entity" else "relations"
            raise DataError(f"{text!r} may mean {len(ids):,} {kinds}", f"Write the name of the one you mean: {meant}")
        return ids[0]

    @cached_property
    def labels(self) -> list[str]:
        """The label of each name."""
        return [self._vocabulary.label(name) for name in self.names]

    def nearest(self, text: str) -> list[int]:
        """The ids of the names nearest to an unknown text."""
        size = len(self.names)
        places = self._nearest.find(text, 2 * _NEAREST)  # a name comes twice at most: name and label
        ids = (place if place < size else self._labeled[place - size] for place in places)
        return list(dict.fromkeys(ids))[:_NEAREST]

    def nearest_texts(self, text: str) -> list[str]:
        """What to write for these: the label, or the name where others have the same label."""
        return [self.labels[i] if self.matches(self.labels[i]) == [i] else self.names[i] for i in self.nearest(text)]

    @cached_property
    def _nearest(self) -> NearestTexts:
        return NearestTexts([*self.names, *(self.labels[i] for i in self._labeled)])

    @cached_property
    def _labeled(self) -> list[int]:
        """The ids of names with a label of their own."""
        return [i for i, (name, label) in enumerate(zip(self.names, self.labels, strict=True)) if name != label]

    @cached_property
    def index(self) -> "SearchIndex":
        """The index for search while typing."""
        return SearchIndex(self.names, self.labels)

    @cached_property
    def _by_label(self) -> Mapping[str, Sequence[int]]:
        ids: dict[str, list[int]] = {}
        for i, label in enumerate(self.labels):
            ids.setdefault(label, []).append(i)
        return ids

    @cached_property
    def _by_folded(self) -> Mapping[str, Sequence[int]]:
        ids: dict[str, list[int]] = {}
        for i, (name, label) in enumerate(zip(self.names, self.labels, strict=True)):
            for text in {name.casefold(), label.casefold()}:
                ids.setdefault(text, []).append(i)
        return ids


class SearchIndex:
    """Finds the indices of names by a part of the name or of its label, ignoring case, in milliseconds."""

    def __init__(self, names: Sequence[str], labels: Sequence[str]) -> None:
        texts = [(_folded(name), i) for i, name in enumerate(names)]
        texts += [
            (_folded(label), i) for i, (name, label) in enumerate(zip(names, labels, strict=True)) if label != name
        ]
        texts.sort()
        self._texts = [text for text, _ in texts]
        self._places = [place for _, place in texts]
        # One long string is much faster to search than text by text.
        self._joined = _SEPARATOR.join(self._texts)
        self._starts = [0]
        for text in self._texts[:-1]:
            self._starts.append(self._starts[-1] + len(text) + 1)

    def starting(self, text: str, limit: int) -> list[int]:
        """The places of at most ``limit`` names that begin with ``text``, in alphabetical order."""
        part = _folded(text)
        return _first(self._beginning(part), limit)

    def containing(self, text: str, limit: int) -> list[int]:
        """The places of at most ``limit`` names that contain ``text``, in alphabetical order."""
        return _first(self._anywhere(_folded(text)), limit)

    def _beginning(self, part: str) -> Iterator[int]:
        for number in range(bisect_left(self._texts, part), len(self._texts)):
            if not self._texts[number].startswith(part):
                return
            yield self._places[number]

    def _anywhere(self, part: str) -> Iterator[int]:
        at = self._joined.find(part)
        while at >= 0:
            number = bisect_right(self._starts, at) - 1
            yield self._places[number]
            if number + 1 == len(self._starts):
                return
            at = self._joined.find(part, self._starts[number + 1])


def _hint(nearest: Sequence[str], names: Sequence[str]) -> str:
    if nearest:
        return "Did you mean " + " or ".join(nearest) + "?"
    return "Known: " + ", ".join(names) if len(names) <= _FEW else f"{len(names):,} names are known; none is close."


def _folded(text: str) -> str:
    return fold(text).replace(_SEPARATOR, " ")


def _first(places: Iterator[int], limit: int) -> list[int]:
    """The first distinct ones."""
    return list(islice(dict.fromkeys(islice(places, 2 * limit)), limit))  # a place comes twice at most: name and label
