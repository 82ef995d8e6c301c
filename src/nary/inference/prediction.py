"""Filling one gap: what stored facts answer, and the best answers of the model."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from nary.errors import FactError, SettingError
from nary.evaluation.queries import EncodedQuery
from nary.evaluation.values import INTERVAL
from nary.facts import Query
from nary.inference.context import Context
from nary.inference.results import Answer, EstimatedValue, Prediction

Known = Literal["first", "mark", "hide", "only"]
"""Where known answers go: before all others, among the others by their score, nowhere, or alone."""


def predict(context: Context, queries: Sequence[Query], k: int, known: Known) -> list[Prediction]:
    """The ``k`` best answers to each query; all have one gap and use the names of the vocabulary."""
    check_count(k)
    check_known(known)
    encoded = [_encode(context, query) for query in queries]
    stored = [context.lookup.answers(query) for query in encoded]
    answers: dict[int, list[Answer]] = {}
    values: dict[int, EstimatedValue | None] = {}
    for part in context.score(encoded):
        for place, row in zip(part.places, part.rows, strict=True):
            best = _best(part.scores[row], torch.from_numpy(stored[place].ids), k, known)
            scores, probabilities = part.scores[row, best].tolist(), part.log_probabilities[row, best].exp().tolist()
            names = context.candidates(encoded[place].kind)
            values[place] = _estimate(context, encoded[place], part.log_probabilities[row])
            answers[place] = [
                _answer(context, names[i], probability, score, stored[place].find(i))
                for i, probability, score in zip(best.tolist(), probabilities, scores, strict=True)
            ]
    return [
        Prediction(
            str(query),
            str(encoded[place].position),
            answers[place],
            stored[place].total,
            context.notes(query),
            context.calibrated,
            values[place],
        )
        for place, query in enumerate(queries)
    ]


def check_count(k: int) -> None:
    """Refuse to give fewer than one answer."""
    if k < 1:
        raise SettingError(f"{k} answers were asked for", "Ask for one or more.")


def check_known(known: str) -> None:
    """Refuse anything but a value of :data:`Known`."""
    if known not in get_args(Known):
        raise SettingError(f"known answers cannot be treated by {known!r}", f"Expected {' or '.join(get_args(Known))}.")


def _encode(context: Context, query: Query) -> EncodedQuery:
    gap, *others = query.gaps
    if others:
        raise FactError(f"{query} has {1 + len(others)} gaps", "Leave one gap, or use complete to fill several.")
    return context.encode(query, gap)


def _best(scores: Tensor, known_ids: Tensor, k: int, known: Known) -> Tensor:
    """The ids of the best candidates, in their order."""
    if known == "mark":
        return scores.topk(min(k, len(scores))).indices
    first = known_ids[scores[known_ids].topk(min(k, len(known_ids))).indices]
    if known == "only":
        return first
    room = k if known == "hide" else k - len(first)
    others = scores.index_fill(0, known_ids, -torch.inf).topk(min(room, len(scores) - len(known_ids))).indices
    return others if known == "hide" else torch.cat([first, others])


def _estimate(context: Context, query: EncodedQuery, log_probabilities: Tensor) -> EstimatedValue | None:
    """The value in the gap, if numbers or dates stand there in training facts and the relation is known."""
    if query.kind == "relation" or query.hidden:
        return None
    slot = int(context.ranges.slots(np.array([query.ids]), query.column)[0])
    if (range_ := context.ranges.of(slot)) is None:
        return None
    places = range_.quantiles(log_probabilities.numpy()[None])[0]
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
