"""Why a model gives an answer: what each known element adds, which facts are similar, where attention goes."""

import torch

from nary.facts import Fact, FactTable, Position
from nary.facts.fact import quoted
from nary.facts.graph import fact_graph
from nary.facts.layout import FIRST_ATTRIBUTE, partner_column
from nary.inference.asking import Asker
from nary.inference.plausibility import score as plausibility
from nary.inference.questions import Question, batch_of
from nary.inference.results import Attention, Contribution, Explanation
from nary.inference.supporting import supporting_facts
from nary.progress import no_progress


def explain(asker: Asker, fact: Fact, position: Position) -> Explanation:
    """Explain the element at ``position`` of a fact with the names of the vocabulary."""
    question = asker.question(fact, position)
    without, notes = _without(asker, fact, question)
    scores = _scores(asker, [question, *without.values()])
    score, probability = scores[0]
    contributions = [
        Contribution(where, name, label, other_probability, other, score - other)
        for (where, name, label), (other, other_probability) in zip(without, scores[1:], strict=True)
    ]
    contributions.sort(key=lambda one: -one.contribution)
    supporting, more_notes = supporting_facts(asker, question)
    name = asker.candidates(question.kind)[question.answer]
    return Explanation(
        str(fact),
        str(position),
        name,
        asker.vocabulary.label(name),
        probability,
        score,
        _rank(asker, fact, position),
        contributions,
        supporting,
        _attention(asker, fact, question),
        [*asker.notes(fact.arity), *notes, *more_notes],
    )


def _without(asker: Asker, fact: Fact, question: Question) -> tuple[dict[tuple[str, str, str], Question], list[str]]:
    """The question without each of the other elements, by position, name and label; a qualifier goes as a whole.

    The partner of the element asked for, and the primary triple, cannot be left out. They are hidden, if the model
    understands that.
    """
    found = {}
    label = asker.vocabulary.label
    partner = partner_column(question.column, question.qualifiers)
    for column, (position, element) in enumerate(fact.elements().items()):
        if column == question.column:
            continue
        if column < FIRST_ATTRIBUTE or column == partner:
            if asker.model.supports_multiple_masks:
                found[str(position), str(element), label(str(element))] = question.hiding(column)
        elif column < FIRST_ATTRIBUTE + question.qualifiers:
            pair = fact.qualifiers[position.number - 1]
            written, labeled = (f"{quoted(a, '|:')}: {quoted(v, '|')}" for a, v in (pair, tuple(map(label, pair))))
            found[f"qualifier {position.number}", written, labeled] = question.leaving_out(column)
    notes = []
    if not asker.model.supports_multiple_masks:
        notes.append(f"{asker.model.name} needs the primary triple; only what qualifiers add can be told")
    return found, notes


def _scores(asker: Asker, questions: list[Question]) -> list[tuple[float, float]]:
    """The score and probability of the answer to each question."""
    found = {}
    for places, scores, log_probabilities in asker.ask(questions):
        for row, place in enumerate(places):
            answer = questions[place].answer
            found[place] = float(scores[row, answer]), float(log_probabilities[row, answer].exp())
    return [found[place] for place in range(len(questions))]


def _rank(asker: Asker, fact: Fact, position: Position) -> float:
    (found,) = plausibility(asker, FactTable.from_facts([fact], asker.vocabulary), no_progress)
    return next(element.rank for element in found.elements if element.position == str(position))


def _attention(asker: Asker, fact: Fact, question: Question) -> list[Attention]:
    """How much the ends of each edge look at each other, on average over the layers in which they look at all."""
    with torch.inference_mode():
        weights = asker.model.attention(batch_of([question]).to(asker.device))
    if weights is None:
        return []
    weights = weights[0].float().cpu()  # [L, T, T]
    layers = (weights.sum(-1) > 0).sum(0).clamp(min=1)  # [T]; in the last layer of GRAN only the masked vertex looks
    mean = weights.sum(0) / layers[:, None]
    places = list(fact.elements())
    return [
        Attention(str(source), str(target), int(edge.type), float(mean[places.index(source), places.index(target)]))
        for edge in fact_graph(fact).edges
        for source, target in ((edge.first, edge.second), (edge.second, edge.first))
    ]
