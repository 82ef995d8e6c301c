"""Literals as answers: the values that stand in a slot, and a median and an interval from their scores."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from nary.facts import FactTable, Vocabulary
from nary.facts.layout import FIRST_ATTRIBUTE, RELATION, num_qualifiers, partner_column, position_at
from nary.facts.scales import Numbers
from nary.facts.table import Ids, Rows

INTERVAL = 0.8
"""The probability that the value is in the interval."""
_BINS = 16
_DOUBT = 0.02
"""How much of the probability is spread over all bins alike: no score rules a value out."""
_QUANTILES = ((1 - INTERVAL) / 2, 0.5, (1 + INTERVAL) / 2)


@dataclass(frozen=True, eq=False)
class ValueRange:
    """The literals that stand in a slot of training facts, all of one scale, ordered by value."""

    scale: int
    ids: Rows
    values: Numbers
    median: float
    """Of the training facts."""
    spread: float
    """The mean distance of the training facts from their median."""

    def fits(self, scores: npt.NDArray[np.floating], values: Numbers) -> tuple[Numbers, Numbers]:
        """How well ``values`` [n] fit, near ones alike, by scores [n, E] of all entities: logarithms [n] of two ratios.

        The literals are counted in bins of about as many literals each. The probability of the bin of a value is
        compared with the number of bins that the scores hesitate between, and with the share of literals in the bin.
        Outside of the range it falls with the distance, from that of the nearest bin to that of a single literal.
        """
        cuts = np.quantile(self.values, np.linspace(0, 1, _BINS + 1)[1:-1])
        members = np.eye(_BINS)[np.searchsorted(cuts, self.values)]  # [L, bins]
        masses = _probabilities(scores[:, self.ids]) @ members * (1 - _DOUBT) + _DOUBT / _BINS  # [n, bins]
        bins, rows = np.searchsorted(cuts, values), np.arange(len(values))
        mass = np.log(self._outside(masses[rows, bins], values))
        entropy = -(masses * np.log(masses)).sum(1)
        return np.minimum(0, mass + entropy), mass - np.log(members.mean(0)[bins].clip(min=1 / len(self.values)))

    def _outside(self, masses: Numbers, values: Numbers) -> Numbers:
        """The probabilities ``masses`` [n] of the bins of ``values`` [n], less for those outside of the range."""
        first, last = self.values[0], self.values[-1]
        distance = np.maximum(0, np.maximum(first - values, values - last))
        width = (last - first) / _BINS
        falling = np.exp(-distance / width) if width else np.where(distance, 0.0, 1.0)
        return np.minimum(masses, np.maximum(masses * falling, 1 / (len(self.values) + 2)))

    def quantiles(self, scores: npt.NDArray[np.floating]) -> Rows:
        """The places of the median, and before and after it of the ends of the interval [n, 3].

        The scores [n, L] are those of the literals of this range.
        """
        shares = _probabilities(scores).cumsum(1)
        shares /= shares[:, -1:]
        return np.stack([(shares < share).sum(1) for share in _QUANTILES], 1)


def _probabilities(scores: npt.NDArray[np.floating]) -> Numbers:
    """Those of literals [n, L] among each other."""
    scores = scores.astype(np.float64)
    shares = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(shares / shares.sum(1, keepdims=True))


class ValueRanges:
    """The ranges of the slots of ``facts`` in which literals stand.

    A slot is the subject or the object of a relation, or an attribute of a relation.
    """

    def __init__(self, facts: FactTable, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._num_entities, self._span = len(vocabulary.entities), len(vocabulary.relations) + FIRST_ATTRIBUTE
        self.scales, self.values = vocabulary.scales.by_entity(self._num_entities)
        """The scale of each entity [E], -1 for those on none, and its value."""
        keys = [np.empty(0, np.int64)]
        if len(vocabulary.scales.ids):
            for block in facts.blocks:
                keys += [self.slots(block.ids, i) * self._num_entities + block.ids[:, i] for i in block.entity_columns]
        self._keys, self._counts = np.unique(np.concatenate(keys), return_counts=True)
        self.of = cache(self._of)

    def slots(self, ids: Ids, column: int) -> Rows:
        """The number of the slot of the elements in an entity ``column`` of id rows [n, 2m+3] -> [n]."""
        partner = partner_column(column, num_qualifiers(ids.shape[1]))
        of_relation = column if partner is None else FIRST_ATTRIBUTE + ids[:, partner].astype(np.int64)
        return ids[:, RELATION].astype(np.int64) * self._span + of_relation

    def name(self, slot: int) -> str:
        """What stands in a slot, for people."""
        relation, kind = divmod(slot, self._span)
        label, names = self._vocabulary.label, self._vocabulary.relations
        what = label(names[kind - FIRST_ATTRIBUTE]) if kind >= FIRST_ATTRIBUTE else str(position_at(kind, 0))
        return f"{what} of {label(names[relation])}"

    def _of(self, slot: int) -> ValueRange | None:
        """The range of a slot, of its most frequent scale; None if most of what stands there is on no scale."""
        first, last = np.searchsorted(self._keys, [slot * self._num_entities, (slot + 1) * self._num_entities])
        ids, counts = self._keys[first:last] % self._num_entities, self._counts[first:last]
        scale = int(np.bincount(self.scales[ids] + 1, counts, minlength=1).argmax()) - 1
        if scale < 0:
            return None
        chosen = np.flatnonzero(self.scales[ids] == scale)
        chosen = chosen[np.argsort(self.values[ids[chosen]], kind="stable")]
        ids, counts, values = ids[chosen], counts[chosen], self.values[ids[chosen]]
        median = float(values[np.searchsorted(counts.cumsum(), counts.sum() / 2)])
        spread = float((counts * np.abs(values - median)).sum() / counts.sum())
        return ValueRange(scale, ids, values, median, spread)
