"""The value of a further qualifier: what the model says, mixed with the range of the attribute.

A model that is unsure puts a little probability on everything, also on entities of the wrong kind. What is known about
the attribute corrects it: the probability of a value is a mixture of the model's distribution, the same within the
attribute's range (the values that it has in train), both sharpened to several degrees, and the range alone. The
weights are those under which held-out qualifiers are most probable, so a value outside of the range comes first only
where such values are right, or where the model is sure.
"""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from nary.evaluation.queries import EncodedQuery, mask_table
from nary.facts import FactTable, Role
from nary.facts.layout import value_columns
from nary.inference.calibration import sample_queries
from nary.inference.context import Context

Floats = npt.NDArray[np.float64]
_POWERS = (1, 2, 4)
"""Powers of the model's probabilities: one temperature does not fit values that are nearly certain and open ones."""
_COMPONENTS = 2 * len(_POWERS) + 1
_PRIOR = 10.0
"""How many examples the prior counts: equal weights for all attributes, and these for each attribute."""
_STEPS = 100
_MAX_QUERIES, _MAX_SCORES = 1000, 1 << 25


class ValueMixture:
    """The probability of each value of an attribute; fitted on ``held_out`` facts when it is first needed."""

    def __init__(self, context: Context, held_out: FactTable | None) -> None:
        self._context = context
        self._held_out = held_out or FactTable([])

    def mix(self, probabilities: Floats, attribute: int, present: list[int]) -> Floats:
        """The probability of each entity as a value, from that of the model [E]; 0 for those that are ``present``."""
        shared, weights = self._weights
        mixed: Floats = weights.get(attribute, shared) @ self._components(probabilities, attribute, present)
        return mixed

    def _components(self, probabilities: Floats, attribute: int, present: list[int]) -> Floats:
        """The distributions to mix [_COMPONENTS, E]."""
        slots = self._context.slots
        ids, counts = slots.members(int(slots.of_values(np.array(attribute))))
        seen = np.zeros_like(probabilities)
        seen[ids] = counts
        powers = [(probabilities / probabilities.max()) ** power for power in _POWERS]
        components = np.stack([*powers, *(values * (seen > 0) for values in powers), seen])
        components[:, present] = 0
        totals = components.sum(axis=1, keepdims=True)
        empty = np.flatnonzero(totals == 0)  # the model counts in place of a range without other values
        components[empty], totals[empty] = components[0], totals[0]
        normalized: Floats = components / np.maximum(totals, np.finfo(np.float64).tiny)
        return normalized

    @cached_property
    def _weights(self) -> tuple[Floats, dict[int, Floats]]:
        """The weights of the components for all attributes, and for each attribute of a held-out fact."""
        model, size = self._context.model, _MAX_SCORES // len(self._context.vocabulary.entities)
        blocks, _ = mask_table(self._held_out, {Role.VALUE})
        queries = sample_queries(blocks, max(1, min(_MAX_QUERIES, size)), model)
        attributes = np.array([_attribute_of(query) for query in queries], np.int64)
        likelihoods = np.zeros((len(queries), _COMPONENTS))
        for part in self._context.score(queries):
            for place, row in zip(part.places, part.rows, strict=True):
                probabilities = part.log_probabilities[row].double().exp().numpy()
                present = present_values(queries[place])
                components = self._components(probabilities, int(attributes[place]), present)
                likelihoods[place] = components[:, queries[place].answer]
        shared = fit_weights(likelihoods, np.full(_COMPONENTS, _PRIOR / _COMPONENTS))
        members = {int(attribute): attributes == attribute for attribute in np.unique(attributes)}
        return shared, {one: fit_weights(likelihoods[rows], _PRIOR * shared) for one, rows in members.items()}


def _attribute_of(query: EncodedQuery) -> int:
    """The attribute whose value a query asks for."""
    return query.ids[query.column - query.num_qualifiers]


def present_values(query: EncodedQuery) -> list[int]:
    """The other values that a query about a value has for its attribute."""
    values = value_columns(query.num_qualifiers)
    others = [column for column in values if column != query.column]
    return [query.ids[column] for column in others if query.ids[column - len(values)] == _attribute_of(query)]


def fit_weights(likelihoods: Floats, prior: Floats) -> Floats:
    """The weights [K] of a mixture whose components give examples these ``likelihoods`` [n, K].

    Expectation maximization with a Dirichlet prior: ``prior`` [K] counts like as many examples of each component.
    """
    weights: Floats = prior / prior.sum()
    for _ in range(_STEPS):
        shares = likelihoods * weights
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        weights = shares.sum(axis=0) + prior
        weights /= weights.sum()
    return weights
