"""Which slots make the primary pair."""

import torch
from models.pairs.small import SIZES, facts, ids_of
from nary.models.pairs.primary import Primary

from nary.facts import Fact, FactTable, Vocabulary
from nary.models.batch import Group

_FACTS = [
    Fact("x", "r", "a", [("p", "c")]),
    Fact("x", "r", "a", [("p", "d")]),
    Fact("y", "r", "a", [("p", "e")]),
    Fact("y", "r", "a", [("p", "e"), ("q", "c")]),
    Fact("x", "s", "a"),
    Fact("x", "s", "b"),
]
_VOCABULARY = Vocabulary.of(["a", "b", "c", "d", "e", "x", "y"], ["p", "q", "r", "s"])
P, Q, R, S = (_VOCABULARY.relation(name) for name in "pqrs")
A, B, C, D, E, X, Y = (_VOCABULARY.entity(name) for name in "abcdexy")


def primary() -> Primary:
    """r has 2 subjects and 1 object, s 1 and 2; p has 3 values and q 1."""
    found = Primary(4)
    found.count(FactTable.from_facts(_FACTS, _VOCABULARY))
    return found


def test_distinct_entities_are_counted_by_role() -> None:
    expected = torch.zeros(12, dtype=torch.int64)
    expected[[R, 4 + R, S, 4 + S, 8 + P, 8 + Q]] = torch.tensor([2, 1, 1, 2, 3, 1])
    assert torch.equal(primary().counts, expected)


def test_the_two_slots_with_the_most_come_first() -> None:
    arranged = primary().arranged
    assert arranged(torch.tensor([[S, X, B]])).tolist() == [[S, B, X]]
    assert arranged(torch.tensor([[R, X, A, P, C]])).tolist() == [[R, C, X, 8 + R, A]]  # the object of r, as a value
    assert arranged(torch.tensor([[S, X, B, P, C]])).tolist() == [[S, C, B, 4 + S, X]]  # the subject of s


def test_slots_with_equally_many_stay_in_order() -> None:
    arranged = primary().arranged
    assert arranged(torch.tensor([[R, X, A, Q, C]])).tolist() == [[R, X, A, Q, C]]
    assert arranged(torch.tensor([[Q, X, A]])).tolist() == [[Q, X, A]]  # no fact of this relation was seen
    turned = arranged(torch.tensor([[R, X, A, Q, P, C, E], [R, X, A, P, Q, E, C]]))
    assert torch.equal(turned[0], turned[1])


def test_what_is_asked_for_moves_with_its_slot() -> None:
    own = Primary(SIZES.relations)
    own.count(facts())
    moved = 0
    for ids in ids_of(facts()):
        qualifiers = (ids.shape[1] - 3) // 2
        for column in (1, 2, *range(3 + qualifiers, ids.shape[1])):
            marked = ids.clone()
            marked[:, column] = 99
            found = own.arranged_group(Group(marked, torch.full((len(ids),), column)))
            assert (found.answers == 99).all()
            assert ((found.ids == 99).sum(1) == 1).all()
            moved += int((found.columns != column).sum())
    assert moved
