"""Examining a dataset: what a score on it would be worth.

Facts of the test split that also stand in train flatter a model, and so do, less plainly, those whose primary triple
does. Entities and relations that train never mentions cannot be learned. Equality is that of facts: the order of
qualifiers has no meaning.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nary.data.dataset import Dataset
from nary.data.numbering import number_facts, number_primaries
from nary.data.suspicious import Finding, suspicious_labels
from nary.facts.layout import OBJECT, SUBJECT
from nary.facts.table import Block, Ids, Rows


@dataclass(frozen=True)
class Audit:
    """What was found. Numbers count facts, except for the distinct ``unseen_entities`` and ``unseen_relations``.

    ``duplicates`` counts, in each split, the facts beyond the first of their kind. ``..._unseen`` counts facts with an
    entity that train does not mention, ``..._unseen_relations`` those with such a relation or attribute.
    """

    duplicates: dict[str, int]
    test_in_train: int
    test_primary_in_train: int
    test_primary_in_train_share: float
    valid_in_train: int
    valid_primary_in_train: int
    test_in_valid: int
    test_unseen: int
    test_unseen_relations: int
    valid_unseen: int
    valid_unseen_relations: int
    unseen_entities: int
    unseen_relations: int
    test_against_train_and_valid: dict[str, int]
    subject_is_object: int
    repeated_qualifiers: int
    suspicious_labels: dict[str, Finding]

    @property
    def clean(self) -> bool:
        """No duplicates, no overlap of splits, nothing unseen, no suspicious labels."""
        overlap = self.valid_primary_in_train + self.test_against_train_and_valid["primary"]
        unseen = self.unseen_entities + self.unseen_relations
        return not (any(self.duplicates.values()) or overlap or unseen or self.suspicious_labels)

    def as_dict(self) -> dict[str, Any]:
        """As ``nary check --json`` prints it."""
        return {**asdict(self), "clean": self.clean}


@dataclass(frozen=True)
class _Comparison:
    """Facts of one split beside those a model learned from: how many of them are or hold what."""

    identical: int
    primary: int
    unseen: int
    unseen_relations: int


def audit(dataset: Dataset) -> Audit:
    """Look for leakage between the splits, duplicates, unseen elements and suspicious labels."""
    splits = _Splits(dataset)
    test, valid = splits.compare("test", "train"), splits.compare("valid", "train")
    return Audit(
        duplicates={split: len(numbers) - len(np.unique(numbers)) for split, numbers in splits.facts.items()},
        test_in_train=test.identical,
        test_primary_in_train=test.primary,
        test_primary_in_train_share=test.primary / max(1, len(dataset.splits.get("test", ()))),
        valid_in_train=valid.identical,
        valid_primary_in_train=valid.primary,
        test_in_valid=splits.compare("test", "valid").identical,
        test_unseen=test.unseen,
        test_unseen_relations=test.unseen_relations,
        valid_unseen=valid.unseen,
        valid_unseen_relations=valid.unseen_relations,
        unseen_entities=splits.outside_train("entities"),
        unseen_relations=splits.outside_train("relations"),
        test_against_train_and_valid=asdict(splits.compare("test", "train", "valid")),
        subject_is_object=_total(dataset, lambda block: block.ids[:, SUBJECT] == block.ids[:, OBJECT]),
        repeated_qualifiers=_total(dataset, _repeated_qualifiers),
        suspicious_labels=suspicious_labels(dataset.vocabulary),
    )


class _Splits:
    """The splits of a dataset, prepared for comparing them. A split that does not exist is like an empty one."""

    def __init__(self, dataset: Dataset) -> None:
        tables = list(dataset.splits.values())
        self.tables = dataset.splits
        self.facts = dict(zip(dataset.splits, number_facts(tables), strict=True))
        self.primaries = dict(zip(dataset.splits, number_primaries(tables), strict=True))
        self.sizes = {"entities": len(dataset.vocabulary.entities), "relations": len(dataset.vocabulary.relations)}

    def compare(self, split: str, *learned: str) -> _Comparison:
        """Compare ``split`` with the splits ``learned``, taken together."""
        if split not in self.tables:
            return _Comparison(0, 0, 0, 0)
        known = [name for name in learned if name in self.tables]
        return _Comparison(
            identical=_common(self.facts[split], [self.facts[name] for name in known]),
            primary=_common(self.primaries[split], [self.primaries[name] for name in known]),
            unseen=self._facts_with_unseen(split, "entities", known),
            unseen_relations=self._facts_with_unseen(split, "relations", known),
        )

    def outside_train(self, kind: str) -> int:
        """How many entities, or relations, other splits mention and train does not."""
        return int(np.count_nonzero(self._mentioned(kind, self.tables) & ~self._mentioned(kind, ("train",))))

    def _mentioned(self, kind: str, splits: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Which entities, or relations, the splits mention, by id."""
        mentioned = np.zeros(self.sizes[kind], bool)
        for split in splits:
            for block in self.tables[split].blocks if split in self.tables else ():
                mentioned[_ids(block, kind)] = True
        return mentioned

    def _facts_with_unseen(self, split: str, kind: str, learned: Iterable[str]) -> int:
        seen = self._mentioned(kind, learned)
        blocks = self.tables[split].blocks
        return sum(int(np.count_nonzero(~seen[_ids(block, kind)].all(axis=1))) for block in blocks)


def _ids(block: Block, kind: str) -> Ids:
    return block.entities if kind == "entities" else block.relations


def _common(numbers: Rows, others: Sequence[Rows]) -> int:
    """How many of ``numbers`` are also in one of ``others``."""
    return int(np.count_nonzero(np.isin(numbers, np.concatenate(others)))) if others else 0


def _total(dataset: Dataset, holds: Callable[[Block], npt.NDArray[np.bool_]]) -> int:
    """For how many facts of all splits something holds."""
    return sum(int(np.count_nonzero(holds(block))) for table in dataset.splits.values() for block in table.blocks)


def _repeated_qualifiers(block: Block) -> npt.NDArray[np.bool_]:
    """Which facts hold the same (attribute, value) twice; qualifiers are sorted, so equal ones are neighbors."""
    same = [ids[:, 1:] == ids[:, :-1] for ids in (block.attributes, block.values)]
    found: npt.NDArray[np.bool_] = (same[0] & same[1]).any(axis=1)
    return found
