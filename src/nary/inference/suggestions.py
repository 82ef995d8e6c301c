"""Suggested qualifiers: attributes a fact lacks, with their most probable values.

Attributes are counted over training facts of the same relation; the model then predicts the value. Predicting the
attribute with the model too, its value hidden, works far worse, because models are trained on facts with one gap: of
the qualifiers of valid facts of nobel, removed in turn, 62 % are among the first ten suggestions, and 24 % that way.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nary.evaluation.queries import EncodedQuery
from nary.facts import GAP, Element, Fact, Query
from nary.facts.layout import RELATION
from nary.inference.context import Context
from nary.inference.prediction import check_count
from nary.inference.results import Suggestion, Suggestions

_ATTRIBUTES = 20
"""How many attributes are considered; a relation hardly ever has more."""


def suggest(context: Context, fact: Fact, k: int) -> Suggestions:
    """The ``k`` most probable qualifiers that a fact, in the names of the vocabulary, does not have.

    Probabilities are those of the next qualifier, given that there is one.
    """
    check_count(k)
    shares, counted = _attribute_shares(context, fact)
    attributes = [int(a) for a in np.argsort(-shares, kind="stable")[:_ATTRIBUTES] if shares[a] > 0]
    suggestions = []
    for attribute, name, log_probability in _values(context, fact, attributes, k + len(fact.qualifiers)):
        pair = context.vocabulary.relations[attribute], name
        if pair not in fact.qualifiers:
            labels = [context.vocabulary.label(part) for part in pair]
            probability = float(shares[attribute]) * math.exp(log_probability)
            suggestions.append(Suggestion(pair[0], labels[0], pair[1], labels[1], probability))
    suggestions.sort(key=lambda suggestion: -suggestion.probability)
    notes = context.notes(Query(*fact.primary, [*fact.qualifiers, (GAP, GAP)]))
    if not counted:
        notes.append(f"no fact in train with the relation {fact.relation} has a qualifier that this one lacks")
    return Suggestions(str(fact), suggestions[:k], notes)


def _attribute_shares(context: Context, fact: Fact) -> tuple[npt.NDArray[np.float64], bool]:
    """The share of each attribute among the further qualifiers of facts with the same relation [R].

    A training fact counts for an attribute that it has more often than ``fact``. All facts together count as one more,
    so that a relation that never had qualifiers gets the most common ones; the flag says whether any fact counted.
    """
    ids = context.vocabulary.relation_ids
    size = len(ids)
    present = np.zeros(size, np.int64)
    for name, number in Counter(attribute for attribute, _ in fact.qualifiers).items():
        present[ids[name]] = number
    counts, overall = np.zeros(size), np.zeros(size)
    for block in context.dataset.train.blocks:
        overall += np.bincount(block.attributes.ravel(), minlength=size)
        attributes = block.attributes[block.ids[:, RELATION] == ids[fact.relation]].astype(np.int64)
        pairs, times = np.unique(np.arange(len(attributes))[:, None] * size + attributes, return_counts=True)
        counts += np.bincount(pairs[times > present[pairs % size]] % size, minlength=size)
    counted = bool(counts.any())
    counts += overall / max(1.0, overall.sum())
    return counts / max(1.0, counts.sum()), counted


def _values(context: Context, fact: Fact, attributes: list[int], k: int) -> list[tuple[int, str, float]]:
    """The ``k`` most probable values of each attribute: attribute, name of the value, log probability."""
    queries = []
    for attribute in attributes:
        pairs: list[tuple[Element, Element]] = [*fact.qualifiers, (context.vocabulary.relations[attribute], GAP)]
        query = Query(fact.subject, fact.relation, fact.object, pairs)
        queries.append(context.encode(query, query.gaps[0]))
    values = []
    for place, (log_probabilities, ids) in sorted(_top_candidates(context, queries, k).items()):
        for log_probability, i in zip(log_probabilities, ids, strict=True):
            values.append((attributes[place], context.vocabulary.entities[i], log_probability))
    return values


def _top_candidates(
    context: Context, queries: Sequence[EncodedQuery], k: int
) -> dict[int, tuple[list[float], list[int]]]:
    """The log probabilities and ids of the ``k`` best candidates for each query, by its index."""
    best = {}
    for part in context.score(queries):
        top = part.log_probabilities.topk(min(k, part.log_probabilities.shape[1]))
        values, ids = top.values.tolist(), top.indices.tolist()
        best.update({place: (values[row], ids[row]) for place, row in zip(part.places, part.rows, strict=True)})
    return best
