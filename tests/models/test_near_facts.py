"""The facts near a masked fact: which are chosen, and that none of them tells the answer."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from runs.small import small_data

from nary.facts import FactTable
from nary.facts.table import Block
from nary.models.base import DatasetInfo
from nary.models.batch import Batch, Group
from nary.models.gran import Gran, GranSettings
from nary.models.near_facts import Near, NearFacts

_SETTINGS = GranSettings(num_layers=2, num_heads=2, hidden_dim=16, ffn_dim=16, near_facts=3)


def table_of(*rows: list[int]) -> FactTable:
    """Facts of any arity from rows of ids."""
    lengths = sorted({len(row) for row in rows})
    blocks = [[(place, row) for place, row in enumerate(rows) if len(row) == length] for length in lengths]
    return FactTable([Block(np.array([row for _, row in b], np.int32), np.array([p for p, _ in b])) for b in blocks])


def asking(row: list[int], column: int) -> Group:
    return Group(torch.tensor([row]), torch.tensor([column]))


def facts_in(near: Near) -> list[tuple[list[int], list[int]]]:
    """Relations and entities of the near facts of one masked fact, without padding."""
    parts = zip(near.relations[0].tolist(), near.entities[0].tolist(), near.missing[0].tolist(), strict=True)
    return [([r for r in rs if r >= 0], [e for e in es if e >= 0]) for rs, es, missing in parts if not missing]


def near_facts(facts: FactTable, count: int) -> NearFacts:
    return NearFacts(count, DatasetInfo(10, 4, 4, facts), 8).eval()


AWARD, SIBLING, YEAR = 0, 1, 2
CURIE_1911 = [AWARD, 0, 1, YEAR, 2]
FACTS = table_of(
    CURIE_1911,
    [AWARD, 0, 3, YEAR, 4],  # another prize of hers
    [AWARD, 5, 1, YEAR, 2],  # the same prize of another person
    [SIBLING, 6, 0],
    [SIBLING, 7, 8],  # nothing in common
)


def test_facts_with_more_in_common_come_first_and_the_fact_itself_is_left_out() -> None:
    near = near_facts(FACTS, 4).find(asking(CURIE_1911, 2))
    first, second, third = facts_in(near)
    assert [first, second] in (
        [([AWARD, YEAR], [0, 3, 4]), ([AWARD, YEAR], [5, 1, 2])],
        [([AWARD, YEAR], [5, 1, 2]), ([AWARD, YEAR], [0, 3, 4])],
    )
    assert third == ([SIBLING], [6, 0])
    assert near.missing.tolist() == [[False, False, False, True]]


def test_what_is_shared_is_told_by_slots_and_what_is_new_by_entities() -> None:
    near = near_facts(FACTS, 4).find(asking(CURIE_1911, 2))
    sibling = facts_in(near).index(([SIBLING], [6, 0]))
    assert near.new[0, sibling].tolist() == [True, False, False]
    assert near.shared[0, sibling].tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0]  # an object that is the subject


def test_whole_facts_that_answer_a_shorter_question_are_left_out() -> None:
    near = near_facts(FACTS, 4).find(asking([AWARD, 0, 1], 2))  # no year is given
    assert facts_in(near) == [([SIBLING], [6, 0])]


def test_hidden_elements_find_nothing() -> None:
    group = replace(asking(CURIE_1911, 2), hidden=torch.tensor([[False, True, False, False, False]]))
    assert facts_in(near_facts(FACTS, 4).find(group)) == []  # the other fact of that year answers the question, too


@pytest.mark.parametrize("place", range(0, 48, 4))
def test_a_prediction_is_the_same_with_and_without_the_fact_itself(place: int) -> None:
    info = DatasetInfo.from_dataset(small_data())
    rest = replace(info, facts=info.facts.take(np.delete(np.arange(len(info.facts)), place)))
    torch.manual_seed(0)
    with_fact, without = Gran(_SETTINGS, info).eval(), Gran(_SETTINGS, rest).eval()
    without.load_state_dict(with_fact.state_dict())
    (block,) = info.facts.take(np.array([place])).blocks
    ids = torch.from_numpy(block.ids.astype(np.int64)).repeat(block.ids.shape[1], 1)
    batch = Batch([Group(ids, torch.arange(block.ids.shape[1]))])
    assert torch.equal(with_fact.encode(batch), without.encode(batch))


def test_a_prediction_changes_with_the_facts_around() -> None:
    torch.manual_seed(0)
    batch = Batch([asking(CURIE_1911, 2)])
    whole = Gran(_SETTINGS, DatasetInfo(10, 4, 4, FACTS)).eval()
    fewer = Gran(_SETTINGS, DatasetInfo(10, 4, 4, FACTS.take(np.array([0, 2, 3, 4])))).eval()
    fewer.load_state_dict(whole.state_dict())
    assert not torch.allclose(whole.encode(batch), fewer.encode(batch))


def test_training_draws_by_its_seed_and_evaluation_does_not_draw() -> None:
    many = table_of(
        *([SIBLING, 0, entity] for entity in range(1, 10)), *([AWARD, 0, entity] for entity in range(1, 10))
    )
    found = near_facts(many, 2)
    group = asking([YEAR, 0, 5], 2)

    def draws(seeds: range) -> list[Near]:
        drawn = []
        for seed in seeds:
            torch.manual_seed(seed)
            drawn.append(found.find(group))
        return drawn

    assert len({str(facts_in(near)) for near in draws(range(8))}) == 1
    found.train()
    assert len({str(facts_in(near)) for near in draws(range(8))}) > 1
    assert [facts_in(near) for near in draws(range(3))] == [facts_in(near) for near in draws(range(3))]


def test_longer_questions_than_any_fact_and_unknown_entities() -> None:
    near = near_facts(FACTS, 2).find(asking([AWARD, 9, 0, YEAR, YEAR, 2, 4], 2))
    assert {len(entities) for _, entities in facts_in(near)} == {3}
