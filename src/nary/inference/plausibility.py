"""The plausibility of facts: the probability that each is true, and how well each of its elements fits the others."""

from collections.abc import Sequence

import numpy as np

from nary.facts import FactTable
from nary.facts.layout import position_at
from nary.inference.classification import FactClassifier
from nary.inference.context import Context
from nary.inference.evidence import Measured
from nary.inference.lookup import FactLookup
from nary.inference.profile_results import DoubtfulFacts
from nary.inference.results import ElementPlausibility, Plausibility
from nary.progress import Progress


def score(context: Context, classifier: FactClassifier, table: FactTable, progress: Progress) -> list[Plausibility]:
    """The plausibility of each fact of a table with the ids of the vocabulary, in the order of the table."""
    context.check_arity(max(table.arities, default=2))
    results = {}
    for measured in classifier.evidence.measure(table, progress):
        probabilities = classifier.probability(measured)
        for row, place in enumerate(measured.block.rows.tolist()):
            results[place] = float(probabilities[row]), _elements(context, measured, row)
    scored = []
    for place, fact in enumerate(table.facts(context.vocabulary)):
        probability, elements = results[place]
        stored, matches = context.lookup.containing(fact)
        scored.append(
            Plausibility(
                str(fact),
                probability,
                classifier.is_fitted,
                stored is not None,
                stored,
                matches,
                elements,
                [*context.arity_notes(fact), *classifier.notes],
            )
        )
    return scored


def doubtful(lookup: FactLookup, entity: str, scored: Sequence[Plausibility], offset: int) -> DoubtfulFacts:
    """The facts about an entity after the first ``offset``, all of which were ``scored``, the least plausible first."""
    i = lookup.names.entity(entity)
    name = lookup.dataset.vocabulary.entities[i]
    facts = sorted(scored, key=lambda one: one.plausibility)
    return DoubtfulFacts(
        name, lookup.dataset.vocabulary.label(name), len(lookup.index.mentions(i)), offset, len(facts), facts
    )


def _elements(context: Context, measured: Measured, row: int) -> list[ElementPlausibility]:
    """The elements that the model can predict, those that fit least first."""
    numbers = zip(measured.rank[row], np.exp(measured.log_probability[row]), np.exp(measured.log_fit[row]), strict=True)
    elements = []
    for column, (i, (rank, probability, fit)) in enumerate(zip(measured.block.ids[row].tolist(), numbers, strict=True)):
        if not np.isnan(rank):
            position = position_at(column, measured.block.qualifiers)
            name = context.candidates("entity" if position.role.is_entity else "relation")[i]
            label = context.vocabulary.label(name)
            shown = float(rank), float(probability), float(fit)
            elements.append(ElementPlausibility(str(position), name, label, *shown))
    return sorted(elements, key=lambda element: element.fit)
