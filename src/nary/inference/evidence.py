"""What speaks for and against a fact: every element is masked in turn, as in an evaluation, and looked up in train.

An improbable answer to an open query is no sign of an error: who was born in a year has many answers, each improbable.
So the probability of an element is compared with how sure the model is. Its *fit* is its probability times the
perplexity of the predicted distribution (the number of candidates the model hesitates between), at most 1. Its *lift*
compares it with what stands in the same slot in train: how much more probable it is than one of these at random. For
numbers and dates, the probability is that of a value as large as it.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nary.evaluation.queries import MaskedBlock, Shortened, mask_table
from nary.evaluation.ranks import count_blocks
from nary.evaluation.scorer import QueryScorer
from nary.facts import Block, FactTable
from nary.facts.layout import OBJECT, RELATION, SUBJECT, attribute_columns, value_columns
from nary.facts.table import Rows
from nary.inference.context import Context
from nary.inference.slots import Pairs
from nary.progress import Progress, no_progress

Floats = npt.NDArray[np.float64]
_MEMORY = 1 << 26  # bytes of scores held at a time
FROM_MODEL = 12
"""How many of the first features say what the model says; more is better in each."""
_UNSEEN = 0.1
"""What an element counts that never stands in its slot."""
_LOWEST = -50.0
"""Of logarithms: an impossible element is as bad as a very improbable one."""


@dataclass(frozen=True, eq=False)
class Measured:
    """How well each element of the facts of a block fits [n, 2m+3]; NaN for roles that the model cannot predict."""

    block: Block
    rank: Floats
    """Filtered; 1 is the best."""
    log_probability: Floats
    log_fit: Floats
    log_lift: Floats
    best: Rows
    """The id that the model would put there; -1 where the others are NaN."""


class Evidence:
    """Measures facts with a model, and compares them with its training facts."""

    def __init__(self, context: Context) -> None:
        self._context = context

    @cached_property
    def _pairs(self) -> Pairs:
        return Pairs(self._context.dataset.train)

    def measure(self, table: FactTable, progress: Progress = no_progress) -> list[Measured]:
        """Mask and score every element of every fact, a block for each arity."""
        context = self._context
        measured = {block.arity: _unmeasured(block) for block in table.blocks}
        blocks = [_may_have_more(masked) for masked in mask_table(table, context.model.roles)[0]]
        scorer = QueryScorer(context.model, _MEMORY)
        for masked, part, counts in count_blocks(scorer, blocks, context.known, progress):
            log_probabilities = (part.scores / context.calibration.temperature(part.kind)).log_softmax(-1)
            entropy = torch.special.entr(log_probabilities.exp()).sum(-1).numpy()[part.rows]
            log_probability = log_probabilities.numpy()[part.rows, masked.ids[part.places, masked.column]]
            one, at = measured[masked.block.arity], (part.places, masked.column)
            one.rank[at] = 1 + counts.higher + counts.ties / 2
            one.log_probability[at] = log_probability
            one.log_fit[at] = np.minimum(0, log_probability + entropy)
            slots = context.slots.of(masked.ids[part.places])[:, masked.column]
            one.log_lift[at] = log_probability - self._log_chance(log_probabilities, part.rows, slots)
            one.best[at] = part.scores.argmax(-1).numpy()[part.rows]
            if masked.kind == "entity":
                self._compare_values(one, masked, part.places, log_probabilities.numpy(), part.rows)
        return list(measured.values())

    def _compare_values(
        self, measured: Measured, masked: MaskedBlock, places: Rows, scores: npt.NDArray[np.floating], rows: Rows
    ) -> None:
        """Measure numbers and dates by their value: one that was never seen fits if those near it do."""
        ranges, ids = self._context.ranges, masked.ids[places]
        answers, slots = ids[:, masked.column], ranges.slots(ids, masked.column)
        for slot in np.unique(slots[ranges.scales[answers] >= 0]).tolist():
            if (range_ := ranges.of(slot)) is not None:
                chosen = np.flatnonzero((slots == slot) & (ranges.scales[answers] == range_.scale))
                at = (places[chosen], masked.column)
                fits = range_.fits(scores[rows[chosen]], ranges.values[answers[chosen]])
                measured.log_fit[at], measured.log_lift[at] = fits

    def _log_chance(self, log_probabilities: Tensor, rows: Rows, slots: Rows) -> Floats:
        """The mean probability, as a logarithm, of what stands in the slot of each query; ``rows`` are the queries'."""
        chance = np.zeros(len(rows))
        for slot in np.unique(slots).tolist():
            ids, _ = self._context.slots.members(slot)
            same = np.flatnonzero(slots == slot)
            if len(ids):
                of_slot = log_probabilities[torch.from_numpy(rows[same])[:, None], torch.from_numpy(ids)]
                chance[same] = of_slot.logsumexp(1).numpy() - np.log(len(ids))
        return chance

    def features(self, measured: Measured) -> Floats:
        """The evidence about each fact [n, F].

        What the model says: the smallest fit and the worst rank for each role and for the whole fact. What counts say,
        without the fact itself: the smallest share in its slot, in the same way; how many elements stand in their slot
        in train at all; how often two of its entities occur in one training fact, the smallest and the mean.
        """
        block, context = measured.block, self._context
        lookup, slots = context.lookup, context.slots.of(block.ids)
        itself = np.array([[lookup.count(row, "train")] for row in block.ids.tolist()])
        counts, totals = context.slots.counts(slots, block.ids) - itself, context.slots.totals[slots] - itself
        shares = np.log((counts + _UNSEEN) / (totals + 1))
        together = np.log1p(self._pairs.counts(block) - itself)
        logarithms = (measured.log_fit, -np.log(measured.rank), shares)
        by_role = [smallest(values, block.qualifiers) for values in logarithms]
        others = np.stack([(counts > 0).sum(1), together.min(1), together.mean(1)], axis=1)
        return np.concatenate([*by_role, others], axis=1)


def _unmeasured(block: Block) -> Measured:
    rank, log_probability, log_fit, log_lift = np.full((4, *block.ids.shape), np.nan)
    return Measured(block, rank, log_probability, log_fit, log_lift, np.full(block.ids.shape, -1))


def _may_have_more(masked: MaskedBlock) -> MaskedBlock:
    """The same queries about facts of which people may have left something out."""
    return replace(masked, shortened=Shortened(masked.block.qualifiers, masked.block.arity, masked.column))


def smallest(values: Floats, num_qualifiers: int) -> Floats:
    """The smallest of the numbers [n, 2m+3] of each fact for each role and for the whole fact [n, 6], 0 without any."""
    m = num_qualifiers
    roles = [[RELATION], [SUBJECT], [OBJECT], attribute_columns(m), value_columns(m), range(values.shape[1])]
    limited = np.maximum(values, _LOWEST)
    return np.stack([np.fmin.reduce(limited[:, list(one)], axis=1, initial=0.0) for one in roles], axis=1)
