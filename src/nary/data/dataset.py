"""Dataset: named splits of facts over one vocabulary."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nary.errors import DatasetError, did_you_mean
from nary.facts import Fact, FactTable, Vocabulary
from nary.html import table_html
from nary.tables import Table, left, right
from nary.wording import counted

if TYPE_CHECKING:
    import polars

SPLITS = ("train", "valid", "test", "context")
"""The possible splits. ``context`` holds facts that are available at test time, for inductive datasets."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Facts in splits, encoded with one vocabulary.

    ``notes`` are messages for the user, for example about skipped lines. ``prefixes`` are used to shorten names from
    RDF, such as ``ex`` for ``http://example.org/``.
    """

    name: str
    vocabulary: Vocabulary
    splits: Mapping[str, FactTable]
    notes: tuple[str, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_facts(
        cls, name: str, splits: Mapping[str, Sequence[Fact]], labels: Mapping[str, str] | None = None
    ) -> "Dataset":
        """Build a dataset from facts by split (``train``, ``valid``, ``test``, ``context``).

        ``labels`` maps names to readable text.
        """
        if unknown := [split for split in splits if split not in SPLITS]:
            raise DatasetError(f"no split is called {unknown[0]!r}", did_you_mean(unknown[0], SPLITS))
        facts = [fact for split_facts in splits.values() for fact in split_facts]
        entities = (
            entity for fact in facts for entity in (fact.subject, fact.object, *(v for _, v in fact.qualifiers))
        )
        relations = (relation for fact in facts for relation in (fact.relation, *(a for a, _ in fact.qualifiers)))
        vocabulary = Vocabulary.of(entities, relations, labels)
        tables = {split: FactTable.from_facts(split_facts, vocabulary) for split, split_facts in splits.items()}
        return cls(name, vocabulary, tables)

    @classmethod
    def from_dataframe(cls, edges: Any, nodes: Any = None, *, name: str = "data frame", **choices: Any) -> "Dataset":
        """Build a dataset from a polars or pandas data frame, with one fact per row, as ``nary import`` does.

        The columns ``start``, ``end`` and ``type`` are guessed unless you name them; every other column is a qualifier.
        Numbers and dates become literals, strings become entities. ``nodes`` is a data frame with the ids, names and
        types of nodes. Further keywords are ``relation``, ``node_id``, ``node_name``, ``node_type``, ``value_types``
        (by column), ``ignored`` and ``node_facts``. A data frame returned by :meth:`to_polars` is also accepted.
        """
        from nary.data.frames import from_dataframe

        return from_dataframe(edges, nodes, name, **choices)

    def to_polars(self) -> "polars.DataFrame":
        """All facts as a data frame: subject, relation, object, qualifiers (lists of attribute and value), split."""
        from nary.data.frames import to_polars

        return to_polars(self)

    def to_pandas(self) -> Any:
        """The same as :meth:`to_polars`, but for pandas, which must be installed."""
        from nary.data.frames import as_pandas

        return as_pandas(self.to_polars())

    def __getitem__(self, split: str) -> FactTable:
        """Return the facts of a split."""
        if split not in self.splits:
            raise DatasetError(f"{self.name} has no {split} split", f"It has: {', '.join(self.splits)}")
        return self.splits[split]

    @property
    def train(self) -> FactTable:
        """The training facts."""
        return self["train"]

    @property
    def valid(self) -> FactTable:
        """The validation facts."""
        return self["valid"]

    @property
    def test(self) -> FactTable:
        """The test facts."""
        return self["test"]

    @cached_property
    def facts(self) -> FactTable:
        """The facts of all splits, concatenated."""
        return FactTable.concatenate(list(self.splits.values()))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of facts, splits and names, independent of the files they were read from."""
        parts = [self.vocabulary.fingerprint, *(f"{split} {table.fingerprint}" for split, table in self.splits.items())]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def with_splits(self, splits: Mapping[str, FactTable], note: str) -> "Dataset":
        """Return the dataset with other splits; ``note`` explains them."""
        return replace(self, splits=splits, notes=(*self.notes, note))

    def __len__(self) -> int:
        return sum(map(len, self.splits.values()))

    def __iter__(self) -> Iterator[Fact]:
        """All facts with names, split by split; ``data.train.facts(data.vocabulary)`` has the facts of one split."""
        return (fact for table in self.splits.values() for fact in table.facts(self.vocabulary))

    def __repr__(self) -> str:
        sizes = ", ".join(f"{split} {len(table)}" for split, table in self.splits.items())
        return f"Dataset({self.name!r}, {sizes})"

    def _repr_html_(self) -> str:
        """Counts by split, for notebooks."""
        rows = []
        for split, table in self.splits.items():
            counts = (len(table), len(table) - table.arities.get(2, 0), max(table.arities, default=0))
            rows.append([split, *(f"{count:,}" for count in counts)])
        columns = [*left("split"), *right("facts", "with qualifiers", "largest arity")]
        entities, relations = len(self.vocabulary.entities), len(self.vocabulary.relations)
        names = f"{counted(entities, 'entity', 'entities')}, {counted(relations, 'relation')}"
        return table_html(Table(columns, rows), self.name, [names, *self.notes])
