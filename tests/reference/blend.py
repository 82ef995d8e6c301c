"""A blend in plain Python: one query and one candidate at a time."""

from collections.abc import Sequence

import torch

from nary.facts import Role, layout
from nary.models.base import Kind, Model
from nary.models.batch import Batch, Group


def mixed_score(
    parts: Sequence[Model],
    weights: Sequence[Sequence[Sequence[float]]],
    temperatures: Sequence[Sequence[float]],
    ids: Sequence[int],
    column: int,
) -> list[float]:
    """The score of each candidate for the masked column of one fact.

    ``weights[role][relation][part]``; the last relation stands for an unknown one.
    """
    role, relation = _place(ids, column, len(weights[0]) - 1)
    kind: Kind = "entity" if list(Role)[role].is_entity else "relation"
    total: list[float] = []
    for number, part in enumerate(parts):
        if list(Role)[role] not in part.roles:
            continue
        batch = Batch([Group(torch.tensor([list(ids)]), torch.tensor([column]))])
        scores = part.score(batch, kind)[0].tolist()
        factor = weights[role][relation][number] / temperatures[role][number]
        total = total or [0.0] * len(scores)
        total = [before + factor * score for before, score in zip(total, scores, strict=True)]
    return total


def _place(ids: Sequence[int], column: int, unknown: int) -> tuple[int, int]:
    m = (len(ids) - 3) // 2
    role = layout.position_at(column, m).role
    relation = {Role.RELATION: unknown, Role.VALUE: ids[column - m]}.get(role, ids[0])
    return list(Role).index(role), relation


def rank(scores: Sequence[float], answer: int, others: Sequence[int]) -> float:
    """The rank of the answer, ties at their mean, without other known answers."""
    left = [score for i, score in enumerate(scores) if i != answer and i not in others]
    higher = sum(score > scores[answer] for score in left)
    ties = sum(score == scores[answer] for score in left)
    return 1 + higher + ties / 2
