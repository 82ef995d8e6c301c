"""Properties of a dataset that are not mistakes, but that a model will suffer from."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from nary.data.dataset import Dataset
from nary.data.io.sanity import NUMBER_OR_DATE
from nary.facts import FactTable
from nary.facts.layout import OBJECT, RELATION

_EXAMPLES = 5
_FEWEST = 20  # values that tell what an attribute holds
_EXPECTED = 3  # facts of a relation that a split should have before it is said to miss the relation


class DataWarning(TypedDict):
    """What a warning is about, in a word and in a sentence, and the names it concerns: how many, and the first."""

    kind: str
    message: str
    count: int
    examples: list[str]


def warnings(dataset: Dataset) -> list[DataWarning]:
    """Find labels that several names share, numbers and dates read as names, and relations that a split misses."""
    return [*_duplicate_labels(dataset), *_unique_numbers(dataset), *_missing_relations(dataset)]


def _duplicate_labels(dataset: Dataset) -> Iterator[DataWarning]:
    vocabulary = dataset.vocabulary
    labels = Counter(vocabulary.labels[name] for name in vocabulary.entities if name in vocabulary.labels)
    repeated = [label for label, n in labels.most_common() if n > 1]
    if repeated:
        message = "labels belong to several entities: refer to these entities by name, not by label"
        yield _warning("duplicate labels", message, repeated)


def _unique_numbers(dataset: Dataset) -> Iterator[DataWarning]:
    """Attributes and relations whose values are numbers or dates that mostly occur once, and are not literals."""
    vocabulary = dataset.vocabulary
    numeric = np.fromiter((bool(re.match(NUMBER_OR_DATE, name)) for name in vocabulary.entities), bool)
    names = [
        vocabulary.relations[relation]
        for relation, values in _values(dataset.facts, len(vocabulary.relations))
        if len(values) >= _FEWEST and numeric[values].mean() > 0.9 and len(np.unique(values)) > len(values) / 2
    ]
    if names:
        message = (
            "attributes have numbers or dates as values, most of which occur once. As entities they teach a model "
            "nothing; make them literals: numbers in JSON, or nary import"
        )
        yield _warning("unique numbers", message, names)


def _values(facts: FactTable, num_relations: int) -> Iterator[tuple[int, npt.NDArray[np.int32]]]:
    """Every relation and attribute with the ids of its objects or values."""
    if not len(facts):
        return
    relations = [part for block in facts.blocks for part in (block.ids[:, RELATION], block.attributes.ravel())]
    values = [part for block in facts.blocks for part in (block.ids[:, OBJECT], block.values.ravel())]
    relation, value = np.concatenate(relations), np.concatenate(values)
    order = np.argsort(relation, kind="stable")
    ends = np.cumsum(np.bincount(relation, minlength=num_relations))
    yield from enumerate(np.split(value[order], ends[:-1]))


def _missing_relations(dataset: Dataset) -> Iterator[DataWarning]:
    counts = {
        split: _relation_counts(dataset, split) for split in ("train", "valid", "test") if split in dataset.splits
    }
    for split in ("valid", "test"):
        if split not in counts or "train" not in counts:
            continue
        expected = counts["train"] * len(dataset[split]) / max(1, len(dataset.train))
        missed = np.flatnonzero((counts[split] == 0) & (expected >= _EXPECTED))
        if missed.size:
            names = [dataset.vocabulary.relations[i] for i in missed[np.argsort(-expected[missed])].tolist()]
            yield _warning(
                f"relations missing in {split}", f"relations of train have no fact in {split}; see nary split", names
            )


def _relation_counts(dataset: Dataset, split: str) -> npt.NDArray[np.int64]:
    counts = np.zeros(len(dataset.vocabulary.relations), np.int64)
    for block in dataset[split].blocks:
        counts += np.bincount(block.ids[:, RELATION], minlength=len(counts))
    return counts


def _warning(kind: str, message: str, names: list[str]) -> DataWarning:
    return {"kind": kind, "message": message, "count": len(names), "examples": names[:_EXAMPLES]}
