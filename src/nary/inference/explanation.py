"""Why a model gives an answer: the contribution of each known element, similar training facts, attention, rules."""

import numpy as np
import torch

from nary.evaluation.queries import EncodedQuery, make_batch
from nary.facts import Fact, FactTable, Position
from nary.facts.fact import quoted
from nary.facts.graph import fact_graph
from nary.facts.layout import FIRST_ATTRIBUTE, attribute_columns, column_of, partner_column
from nary.inference.best import Wanted
from nary.inference.context import Context
from nary.inference.evidence import Evidence
from nary.inference.explanation_results import Attention, Contribution, Explanation
from nary.inference.neighbors import supporting_facts
from nary.inference.reasons import part_votes, rule_reasons


def explain(context: Context, fact: Fact, position: Position) -> Explanation:
    """Explain the element at ``position`` of a fact that uses the names of the vocabulary."""
    query = context.encode(fact, position)
    ablations, notes = _ablations(context, fact, query)
    scores = _answer_scores(context, [query, *ablations.values()])
    score, probability = scores[0]
    contributions = [
        Contribution(where, name, label, probability_without, score_without, score - score_without)
        for (where, name, label), (score_without, probability_without) in zip(ablations, scores[1:], strict=True)
    ]
    contributions.sort(key=lambda one: -one.contribution)
    supporting, more_notes = supporting_facts(context, query)
    name = context.candidates(query.kind)[query.answer]
    stored, matches = context.lookup.containing(fact)
    return Explanation(
        str(fact),
        str(position),
        name,
        context.vocabulary.label(name),
        probability,
        score,
        _rank(context, fact, query.column),
        stored is not None,
        stored,
        matches,
        contributions,
        supporting,
        _attention(context, fact, query),
        rule_reasons(context, query),
        part_votes(context, query),
        [*context.notes(fact), *notes, *more_notes],
    )


def _ablations(
    context: Context, fact: Fact, query: EncodedQuery
) -> tuple[dict[tuple[str, str, str], EncodedQuery], list[str]]:
    """The query without each of the other elements, by position, name and label; and notes.

    A qualifier is dropped as a whole. The primary triple and the partner of the masked element cannot be dropped: they
    are hidden, if the model supports that.
    """
    ablations = {}
    label = context.vocabulary.label
    partner = partner_column(query.column, query.num_qualifiers)
    for column, (position, element) in enumerate(fact.elements().items()):
        if column == query.column:
            continue
        if column < FIRST_ATTRIBUTE or column == partner:
            if context.model.supports_multiple_masks:
                ablations[str(position), str(element), label(str(element))] = query.hide(column)
        elif column in attribute_columns(query.num_qualifiers):
            pair = fact.qualifiers[position.number - 1]
            written, labeled = (f"{quoted(a, '|:')}: {quoted(v, '|')}" for a, v in (pair, tuple(map(label, pair))))
            ablations[f"qualifier {position.number}", written, labeled] = query.drop_qualifier(column)
    notes = []
    if not context.model.supports_multiple_masks:
        notes.append(
            f"{context.model.name} cannot mask several elements, so only the contributions of qualifiers are shown"
        )
    return ablations, notes


def _answer_scores(context: Context, queries: list[EncodedQuery]) -> list[tuple[float, float]]:
    """The score and probability of the answer to each query."""
    best = context.best(queries, [Wanted(0, scored=np.array([query.answer])) for query in queries])
    scores = [one.scored[1] for one in best]
    pairs = zip(scores, best, strict=True)
    return [(float(score), float(one.log_probabilities(score).exp())) for score, one in pairs]


def _rank(context: Context, fact: Fact, column: int) -> float:
    (measured,) = Evidence(context).measure(FactTable.from_facts([fact], context.vocabulary))
    return float(measured.rank[0, column])


def _attention(context: Context, fact: Fact, query: EncodedQuery) -> list[Attention]:
    """The attention between the ends of each edge, averaged over the layers in which an element attends at all."""
    with torch.inference_mode():
        weights = context.model.attention(make_batch([query]).to(context.scorer.device))
    if weights is None:
        return []
    weights = weights[0].float().cpu()  # [L, T, T]
    layers = (weights.sum(-1) > 0).sum(0).clamp(min=1)  # [T]; in the last layer of GRAN only the masked vertex attends
    mean = weights.sum(0) / layers[:, None]

    def weight(source: Position, target: Position) -> float:
        return float(mean[column_of(source, query.num_qualifiers), column_of(target, query.num_qualifiers)])

    return [
        Attention(str(source), str(target), int(edge.type), weight(source, target))
        for edge in fact_graph(fact).edges
        for source, target in ((edge.first, edge.second), (edge.second, edge.first))
    ]
