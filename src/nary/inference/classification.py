"""Fact classification: the probability that a fact is true, by logistic regression on the evidence about it.

The regression is fitted on held-out facts and as many corrupted ones, half of these with an element that occurs in its
slot elsewhere. So its probabilities are those of a fact that is as likely true as corrupted. In half of the facts with
qualifiers some are left out, as people leave them out. The weights of what the model says are at least 0: an element
that fits better never makes a fact less plausible.
"""

from functools import cached_property

import numpy as np

from nary.facts import FactTable
from nary.facts.layout import num_qualifiers
from nary.inference.context import Context
from nary.inference.corruption import Corruption, rows_of_table, shorten, table_of_rows
from nary.inference.evidence import FROM_MODEL, Evidence, Floats, Measured
from nary.inference.percentiles import NUM_PERCENTILES, Percentiles

_MIN_FACTS = 20
"""Fewer held-out facts say too little."""
_DRAWS = 4
"""How often a fact is taken if there are few, each time with other qualifiers left out and another element replaced."""
_MAX_FACTS, _MAX_SCORES = 2000, 1 << 28
_PENALTY = 2.0
_STEPS, _TOLERANCE = 5000, 1e-6


class FactClassifier:
    """Tells true facts from corrupted ones; fitted when it is first needed, always in the same way."""

    def __init__(self, context: Context, held_out: FactTable | None) -> None:
        self.is_fitted = held_out is not None and len(held_out) >= _MIN_FACTS
        self.evidence = Evidence(context)
        self._context = context
        self._held_out = held_out or FactTable([])

    @property
    def notes(self) -> list[str]:
        """What to know about its probabilities."""
        few = f"plausibility is not calibrated: fewer than {_MIN_FACTS} valid facts are held out from training"
        return [] if self.is_fitted else [few]

    def probability(self, measured: Measured) -> Floats:
        """The probability that each fact is true [n]; without held-out facts, the product of its elements' fits."""
        if not self.is_fitted:
            return np.exp(np.nansum(measured.log_fit, axis=1))
        percentiles, regression = self._fitted
        return regression.probability(self._features(percentiles, measured))

    @cached_property
    def _fitted(self) -> tuple[Percentiles, "LogisticRegression"]:
        random, corruption = np.random.default_rng(0), Corruption(self._context)
        size = self._num_facts()
        rows: list[list[int]] = []
        for _ in range(_DRAWS):
            rows += shortened(self._context, self._held_out, size - len(rows), random)
        changed = [corruption.corrupt(row, bool(random.integers(2)), random) for row in rows]
        true = self.evidence.measure(table_of_rows(rows))
        corrupted = self.evidence.measure(table_of_rows([row for row in changed if row is not None]))
        percentiles = Percentiles(self._context.slots, true)
        features = [self._features(percentiles, one, in_reference=True) for one in true]
        features += [self._features(percentiles, one) for one in corrupted]
        labels = np.repeat([1.0, 0.0], [sum(len(one.block) for one in part) for part in (true, corrupted)])
        from_model = NUM_PERCENTILES + FROM_MODEL
        return percentiles, LogisticRegression.fit(np.concatenate(features), labels, from_model)

    def _features(self, percentiles: Percentiles, measured: Measured, in_reference: bool = False) -> Floats:
        return np.concatenate([percentiles.features(measured, in_reference), self.evidence.features(measured)], axis=1)

    def _num_facts(self) -> int:
        """How many facts, so that scoring their elements takes seconds."""
        elements = sum(block.ids.size for block in self._held_out.blocks) / len(self._held_out)
        return int(np.clip(_MAX_SCORES / (2 * elements * len(self._context.vocabulary.entities)), 100, _MAX_FACTS))


def shortened(context: Context, table: FactTable, size: int, random: np.random.Generator) -> list[list[int]]:
    """The id rows of at most ``size`` facts; half of those with qualifiers lose some, if the model takes them so."""
    rows, shortened_rows = rows_of_table(table), []
    for place in random.permutation(len(rows))[:size].tolist():
        short = shorten(rows[place], random) if random.random() < 0.5 else rows[place]
        takes = context.takes_arity(2 + num_qualifiers(len(short)))
        shortened_rows.append(short if takes else rows[place])
    return shortened_rows


class LogisticRegression:
    """Logistic regression on standardized features, with a squared penalty."""

    def __init__(self, mean: Floats, scale: Floats, weights: Floats) -> None:
        self._mean, self._scale, self._weights = mean, scale, weights

    @classmethod
    def fit(cls, values: Floats, labels: Floats, nonnegative: int = 0) -> "LogisticRegression":
        """Maximize the penalized likelihood of ``labels`` [n] by projected gradient descent with momentum.

        The weights of the first ``nonnegative`` features are at least 0.
        """
        model = cls(values.mean(0), values.std(0) + 1e-9, np.zeros(values.shape[1] + 1))
        inputs = model._inputs(values)
        penalty = np.append(np.full(values.shape[1], _PENALTY), 0.0)  # not on the bias
        rate = 1 / (np.linalg.norm(inputs, 2) ** 2 / 4 + _PENALTY)
        ahead, momentum = model._weights, 1.0
        for _ in range(_STEPS):
            gradient = inputs.T @ (_sigmoid(inputs @ ahead) - labels) + penalty * ahead
            after = ahead - rate * gradient
            after[:nonnegative] = np.maximum(0, after[:nonnegative])
            step, before = after - model._weights, momentum
            momentum = (1 + np.sqrt(1 + 4 * before**2)) / 2
            model._weights, ahead = after, after + (before - 1) / momentum * step
            if np.abs(step).max() < _TOLERANCE:
                break
        return model

    def probability(self, values: Floats) -> Floats:
        """The probability of the label 1 for each row of features [n, F]."""
        return _sigmoid(self._inputs(values) @ self._weights)

    def _inputs(self, values: Floats) -> Floats:
        return np.append((values - self._mean) / self._scale, np.ones((len(values), 1)), axis=1)


def _sigmoid(values: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(values, -500, 500)))
