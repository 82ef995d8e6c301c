"""Filling one gap: the best answers to queries, many of them at a time."""

from collections.abc import Sequence
from typing import Literal, get_args

import torch
from torch import Tensor

from nary.errors import FactError, SettingError
from nary.facts import Query
from nary.inference.asking import Asker
from nary.inference.questions import Question
from nary.inference.results import Answer, Prediction

Known = Literal["mark", "hide", "only"]
"""What to do with answers that make a known fact: mark them, leave them out, or show nothing else."""


def predict(asker: Asker, queries: Sequence[Query], k: int, known: Known) -> list[Prediction]:
    """The ``k`` best answers to each query; all have one gap and the names of the vocabulary."""
    check_count(k)
    check_known(known)
    questions = [_question(asker, query) for query in queries]
    answers: dict[int, list[Answer]] = {}
    for places, scores, log_probabilities in asker.ask(questions):
        for row, place in enumerate(places):
            question = questions[place]
            known_ids = asker.known_answers(question)
            names = asker.candidates(question.kind)
            is_known = set(known_ids)
            answers[place] = [
                Answer(names[i], asker.vocabulary.label(names[i]), probability, score, i in is_known)
                for i, probability, score in _best(scores[row], log_probabilities[row], known_ids, k, known)
            ]
    return [
        Prediction(str(query), str(question.position), answers[place], asker.notes(query.arity), asker.calibrated)
        for place, (query, question) in enumerate(zip(queries, questions, strict=True))
    ]


def check_count(k: int) -> None:
    """Refuse to give fewer than one answer."""
    if k < 1:
        raise SettingError(f"{k} answers were asked for", "Ask for one or more.")


def check_known(known: str) -> None:
    """Refuse what is no way to treat known answers."""
    if known not in get_args(Known):
        raise SettingError(f"known answers cannot be treated by {known!r}", f"Expected {' or '.join(get_args(Known))}.")


def _question(asker: Asker, query: Query) -> Question:
    if len(query.gaps) > 1:
        raise FactError(f"{query} has {len(query.gaps)} gaps", "Leave one gap, or use complete to fill several.")
    return asker.question(query, query.gaps[0])


def _best(
    scores: Tensor, log_probabilities: Tensor, known_ids: list[int], k: int, known: Known
) -> list[tuple[int, float, float]]:
    """The id, probability and score of the best candidates, best first."""
    if known == "only":
        allowed = torch.tensor(known_ids, dtype=torch.int64)
        chosen = allowed[scores[allowed].topk(min(k, len(known_ids))).indices]
    else:
        left_out = torch.tensor(known_ids if known == "hide" else [], dtype=torch.int64)
        left = scores.index_fill(0, left_out, -torch.inf)
        chosen = left.topk(min(k, len(scores) - len(left_out))).indices
    return list(zip(chosen.tolist(), log_probabilities[chosen].exp().tolist(), scores[chosen].tolist(), strict=True))
