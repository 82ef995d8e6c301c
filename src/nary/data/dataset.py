"""Dataset: named splits of facts over one vocabulary."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from nary.errors import DatasetError, did_you_mean
from nary.facts import Fact, FactTable, Vocabulary

SPLITS = ("train", "valid", "test", "context")
"""The splits a dataset may have. ``context`` holds facts that are given, not predicted, at test time (inductive)."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Facts in splits, encoded with one vocabulary. ``notes`` tell what a user of these facts should know."""

    name: str
    vocabulary: Vocabulary
    splits: Mapping[str, FactTable]
    notes: tuple[str, ...] = ()

    @classmethod
    def from_facts(
        cls, name: str, splits: Mapping[str, Sequence[Fact]], labels: Mapping[str, str] | None = None
    ) -> "Dataset":
        """A dataset of these facts; ``splits`` are some of :data:`SPLITS`, ``labels`` are texts for names."""
        if unknown := [split for split in splits if split not in SPLITS]:
            raise DatasetError(f"no split is called {unknown[0]!r}", did_you_mean(unknown[0], SPLITS))
        facts = [fact for own in splits.values() for fact in own]
        entities = (
            entity for fact in facts for entity in (fact.subject, fact.object, *(v for _, v in fact.qualifiers))
        )
        relations = (relation for fact in facts for relation in (fact.relation, *(a for a, _ in fact.qualifiers)))
        names = Vocabulary.of(entities, relations, labels)
        return cls(name, names, {split: FactTable.from_facts(own, names) for split, own in splits.items()})

    def __getitem__(self, split: str) -> FactTable:
        """The facts of one split."""
        if split not in self.splits:
            raise DatasetError(f"{self.name} has no {split} split", f"It has: {', '.join(self.splits)}")
        return self.splits[split]

    @property
    def train(self) -> FactTable:
        """The facts to learn from."""
        return self["train"]

    @property
    def valid(self) -> FactTable:
        """The facts to choose settings with."""
        return self["valid"]

    @property
    def test(self) -> FactTable:
        """The facts to report on."""
        return self["test"]

    @cached_property
    def facts(self) -> FactTable:
        """All facts, split after split."""
        return FactTable.concatenate(list(self.splits.values()))

    @cached_property
    def fingerprint(self) -> str:
        """Equal for equal facts in equal splits under equal names, wherever they came from."""
        parts = [self.vocabulary.fingerprint, *(f"{split} {table.fingerprint}" for split, table in self.splits.items())]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def with_splits(self, splits: Mapping[str, FactTable], note: str) -> "Dataset":
        """The same dataset divided differently; ``note`` says how."""
        return replace(self, splits=splits, notes=(*self.notes, note))

    def __repr__(self) -> str:
        sizes = ", ".join(f"{split} {len(table)}" for split, table in self.splits.items())
        return f"Dataset({self.name!r}, {sizes})"
