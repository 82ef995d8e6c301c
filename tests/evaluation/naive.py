"""Ranking as one would explain it: fact by fact, by name, with sets and sorted lists."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import torch

from nary.facts import Fact, FactTable, Position, Role, Vocabulary
from nary.models.base import Model
from nary.models.batch import Batch, Group

_TRIPLE = (Role.RELATION, Role.SUBJECT, Role.OBJECT)


class Rank(NamedTuple):
    fact: str
    position: str
    answer: str
    optimistic: int
    pessimistic: int
    filtered: int


def question(fact: Fact, position: Position, rule: str) -> Hashable:
    """Equal for queries that count as the same."""
    if rule == "order-free":
        return fact.query(position)
    others = {(place, element) for place, element in fact.elements().items() if place != position}
    if rule == "primary" and position.role in _TRIPLE:
        others = {(place, element) for place, element in others if place.role in _TRIPLE}
    return position, frozenset(others)


def known_answers(facts: Iterable[Fact], rule: str) -> dict[Hashable, set[str]]:
    found: dict[Hashable, set[str]] = defaultdict(set)
    for fact in facts if rule != "none" else ():
        for position, answer in fact.elements().items():
            found[question(fact, position, rule)].add(str(answer))
    return found


def rank_all(
    model: Model,
    facts: Sequence[Fact],
    filter_facts: Iterable[Fact],
    rule: str,
    vocabulary: Vocabulary,
    allowed: set[str] | None = None,
) -> list[Rank]:
    known = known_answers(filter_facts, rule)
    ranks = []
    for fact in facts:
        ids = torch.from_numpy(FactTable.from_facts([fact], vocabulary).blocks[0].ids).long()
        for column, (position, answer) in enumerate(fact.elements().items()):
            entity = position.role.is_entity
            limited = allowed is not None and position.role in (Role.SUBJECT, Role.OBJECT)
            if limited and answer not in allowed:
                continue
            names = vocabulary.entities if entity else vocabulary.relations
            batch = Batch([Group(ids, torch.tensor([column]))])
            scores = model.score(batch, "entity" if entity else "relation")[0].tolist()
            others = known[question(fact, position, rule)] - {answer}
            filtered = 0
            for i, name in enumerate(names):
                if limited and name not in allowed:
                    scores[i] = -float("inf")
                elif name in others:
                    scores[i] = -float("inf")
                    filtered += 1
            gold = scores[names.index(str(answer))]
            best_first = sorted(scores, reverse=True)
            first = best_first.index(gold) + 1
            ranks.append(
                Rank(str(fact), str(position), str(answer), first, first + best_first.count(gold) - 1, filtered)
            )
    return ranks
