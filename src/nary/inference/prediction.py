"""Filling one gap: what stored facts answer, and the best answers of the model."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import torch

from nary.errors import FactError, SettingError
from nary.evaluation.queries import EncodedQuery
from nary.evaluation.values import INTERVAL, ValueRange
from nary.facts import Query
from nary.facts.table import Rows
from nary.inference.best import Best, Wanted, highest
from nary.inference.context import Context
from nary.inference.lookup import StoredAnswers
from nary.inference.results import Answer, EstimatedValue, Prediction
from nary.models.base import Kind

_APPROXIMATE = "the answers come from an approximate index, which may miss some"
Known = Literal["first", "mark", "hide", "only"]
"""Where known answers go: before all others, among the others by their score, nowhere, or alone."""


def predict(context: Context, queries: Sequence[Query], k: int, known: Known) -> list[Prediction]:
    """The ``k`` best answers to each query; all have one gap and use the names of the vocabulary."""
    check_count(k)
    check_known(known)
    encoded = [_encode(context, query) for query in queries]
    stored = [context.lookup.answers(query) for query in encoded]
    ranges = [_range(context, query) for query in encoded]
    wanted = [_wanted(one.ids, range_, k, known) for one, range_ in zip(stored, ranges, strict=True)]
    return [
        Prediction(
            str(query),
            str(encoded[place].position),
            _answers(context, encoded[place].kind, best, stored[place], k, known),
            stored[place].total,
            [*context.notes(query), *([_APPROXIMATE] if context.approximates(encoded[place]) else [])],
            context.calibrated,
            _estimate(context, ranges[place], best),
            context.approximates(encoded[place]),
        )
        for place, (query, best) in enumerate(zip(queries, context.probably_best(encoded, wanted), strict=True))
    ]


def check_count(k: int) -> None:
    """Refuse to give fewer than one answer."""
    if k < 1:
        raise SettingError(f"{k} answers were asked for", "Ask for one or more.")


def check_known(known: str) -> None:
    """Refuse anything but a value of :data:`Known`."""
    if known not in get_args(Known):
        raise SettingError(f"unknown value for known: {known!r}", f"Expected {' or '.join(get_args(Known))}.")


def _encode(context: Context, query: Query) -> EncodedQuery:
    gap, *others = query.gaps
    if others:
        raise FactError(f"{query} has {1 + len(others)} gaps", "Leave one gap, or use complete to fill several.")
    return context.encode(query, gap)


def _wanted(known_ids: Rows, range_: ValueRange | None, k: int, known: Known) -> Wanted:
    """What to find out about the candidates."""
    room = {"first": max(0, k - len(known_ids)), "mark": k, "hide": k, "only": 0}[known]
    scored = known_ids if range_ is None else np.union1d(known_ids, range_.ids)
    return Wanted(room, known_ids if known != "mark" else known_ids[:0], scored)


def _answers(context: Context, kind: Kind, best: Best, stored: StoredAnswers, k: int, known: Known) -> list[Answer]:
    """The answers, in their order."""
    ids, scores = best.ids, best.scores
    if known in ("first", "only"):
        of_known = best.scores_of(stored.ids)
        first = highest(of_known, k)
        ids, scores = torch.cat([torch.from_numpy(stored.ids)[first], ids]), torch.cat([of_known[first], scores])
    names, probabilities = context.candidates(kind), best.log_probabilities(scores).exp()
    return [
        _answer(context, names[i], probability, score, stored.find(i))
        for i, probability, score in zip(ids.tolist(), probabilities.tolist(), scores.tolist(), strict=True)
    ]


def _range(context: Context, query: EncodedQuery) -> ValueRange | None:
    """The numbers or dates that stand in the gap in training facts, if the relation is known."""
    if query.kind == "relation" or query.hidden or not len(context.vocabulary.scales.ids):
        return None
    return context.ranges.of(int(context.ranges.slots(np.array([query.ids]), query.column)[0]))


def _estimate(context: Context, range_: ValueRange | None, best: Best) -> EstimatedValue | None:
    """The value in the gap, if numbers or dates stand there."""
    if range_ is None:
        return None
    places = range_.quantiles(best.log_probabilities(best.scores_of(range_.ids)).numpy()[None])[0]
    low, median, high = (context.vocabulary.entities[i] for i in range_.ids[places].tolist())
    shown = [context.vocabulary.label(name) for name in (median, low, high)]
    label = "{}; {:.0%} between {} and {}".format(shown[0], INTERVAL, *shown[1:])
    return EstimatedValue(label, low, median, high, INTERVAL)


def _answer(context: Context, name: str, probability: float, score: float, stored: tuple[int, int] | None) -> Answer:
    """An answer, with the place of the stored fact that has it and the number of such facts."""
    label = context.vocabulary.label(name)
    if stored is None:
        return Answer(name, label, probability, score, known=False)
    place, matches = stored
    return Answer(name, label, probability, score, True, context.lookup.stored(place), matches)
