"""A few queries to start from, made of facts the model has not learned from."""

from collections.abc import Iterator

from nary.data.dataset import Dataset
from nary.facts import Fact, Position, Query, Role
from nary.models.base import Model

_READABLE = 5  # the highest arity that makes a good example
_PREFERRED = ("test", "valid", "train")


def examples(dataset: Dataset, model: Model) -> list[Query]:
    """An object, a relation and a value asked for, if the model can, in facts of different arity."""
    facts = _one_of_each_arity(dataset)
    return [
        fact.query(position)
        for fact, position in _questions(facts)
        if position.role in model.roles and position in fact.elements()
    ]


def _one_of_each_arity(dataset: Dataset) -> list[Fact]:
    """A readable fact of each arity, lowest first; of the highest one if none is readable."""
    table = next(dataset.splits[split] for split in _PREFERRED if len(dataset.splits.get(split, ())))
    found: dict[int, Fact] = {}
    for fact in table.facts(dataset.vocabulary):
        found.setdefault(fact.arity, fact)
    readable = {arity: fact for arity, fact in found.items() if arity <= _READABLE} or found
    return [readable[arity] for arity in sorted(readable)]


def _questions(facts: list[Fact]) -> Iterator[tuple[Fact, Position]]:
    lowest, middle, highest = facts[0], facts[len(facts) // 2], facts[-1]
    yield lowest, Position(Role.OBJECT)
    yield middle, Position(Role.RELATION)
    yield highest, Position(Role.VALUE, 1)
    yield highest, Position(Role.SUBJECT)
