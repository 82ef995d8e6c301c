"""Statistics of a dataset: numbers of facts, arities, frequent relations, and degrees of entities."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from nary.data.dataset import Dataset
from nary.facts import Block
from nary.facts.layout import RELATION

_TOP = 10
_PART = 1 << 20  # facts


@dataclass(frozen=True, eq=False)
class Statistics:
    """The result of :func:`statistics`; the most frequent names come first.

    ``counts`` is the result of :func:`counts`. ``degrees`` holds the number of facts with each entity, by entity id;
    ``labels`` are the human-readable labels of names.
    """

    counts: dict[str, Any]
    primary_relations: int
    attributes: int
    qualifiers: dict[str, Any]
    top_relations: list[tuple[str, int]]
    degree: dict[str, float]
    degrees: npt.NDArray[np.int64] = field(repr=False)
    labels: Mapping[str, str] = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the statistics as ``nary stats --json`` prints them."""
        return {
            **self.counts,
            "primary_relations": self.primary_relations,
            "attributes": self.attributes,
            "qualifiers": self.qualifiers,
            "top_relations": self.top_relations,
            "degree": self.degree,
        }


def counts(dataset: Dataset) -> dict[str, Any]:
    """Count facts per split, entities, relations, and facts of each arity over all splits."""
    arities: Counter[int] = Counter()
    for table in dataset.splits.values():
        arities.update(table.arities)
    return {
        "name": dataset.name,
        "facts": {split: len(table) for split, table in dataset.splits.items()},
        "entities": len(dataset.vocabulary.entities),
        "relations": len(dataset.vocabulary.relations),
        "higher_arity": sum(n for arity, n in arities.items() if arity > 2),
        "arities": {str(arity): n for arity, n in sorted(arities.items())},
    }


def statistics(dataset: Dataset) -> Statistics:
    """Compute the statistics of all splits of ``dataset`` together."""
    names = dataset.vocabulary.relations
    blocks = [block for table in dataset.splits.values() for block in table.blocks]  # not one table: that is a copy
    primary = _occurrences((block.ids[:, RELATION] for block in blocks), len(names))
    attributes = _occurrences((block.attributes for block in blocks), len(names))
    with_qualifiers = sum(len(block) for block in blocks if block.qualifiers)
    degrees = _occurrences(_distinct_entities(blocks), len(dataset.vocabulary.entities))
    size = max(len(dataset), 1)
    return Statistics(
        counts=counts(dataset),
        primary_relations=int(np.count_nonzero(primary)),
        attributes=int(np.count_nonzero(attributes)),
        qualifiers={
            "facts_with": with_qualifiers,
            "share": with_qualifiers / size,
            "per_fact_mean": int(attributes.sum()) / size,
            "top_attributes": _most_frequent(attributes, names),
        },
        top_relations=_most_frequent(primary, names),
        degree=_summary(degrees),
        degrees=degrees,
        labels=dataset.vocabulary.labels,
    )


def _occurrences(ids: Iterable[npt.NDArray[np.int32]], size: int) -> npt.NDArray[np.int64]:
    """Count the occurrences of each id in the arrays."""
    total = np.zeros(size, np.int64)
    for array in ids:
        total += np.bincount(array.ravel(), minlength=size)
    return total


def _distinct_entities(blocks: Sequence[Block]) -> Iterator[npt.NDArray[np.int32]]:
    """The entities of each fact, without repetitions, some facts at a time."""
    for block in blocks:
        for start in range(0, len(block), _PART):
            entities = np.sort(block.ids[start : start + _PART, block.entity_columns], axis=1)
            first = np.ones(entities.shape, bool)
            first[:, 1:] = entities[:, 1:] != entities[:, :-1]
            yield entities[first]


def _most_frequent(occurrences: npt.NDArray[np.int64], names: Sequence[str]) -> list[tuple[str, int]]:
    """Return the most frequent names; ties are in alphabetical order, since ids are sorted by name."""
    order = np.argsort(-occurrences, kind="stable")[:_TOP]
    return [(names[i], int(occurrences[i])) for i in order if occurrences[i]]


def _summary(degrees: npt.NDArray[np.int64]) -> dict[str, float]:
    if not len(degrees):
        return dict.fromkeys(("min", "median", "mean", "p90", "max", "once"), 0)
    return {
        "min": int(degrees.min()),
        "median": float(np.median(degrees)),
        "mean": float(degrees.mean()),
        "p90": float(np.percentile(degrees, 90)),
        "max": int(degrees.max()),
        "once": int(np.count_nonzero(degrees == 1)),
    }
