"""The vocabulary: names of entities and relations, each in an id space of its own.

Names are sorted by code point; those that were added later come after all others.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from nary.errors import DataError, did_you_mean
from nary.facts.literal import MARK, Literal
from nary.facts.names import PackedNames, encode, pack, pieces
from nary.facts.scales import Scales


@dataclass(frozen=True)
class Vocabulary:
    """Entities (subjects, objects, values) and relations (primary relations, attributes) by id.

    ``labels`` gives some names a label for people to read; names without one stand for themselves. ``types`` gives
    some entities their types, such as ``("Person",)``. Names are tuples, very many :class:`PackedNames`.
    """

    entities: Sequence[str]
    relations: Sequence[str]
    labels: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(
        cls, entities: Iterable[str], relations: Iterable[str], labels: Mapping[str, str] | None = None
    ) -> "Vocabulary":
        """Sort and de-duplicate the names."""
        return cls(pack(sorted(set(entities))), pack(sorted(set(relations))), dict(labels or {}))

    def with_names(self, other: "Vocabulary") -> "Vocabulary":
        """The names of this vocabulary, then those of ``other`` that it lacks, with their labels and types."""
        return Vocabulary(
            _joined(self.entities, (name for name in other.entities if name not in self.entity_ids)),
            _joined(self.relations, (name for name in other.relations if name not in self.relation_ids)),
            {**other.labels, **self.labels},
            {**other.types, **self.types},
        )

    @cached_property
    def entity_ids(self) -> Mapping[str, int]:
        """The id of each entity."""
        return _ids(self.entities)

    @cached_property
    def relation_ids(self) -> Mapping[str, int]:
        """The id of each relation."""
        return _ids(self.relations)

    def entity(self, name: str) -> int:
        """The id of one entity; an error that lists the nearest names if there is none."""
        if (i := self.entity_ids.get(name)) is None:
            raise DataError(f"unknown entity {name!r}", did_you_mean(name, self.entities))
        return i

    def relation(self, name: str) -> int:
        """The id of one relation; an error that lists the nearest names if there is none."""
        if (i := self.relation_ids.get(name)) is None:
            raise DataError(f"unknown relation {name!r}", did_you_mean(name, self.relations))
        return i

    def label(self, name: str) -> str:
        """What to show people for ``name``: its label or, for a literal, its value and unit."""
        label = self.labels.get(name, name)
        if label is not name or MARK not in name or (literal := Literal.from_name(name)) is None:
            return label
        unit = "" if literal.type == "text" else self.labels.get(literal.unit, literal.unit)
        return f"{literal.value} {unit}".rstrip()

    def __repr__(self) -> str:
        return f"Vocabulary({len(self.entities):,} entities, {len(self.relations):,} relations)"

    @cached_property
    def scales(self) -> Scales:
        """The literals among the entities, as numbers."""
        return Scales.of(self.entities)

    @cached_property
    def fingerprint(self) -> str:
        """Equal for equal names in equal order; labels and types do not count."""
        digest = hashlib.sha256()
        for names, name_and_end in ((self.entities, "{}\0"), (self.relations, "\0{}")):
            for piece in pieces(names):  # labels hold no NUL, so this is unambiguous
                digest.update(encode("".join(map(name_and_end.format, piece))))
        return digest.hexdigest()


def _ids(names: Sequence[str]) -> Mapping[str, int]:
    return names.ids if isinstance(names, PackedNames) else {name: i for i, name in enumerate(names)}


def _joined(names: Sequence[str], more: Iterable[str]) -> Sequence[str]:
    return PackedNames.of(chain(names, more)) if isinstance(names, PackedNames) else (*names, *more)
