"""Checking a dataset for whatever makes scores on it misleading.

Test facts that also occur in train inflate scores, and so do, to a lesser degree, those whose primary triple does.
Entities and relations that do not occur in train cannot be learned. Labels may show that the data, or their encoding,
are damaged. Facts are equal regardless of the order of their qualifiers.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from nary.data.dataset import Dataset
from nary.data.transforms.duplicates import number_facts, number_triples
from nary.data.warnings import DataWarning, warnings
from nary.facts import Block, Vocabulary
from nary.facts.layout import OBJECT, SUBJECT
from nary.facts.literal import is_literal
from nary.facts.table import Ids, Rows

_MAX_LENGTH = 200
_EXAMPLES = 5
_MISSING = frozenset({"nan", "null", "none", "n/a", "#n/a", "undefined"})


class LabelFinding(TypedDict):
    """The number of labels that are suspicious for one reason, and the first of them."""

    count: int
    examples: list[str]


@dataclass(frozen=True)
class Audit:
    """The result of :func:`audit`. Numbers count facts, except ``unseen_entities`` and ``unseen_relations``.

    ``duplicates`` counts the repeated facts of each split. ``..._unseen`` counts facts with an entity that does not
    occur in train and is no literal, ``..._unseen_relations`` those with such a relation or attribute.
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
    suspicious_labels: dict[str, LabelFinding]
    warnings: list[DataWarning]

    @property
    def clean(self) -> bool:
        """Whether there are no duplicates, no overlapping splits, nothing unseen, and no suspicious labels.

        Warnings do not count.
        """
        overlap = self.valid_primary_in_train + self.test_against_train_and_valid["primary"]
        unseen = self.unseen_entities + self.unseen_relations
        return not (any(self.duplicates.values()) or overlap or unseen or self.suspicious_labels)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as ``nary check --json`` prints it."""
        return {**asdict(self), "clean": self.clean}


@dataclass(frozen=True)
class _Comparison:
    """A split compared with the facts a model was trained on: the number of facts for which each property holds."""

    identical: int
    primary: int
    unseen: int
    unseen_relations: int


def audit(dataset: Dataset) -> Audit:
    """Check for leakage between splits, duplicates, unseen entities and relations, and suspicious labels."""
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
        warnings=warnings(dataset),
    )


class _Splits:
    """The splits of a dataset, prepared for comparison. A missing split counts as an empty one."""

    def __init__(self, dataset: Dataset) -> None:
        tables = list(dataset.splits.values())
        self.tables = dataset.splits
        self.facts = dict(zip(dataset.splits, number_facts(tables), strict=True))
        self.primaries = dict(zip(dataset.splits, number_triples(tables), strict=True))
        self.always_seen = {  # by id: literals can be known by their value
            "entities": np.fromiter(map(is_literal, dataset.vocabulary.entities), bool),
            "relations": np.zeros(len(dataset.vocabulary.relations), bool),
        }

    def compare(self, split: str, *train: str) -> _Comparison:
        """Compare ``split`` with the union of the splits ``train``."""
        if split not in self.tables:
            return _Comparison(0, 0, 0, 0)
        known = [name for name in train if name in self.tables]
        return _Comparison(
            identical=_common(self.facts[split], [self.facts[name] for name in known]),
            primary=_common(self.primaries[split], [self.primaries[name] for name in known]),
            unseen=self._facts_with_unseen(split, "entities", known),
            unseen_relations=self._facts_with_unseen(split, "relations", known),
        )

    def outside_train(self, kind: str) -> int:
        """Count the entities (or relations) of other splits that do not occur in train."""
        return int(np.count_nonzero(self._occurring(kind, self.tables) & ~self._occurring(kind, ("train",))))

    def _occurring(self, kind: str, splits: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Tell which entities (or relations) occur in the splits, by id."""
        occurring = self.always_seen[kind].copy()
        for split in splits:
            for block in self.tables[split].blocks if split in self.tables else ():
                occurring[_ids(block, kind)] = True
        return occurring

    def _facts_with_unseen(self, split: str, kind: str, train: Iterable[str]) -> int:
        seen = self._occurring(kind, train)
        blocks = self.tables[split].blocks
        return sum(int(np.count_nonzero(~seen[_ids(block, kind)].all(axis=1))) for block in blocks)


def _ids(block: Block, kind: str) -> Ids:
    return block.entities if kind == "entities" else block.relations


def _common(numbers: Rows, others: Sequence[Rows]) -> int:
    """Count the ``numbers`` that are also in one of ``others``."""
    return int(np.count_nonzero(np.isin(numbers, np.concatenate(others)))) if others else 0


def _total(dataset: Dataset, holds: Callable[[Block], npt.NDArray[np.bool_]]) -> int:
    """Count the facts of all splits for which a property holds."""
    return sum(int(np.count_nonzero(holds(block))) for table in dataset.splits.values() for block in table.blocks)


def _repeated_qualifiers(block: Block) -> npt.NDArray[np.bool_]:
    """Tell which facts have a qualifier twice; qualifiers are sorted, so equal ones are adjacent."""
    same = [ids[:, 1:] == ids[:, :-1] for ids in (block.attributes, block.values)]
    repeated: npt.NDArray[np.bool_] = (same[0] & same[1]).any(axis=1)
    return repeated


def suspicious_labels(vocabulary: Vocabulary) -> dict[str, LabelFinding]:
    """Find suspicious labels of entities and relations, by reason."""
    names_by_reason: dict[str, list[str]] = defaultdict(list)
    for names in (vocabulary.entities, vocabulary.relations):
        for name in names:
            for reason in _reasons(name):
                names_by_reason[reason].append(name)
        names_by_reason["differs from another only in case, white space or Unicode form"] += _near_equal(names)
    return {
        reason: {"count": len(names), "examples": names[:_EXAMPLES]}
        for reason, names in sorted(names_by_reason.items())
        if names
    }


def _reasons(name: str) -> Iterator[str]:
    """Yield the reasons why a label is suspicious."""
    if name != name.strip():
        yield "white space around it"
    if len(name) > _MAX_LENGTH:
        yield f"longer than {_MAX_LENGTH} characters"
    if name.casefold() in _MISSING:
        yield "looks like a missing value"
    if name.isascii() and name.isprintable():
        return
    if any(unicodedata.category(character) == "Cc" for character in name):
        yield "control characters"
    if "\ufffd" in name or any(unicodedata.category(character) == "Cs" for character in name):
        yield "broken encoding"
    if _misread(name, "cp1252") or _misread(name, "latin-1"):
        yield "UTF-8 that was read as another encoding"


def _misread(name: str, encoding: str) -> bool:
    """Whether ``name`` is UTF-8 text that was decoded as ``encoding``."""
    try:
        return name.encode(encoding).decode("utf-8") != name
    except UnicodeError:
        return False


def _near_equal(names: Sequence[str]) -> list[str]:
    """Return the names that differ from another only in case, white space or Unicode form, grouped."""
    hashes = np.fromiter((hash(_plain(name)) for name in names), np.int64)  # a dictionary of very many would be large
    order = np.argsort(hashes, kind="stable")
    equal = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    groups: dict[str, list[str]] = defaultdict(list)
    for i in np.unique([order[equal], order[equal + 1]]).tolist():
        groups[_plain(names[i])].append(names[i])
    return [name for group in groups.values() if len(group) > 1 for name in group]


def _plain(name: str) -> str:
    """A name without what people overlook: case, white space and Unicode form."""
    return " ".join(unicodedata.normalize("NFC", name.casefold()).split())
