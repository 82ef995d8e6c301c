"""Calibration by temperature scaling: one temperature that makes a model as confident as it is accurate.

Models are trained with label smoothing and many candidates, so the softmax of their scores is rarely a calibrated
probability. Dividing the scores by a temperature, fitted on held-out facts, corrects most of that and keeps the order.
Half of the facts lose qualifiers, any number of them, because people ask with part of a fact.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from nary.evaluation.queries import EncodedQuery, MaskedBlock, mask_table
from nary.evaluation.scorer import QueryScorer
from nary.facts import FactTable
from nary.facts.layout import attribute_columns, partner_column
from nary.models.base import Kind, Model

_STEPS = 50
_TOLERANCE = 1e-4
_LOWEST, _HIGHEST = 1 / 64, 64.0
"""The range of temperatures: uninformative scores would ask for an infinite one."""
_CHUNK = 64
_MAX_QUERIES = 1000  # one number needs few
_MAX_SCORES = 1 << 25


class Calibration:
    """The temperature of each kind of candidate, fitted on ``held_out`` when it is first needed; 1 without facts."""

    def __init__(self, model: Model, num_candidates: Mapping[Kind, int], held_out: FactTable | None) -> None:
        self.is_fitted = bool(held_out)
        self._model = model
        self._num_candidates = num_candidates
        self._held_out = held_out or FactTable([])
        self._temperatures: dict[Kind, float] = {}

    def temperature(self, kind: Kind) -> float:
        """What scores are divided by before the softmax."""
        if kind not in self._temperatures:
            self._temperatures[kind] = self._fit(kind)
        return self._temperatures[kind]

    def _fit(self, kind: Kind) -> float:
        blocks = [masked for masked in mask_table(self._held_out, self._model.roles)[0] if masked.kind == kind]
        size = max(1, min(_MAX_QUERIES, _MAX_SCORES // self._num_candidates[kind]))
        queries = sample_queries(blocks, size, self._model)
        if not queries:
            return 1.0
        parts = list(QueryScorer(self._model, max_chunk=_CHUNK).score(queries))
        answers = torch.tensor([queries[place].answer for part in parts for place in part.places.tolist()])
        return fit_temperature(torch.cat([part.scores[part.rows] for part in parts]), answers)


def sample_queries(blocks: Sequence[MaskedBlock], size: int, model: Model) -> list[EncodedQuery]:
    """At most ``size`` queries of held-out facts, as people ask: half of them lose qualifiers if the model allows."""
    pool = [(masked, row) for masked in blocks for row in range(len(masked))]
    random = np.random.default_rng(0)
    if len(pool) > size:
        chosen = random.choice(len(pool), size, replace=False)
        pool = [pool[i] for i in np.sort(chosen).tolist()]
    queries = [EncodedQuery(tuple(masked.ids[row].tolist()), masked.column, partial=True) for masked, row in pool]
    if not model.supports_qualifier_dropout:
        return queries
    return [_shortened(query, random) if random.random() < 0.5 else query for query in queries]


def _shortened(query: EncodedQuery, random: np.random.Generator) -> EncodedQuery:
    """The query without some of its qualifiers; that of the masked element stays."""
    keep = random.random()
    for attribute in reversed(attribute_columns(query.num_qualifiers)):
        asked = query.column in (attribute, partner_column(attribute, query.num_qualifiers))
        if not asked and random.random() >= keep:
            query = query.drop_qualifier(attribute)
    return query


def fit_temperature(scores: Tensor, answers: Tensor) -> float:
    """The temperature under which ``answers`` [n] are most probable given ``scores`` [n, C].

    The negative log likelihood is convex in the inverse temperature: Newton steps, limited to a factor of e, find its
    minimum.
    """
    gold = scores.gather(1, answers[:, None])[:, 0]
    temperature = 1.0
    for _ in range(_STEPS):
        probabilities = (scores / temperature).softmax(-1)
        expected = (scores * probabilities).sum(-1)
        variance = (scores.square() * probabilities).sum(-1) - expected.square()
        slope, curvature = float((expected - gold).mean()), float(variance.mean())
        step = max(-1.0, min(1.0, temperature * slope / max(curvature, 1e-9)))
        before = temperature
        temperature = max(_LOWEST, min(_HIGHEST, before * math.exp(step)))
        if abs(math.log(temperature / before)) < _TOLERANCE:
            break
    return temperature
