"""Qualifiers that a fact may lack: which attribute, and with which value.

How often facts of the same relation have an attribute is counted; its value is then a gap like any other.
Asking the model for the attribute too, with its value hidden, finds far less: it has learned from facts with one gap.
Of the qualifiers of valid facts of nobel, hidden in turn, 62 % are among the first ten suggestions, and 24 % that way.
"""

import math
from collections import Counter

import numpy as np
import numpy.typing as npt

from nary.facts import GAP, Element, Fact, Query, Role
from nary.facts.layout import RELATION
from nary.inference.asking import Asker
from nary.inference.prediction import check_count
from nary.inference.results import Suggestion, Suggestions

_ATTRIBUTES = 20
"""How many attributes are considered: more hardly ever occur with one relation."""


def suggest(asker: Asker, fact: Fact, k: int) -> Suggestions:
    """The ``k`` most probable qualifiers that a fact, in the names of the vocabulary, does not have.

    Their probabilities are those of one further qualifier, if there is one.
    """
    check_count(k)
    shares, counted = _attribute_shares(asker, fact)
    attributes = [int(a) for a in np.argsort(-shares, kind="stable")[:_ATTRIBUTES] if shares[a] > 0]
    found = []
    for attribute, name, log_probability in _values(asker, fact, attributes, k + len(fact.qualifiers)):
        pair = asker.vocabulary.relations[attribute], name
        if pair not in fact.qualifiers:
            labels = [asker.vocabulary.label(part) for part in pair]
            probability = float(shares[attribute]) * math.exp(log_probability)
            found.append(Suggestion(pair[0], labels[0], pair[1], labels[1], probability))
    found.sort(key=lambda suggestion: -suggestion.probability)
    notes = asker.notes(fact.arity + 1)
    if not counted:
        notes.append(f"no fact in train with the relation {fact.relation} has a qualifier that this one lacks")
    return Suggestions(str(fact), found[:k], notes)


def _attribute_shares(asker: Asker, fact: Fact) -> tuple[npt.NDArray[np.float64], bool]:
    """The share of each attribute among the further qualifiers of facts with the same relation [R].

    A fact in train counts for an attribute that it has more often than ``fact``. All facts together count like one
    more, so that a relation that never had qualifiers gets the usual ones; the flag says that this was not needed.
    """
    ids = asker.vocabulary.relation_ids
    size = len(ids)
    own = np.zeros(size, np.int64)
    for name, number in Counter(attribute for attribute, _ in fact.qualifiers).items():
        own[ids[name]] = number
    counts, overall = np.zeros(size), np.zeros(size)
    for block in asker.dataset.train.blocks:
        overall += np.bincount(block.attributes.ravel(), minlength=size)
        attributes = block.attributes[block.ids[:, RELATION] == ids[fact.relation]].astype(np.int64)
        pairs, times = np.unique(np.arange(len(attributes))[:, None] * size + attributes, return_counts=True)
        counts += np.bincount(pairs[times > own[pairs % size]] % size, minlength=size)
    counted = bool(counts.any())
    counts += overall / max(1.0, overall.sum())
    return counts / max(1.0, counts.sum()), counted


def _values(asker: Asker, fact: Fact, attributes: list[int], k: int) -> list[tuple[int, str, float]]:
    """The ``k`` most probable values of each attribute: attribute, name of the value, log probability."""
    questions = []
    for attribute in attributes:
        pairs: list[tuple[Element, Element]] = [*fact.qualifiers, (asker.vocabulary.relations[attribute], GAP)]
        query = Query(fact.subject, fact.relation, fact.object, pairs)
        questions.append(asker.question(query, next(gap for gap in query.gaps if gap.role is Role.VALUE)))
    found = []
    for places, _, log_probabilities in asker.ask(questions):
        best = log_probabilities.topk(min(k, log_probabilities.shape[1]))
        for place, values, candidates in zip(places, best.values.tolist(), best.indices.tolist(), strict=True):
            for log_probability, candidate in zip(values, candidates, strict=True):
                found.append((attributes[place], asker.vocabulary.entities[candidate], log_probability))
    return found
