"""Suggested qualifiers: what stored facts add to a fact, then attributes it lacks with their most probable values.

Attributes are counted over training facts with the same relation; the model then predicts the value, corrected by the
range of the attribute. Predicting the attribute with the model too, its value hidden, works far worse, because models
are trained on facts with one gap.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from nary.facts import GAP, Element, Fact, FactTable, Query
from nary.inference.attribute_shares import Floats, attribute_shares
from nary.inference.context import Context
from nary.inference.lookup import FurtherQualifier
from nary.inference.prediction import Known, check_count, check_known
from nary.inference.results import Suggestion, Suggestions
from nary.inference.value_mixture import ValueMixture, present_values

_ATTRIBUTES = 20
"""How many attributes are considered; a relation hardly ever has more."""
_Pair = tuple[int, int]
"""An attribute and a value."""


class Suggester:
    """Suggests qualifiers for facts in the names of the vocabulary."""

    def __init__(self, context: Context, held_out: FactTable | None) -> None:
        self.mixture = ValueMixture(context, held_out)
        self._context = context

    def suggest(self, fact: Fact, k: int, known: Known) -> Suggestions:
        """The ``k`` most probable qualifiers that a fact does not have, with ``known="first"`` after those stored.

        Probabilities are those of the next qualifier, given that there is one.
        """
        check_count(k)
        check_known(known)
        context = self._context
        stored, matches = context.lookup.further(fact)
        shares, counted = self.attribute_shares(fact)
        attributes = top_attributes(shares)
        attributes += sorted({attribute for attribute, _ in stored}.difference(attributes))
        probabilities: dict[_Pair, float] = {}
        for attribute, model, present in self.model_values(fact, attributes):
            joint = shares[attribute] * self.mixture.mix(model, attribute, present)
            best = np.argsort(-joint, kind="stable")[: k + len(stored)].tolist()
            known_values = [value for one, value in stored if one == attribute]
            probabilities |= {(attribute, value): float(joint[value]) for value in {*best, *known_values} - {*present}}
        pairs = _order(probabilities, stored, known)[:k]
        notes = context.notes(Query(*fact.primary, [*fact.qualifiers, (GAP, GAP)]))
        if not counted:
            notes.append(f"no training fact with the relation {fact.relation} has a further attribute")
        suggested = [self._suggestion(pair, probabilities[pair], stored.get(pair)) for pair in pairs]
        return Suggestions(str(fact), suggested, matches, notes, context.calibrated)

    def attribute_shares(self, fact: Fact) -> tuple[Floats, bool]:
        """The probability that each attribute is that of the next qualifier [R], and whether any fact counted."""
        vocabulary = self._context.vocabulary
        present = [vocabulary.relation(attribute) for attribute, _ in fact.qualifiers]
        relation, object = vocabulary.relation(fact.relation), vocabulary.entity(fact.object)
        return attribute_shares(self._context.dataset.train, relation, object, present, len(vocabulary.relations))

    def model_values(self, fact: Fact, attributes: Sequence[int]) -> Iterator[tuple[int, Floats, list[int]]]:
        """For each attribute the model's probability of each value [E], and the values that the fact has for it."""
        context, queries = self._context, []
        for attribute in attributes:
            pairs: list[tuple[Element, Element]] = [*fact.qualifiers, (context.vocabulary.relations[attribute], GAP)]
            query = Query(fact.subject, fact.relation, fact.object, pairs)
            queries.append(context.encode(query, query.gaps[0]))
        for part in context.score(queries):
            for place, row in zip(part.places, part.rows, strict=True):
                probabilities = part.log_probabilities[row].double().exp().numpy()
                yield attributes[place], probabilities, present_values(queries[place])

    def _suggestion(self, pair: _Pair, probability: float, stored: FurtherQualifier | None) -> Suggestion:
        vocabulary = self._context.vocabulary
        attribute, value = vocabulary.relations[pair[0]], vocabulary.entities[pair[1]]
        names = attribute, vocabulary.label(attribute), value, vocabulary.label(value)
        if stored is None:
            return Suggestion(*names, probability, known=False)
        return Suggestion(*names, probability, True, self._context.lookup.stored(stored.place), stored.matches)


def top_attributes(shares: Floats) -> list[int]:
    """The attributes to consider, the most probable first."""
    return [int(attribute) for attribute in np.argsort(-shares, kind="stable")[:_ATTRIBUTES] if shares[attribute] > 0]


def _order(probabilities: dict[_Pair, float], stored: dict[_Pair, FurtherQualifier], known: Known) -> list[_Pair]:
    """The qualifiers to suggest, best first."""
    pairs = sorted(probabilities, key=lambda pair: (-probabilities[pair], pair))
    if known == "mark":
        return pairs
    first, others = ([pair for pair in pairs if (pair in stored) == wanted] for wanted in (True, False))
    return {"first": first + others, "only": first, "hide": others}[known]
