"""Names as people write them, matched exactly, then by label, then ignoring case; and search while typing."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from nary.errors import DataError, SettingError
from nary.facts import GAP, Element, Fact, Position, Query, Vocabulary
from nary.inference.nearest import NearestTexts
from nary.inference.results import Found
from nary.inference.search import SearchIndex
from nary.models.base import Kind
from nary.wording import counted

_Statement = TypeVar("_Statement", Fact, Query)
_SHOWN = 5  # of the names that an ambiguous text may mean
_NEAREST = 3  # names that are offered for an unknown one
_FEW = 30  # names, which are all listed if none is near
_MANY = 1_000_000  # names, of which only those that begin alike are compared with an unknown one
_COMPARED = 20_000


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
        raise DataError(f"unknown name {text!r}", _hint(nearest, *(names.names for names in self._of.values())))

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
                    hits.setdefault((names.kind, i), names.as_found(i))
            if len(hits) >= limit:
                break
        return list(hits.values())[:limit]

    def nearest(self, text: str, kind: Kind | None = None) -> list[Found]:
        """The names that an unknown ``text`` may stand for: few, or none."""
        return [names.as_found(i) for names in self._chosen(kind) for i in names.nearest(text)]

    def labeled(self, statement: Fact | Query) -> str:
        """The text form with labels instead of names, for people to read."""
        of = self._vocabulary.label
        elements = {at: GAP if element is GAP else of(str(element)) for at, element in statement.elements().items()}
        return str(type(statement).from_elements(elements))

    def _chosen(self, kind: Kind | None) -> "list[_KindNames]":
        if kind is not None and kind not in self._of:
            raise SettingError(f"unknown kind of name {kind!r}", f"Expected {' or '.join(self._of)}.")
        return [names for names in self._of.values() if kind in (None, names.kind)]


class _KindNames:
    """The names of one kind."""

    def __init__(self, kind: Kind, names: Sequence[str], ids: Mapping[str, int], vocabulary: Vocabulary) -> None:
        self.kind = kind
        self.names = names
        self._ids = ids
        self._vocabulary = vocabulary

    def matches(self, text: str) -> Sequence[int]:
        """The ids ``text`` may mean: by name, by label, or ignoring case."""
        if (exact := self._ids.get(text)) is not None:
            return [exact]
        alike, folded = self.index.equal(text), text.casefold()
        labeled = [i for i in alike if self.label(i) == text]
        return labeled or [i for i in alike if folded in (self.names[i].casefold(), self.label(i).casefold())]

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

    def label(self, i: int) -> str:
        """The label of a name."""
        return self._vocabulary.label(self.names[i])

    def as_found(self, i: int) -> Found:
        """A name with its label."""
        return Found(self.names[i], self.label(i), self.kind)

    def nearest(self, text: str) -> list[int]:
        """The ids of the names nearest to an unknown text."""
        nearest, ids = self._nearest if len(self.names) <= _MANY else self._nearest_in_order(text)
        places = nearest.find(text, 2 * _NEAREST)  # a name comes twice at most: name and label
        return list(dict.fromkeys(ids[place] for place in places))[:_NEAREST]

    def nearest_texts(self, text: str) -> list[str]:
        """What to write for these: the label, or the name where others have the same label."""
        return [self.label(i) if self.matches(self.label(i)) == [i] else self.names[i] for i in self.nearest(text)]

    @cached_property
    def _nearest(self) -> tuple[NearestTexts, Sequence[int]]:
        """All names, then all labels, and their ids."""
        labels = [(i, label) for i, name in enumerate(self.names) if (label := self.label(i)) != name]
        texts = [*self.names, *(label for _, label in labels)]
        return NearestTexts(texts), [*range(len(self.names)), *(i for i, _ in labels)]

    def _nearest_in_order(self, text: str) -> tuple[NearestTexts, Sequence[int]]:
        """The names and labels next to ``text`` in alphabetical order: to compare with more would take seconds."""
        texts, ids = zip(*self.index.around(text, _COMPARED), strict=True)
        return NearestTexts(texts), ids

    @cached_property
    def index(self) -> SearchIndex:
        """The index for search while typing."""
        return SearchIndex(self.names, self._vocabulary.label)


def _hint(nearest: Sequence[str], *kinds: Sequence[str]) -> str:
    """What to write instead of an unknown name; ``kinds`` are the names of each kind."""
    if nearest:
        return "Did you mean " + " or ".join(nearest) + "?"
    if (total := sum(map(len, kinds))) <= _FEW:
        return "Known: " + ", ".join(name for names in kinds for name in names)
    return f"{counted(total, 'name is', 'names are')} known; none is close."
