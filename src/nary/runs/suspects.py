"""Suspicious facts: those of which two elements fit the rest of the data least.

A fact that a model was trained on supports itself. So the facts are divided into folds, and each fold is scored by
rules that were counted on all others. How well an element fits is compared with all facts in the same slot: where many
elements surprise, as in who buys what, another surprise says little; where few do, it is suspicious.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.evaluation.values import ValueRanges
from nary.facts import Fact, Vocabulary
from nary.facts.layout import position_at
from nary.facts.table import Rows
from nary.inference.context import Context
from nary.inference.evidence import Evidence, Floats, Measured
from nary.inference.names import Names
from nary.models.base import DatasetInfo
from nary.models.rules.model import Rules
from nary.models.rules.settings import RulesSettings
from nary.progress import Progress, no_progress

FOLDS = 20
_ELEMENTS = 2
"""How many elements count: an error makes its own element odd, and often another one that depends on it."""
_DECIMALS = 3


@dataclass(frozen=True)
class OddElement:
    """An element with what was expected instead; ``percentile`` is the share of facts that fit no better there."""

    position: str
    name: str
    label: str
    percentile: float
    expected: str
    expected_label: str


@dataclass(frozen=True)
class Suspect:
    """A fact and its elements that fit least; the lower the ``score``, the more suspicious is the fact."""

    fact: str
    label: str
    score: float
    elements: Sequence[OddElement]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**vars(self), "elements": [vars(element) for element in self.elements]}


def find_suspects(dataset: Dataset, limit: int, folds: int = FOLDS, progress: Progress = no_progress) -> list[Suspect]:
    """The ``limit`` most suspicious facts of all splits, worst first."""
    facts = dataset.facts
    if not 2 <= folds <= len(facts):
        raise SettingError(
            f"{len(facts):,} facts in {folds} folds", "Choose 2 folds or more, and at most one for each fact."
        )
    scores, elements = score_facts(dataset, folds, progress)
    worst = np.argsort(scores, kind="stable")[:limit]
    in_order = np.sort(worst)
    by_place = dict(zip(in_order.tolist(), facts.take(in_order).facts(dataset.vocabulary), strict=True))
    names = Names(dataset.vocabulary)
    return [
        Suspect(str(fact), names.labeled(fact), float(scores[place]), elements.of(place, fact, dataset.vocabulary))
        for place, fact in ((place, by_place[place]) for place in worst.tolist())
    ]


class Elements:
    """The elements of facts [N], ordered by fact and by how odd they are."""

    def __init__(self, fact: Rows, column: Rows, slot: Rows, log_fit: Floats, best: Rows) -> None:
        log_percentile = np.log(percentiles(slot, log_fit))
        order = np.lexsort((column, log_percentile, fact))
        self.fact, self.column, self.best = fact[order], column[order], best[order]
        self.log_percentile = log_percentile[order]
        self.starts = np.searchsorted(self.fact, np.arange(self.fact.max() + 1))

    @property
    def scores(self) -> Floats:
        """The sum of the logarithms of the smallest percentiles of each fact."""
        return np.sum([self.log_percentile[self.starts + place] for place in range(_ELEMENTS)], axis=0)

    def of(self, place: int, fact: Fact, vocabulary: Vocabulary) -> list[OddElement]:
        """The oddest elements of a fact."""
        odd = []
        for i in range(self.starts[place], self.starts[place] + _ELEMENTS):
            position = position_at(int(self.column[i]), len(fact.qualifiers))
            candidates = vocabulary.entities if position.role.is_entity else vocabulary.relations
            name, expected = str(fact.elements()[position]), candidates[self.best[i]]
            labels = vocabulary.label(name), vocabulary.label(expected)
            odd.append(
                OddElement(str(position), name, labels[0], float(np.exp(self.log_percentile[i])), expected, labels[1])
            )
        return odd


def score_facts(dataset: Dataset, folds: int = FOLDS, progress: Progress = no_progress) -> tuple[Floats, Elements]:
    """The score of each fact of all splits, lower for more suspicious ones, and their elements."""
    facts, ranges = dataset.facts, ValueRanges(dataset.facts, dataset.vocabulary)
    fold_of = np.random.default_rng(0).permutation(len(facts)) % folds
    parts = []
    for fold in range(folds):
        inside = np.flatnonzero(fold_of == fold)
        others = Dataset(dataset.name, dataset.vocabulary, {"train": facts.take(np.flatnonzero(fold_of != fold))})
        model = Rules(RulesSettings.model_validate({"joint_features": True}), DatasetInfo.from_dataset(others))
        measured = Evidence(Context(model, others)).measure(facts.take(inside))
        parts += [_columns(block, inside, ranges) for block in measured]
        progress(fold + 1, folds)
    elements = Elements(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    return elements.scores, elements


def _columns(measured: Measured, places: Rows, ranges: ValueRanges) -> tuple[Rows, Rows, Rows, Floats, Rows]:
    """The fact, the column, the slot, the fit and the best candidate of each element of a block [n * (2m+3)]."""
    block = measured.block
    slots = np.empty(block.ids.shape, np.int64)
    for column, role in enumerate(block.roles):
        slots[:, column] = ranges.slots(block.ids, column) if role.is_entity else -1 - (column > 0)
    facts, columns = np.broadcast_arrays(places[block.rows][:, None], np.arange(block.ids.shape[1]))
    return facts.ravel(), columns.ravel(), slots.ravel(), measured.log_fit.ravel(), measured.best.ravel()


def percentiles(slot: Rows, fit: Floats) -> Floats:
    """The share of the elements in the same slot that fit no better than each [N]."""
    pairs = np.stack([slot.astype(np.float64), np.round(fit, _DECIMALS)], 1)
    distinct, inverse, counts = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    starts = np.searchsorted(distinct[:, 0], distinct[:, 0])
    ends = np.searchsorted(distinct[:, 0], distinct[:, 0], "right")
    upto = np.append(0, counts.cumsum())
    shares = (upto[1:] - upto[starts]) / (upto[ends] - upto[starts])
    return np.asarray(shares[inverse.ravel()])
