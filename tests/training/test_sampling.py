"""Negatives: wrong in one element, in a way its role allows; corruptions are never known facts."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from contracts.info import info_of
from hypothesis import given, settings
from hypothesis import strategies as st
from runs.small import dataset_of, small_data
from torch import Tensor

from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.facts import Fact, FactTable
from nary.models.base import DatasetInfo
from nary.models.batch import Group
from nary.recipe import choose_recipe
from nary.training.sampling import CorruptionSampler, NegativePool, NegativeSampler, SlotPools, draw_from_slots

CPU = torch.device("cpu")
Row = tuple[int, ...]


def corruptions(
    data: Dataset, num_negatives: int = 10, value_fraction: float | None = None, pool: NegativePool = "slot"
) -> CorruptionSampler:
    return CorruptionSampler(num_negatives, value_fraction, pool, DatasetInfo.from_dataset(data), CPU)


def ids_of(table: FactTable) -> list[Tensor]:
    return [torch.from_numpy(block.ids.astype(np.int64)) for block in table.blocks]


def rows(tensor: Tensor) -> list[Row]:
    return [tuple(row) for row in tensor.tolist()]


def as_set(row: Row) -> tuple[Row, Counter[Row]]:
    """A fact without an order of its qualifiers."""
    m = (len(row) - 3) // 2
    return row[:3], Counter(zip(row[3 : 3 + m], row[3 + m :], strict=True))


def replaced(row: Row, corrupted: Row) -> tuple[str, int, int]:
    """What was replaced, and by what, with the relation or attribute that says its role; one element must have been."""
    (head, pairs), (other, others) = as_set(row), as_set(corrupted)
    if head != other:
        assert pairs == others
        ((place, (_, new)),) = [(i, both) for i, both in enumerate(zip(head, other, strict=True)) if len(set(both)) > 1]
        return ("relation", "subject", "object")[place], new, head[0]
    ((attribute, value),) = (pairs - others).elements()
    ((new_attribute, new_value),) = (others - pairs).elements()
    assert (attribute == new_attribute) != (value == new_value)
    return ("value", new_value, attribute) if attribute == new_attribute else ("attribute", new_attribute, -1)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 1000),
    values=st.sampled_from([0.0, 1.0]),
    pool=st.sampled_from(["slot", "relation"]),
)
def test_one_element_is_replaced_by_one_that_its_role_allows(seed: int, values: float, pool: NegativePool) -> None:
    data = small_data()
    groups, facts = ids_of(data.train), {row for ids in ids_of(data.train) for row in rows(ids)}
    torch.manual_seed(seed)
    drawn_facts = corruptions(data, num_negatives=3, value_fraction=values, pool=pool)(groups)
    seen = _seen if pool == "slot" else _seen_anywhere
    outside = 0
    for ids, corrupted in zip(groups, drawn_facts, strict=True):
        assert corrupted.shape == (3 * len(ids), ids.shape[1])
        for row, other in zip(rows(ids.repeat_interleave(3, 0)), rows(corrupted), strict=True):
            assert other not in facts
            what, new, role = replaced(row, other)
            assert (what in ("subject", "object", "value")) == bool(values)
            outside += bool(values) and new not in seen(facts, what, role)
    assert outside <= sum(map(len, drawn_facts)) / 20  # where nothing that was seen is left to take


def _seen(facts: set[Row], what: str, role: int) -> set[int]:
    """The entities in this slot of the relation, or with this attribute."""
    if what == "value":
        return {value for row in facts for attribute, value in as_set(row)[1] if attribute == role}
    return {row[1 if what == "subject" else 2] for row in facts if row[0] == role}


def _seen_anywhere(facts: set[Row], what: str, role: int) -> set[int]:
    return _seen(facts, "subject", role) | _seen(facts, "object", role) | _seen(facts, "value", role)


def test_known_facts_are_recognized_in_any_order() -> None:
    """What replaces a value may belong before or after the other value of its attribute."""
    facts = [Fact("s", "r", "o", [("with", v), ("with", "c")]) for v in "abde"]
    data = dataset_of(train=[*facts, *(Fact(v, "q", "t", [("with", v)]) for v in "fghijklm")])
    known = {row for ids in ids_of(data.train) for row in rows(ids)}
    torch.manual_seed(0)
    drawn_facts = corruptions(data, num_negatives=200, value_fraction=1.0)(ids_of(data.train))[1]
    assert not known & set(rows(drawn_facts))
    values = drawn_facts[:, 5:]
    assert (drawn_facts[:, 3:5] == drawn_facts[:, 3:4]).all()
    assert (values[:, 0] <= values[:, 1]).all()  # in the order of a table
    assert (values[:, 0] < values[:, 1]).any()


def test_a_role_that_was_seen_with_one_entity_takes_any() -> None:
    data = dataset_of(train=[Fact("a", "r", "b"), Fact("c", "q", "d"), Fact("e", "q", "f")])
    torch.manual_seed(0)
    drawn_facts = corruptions(data, num_negatives=200, value_fraction=1.0)(ids_of(data.train))[0][:200]
    subjects, objects = Counter(drawn_facts[:, 1].tolist()), Counter(drawn_facts[:, 2].tolist())
    assert set(subjects) == set(objects) == set(range(6))
    assert subjects[0] == pytest.approx(100, abs=30)  # the slot is drawn evenly
    assert objects[1] == pytest.approx(100, abs=30)


@pytest.mark.parametrize(("pool", "share"), [("slot", 0.0), ("mixed", 0.5), ("all", 1.0)])
def test_how_many_are_drawn_from_all_entities(pool: NegativePool, share: float) -> None:
    """In the slots of "r" there were 3 entities each, of 1000."""
    facts = [Fact(f"s{i}", "r", f"o{i}") for i in range(3)] + [Fact(f"e{i}", "q", f"e{i}") for i in range(994)]
    data = dataset_of(train=facts)
    subset = torch.from_numpy(data.train.blocks[0].ids[data.train.blocks[0].ids[:, 0] == 1].astype(np.int64))
    torch.manual_seed(0)
    (drawn_facts,) = corruptions(data, num_negatives=200, value_fraction=1.0, pool=pool)([subset])
    names = [[data.vocabulary.entities[i] for i in row] for row in drawn_facts[:, 1:].tolist()]
    outside = sum(not (first.startswith("s") and second.startswith("o")) for first, second in names)
    assert outside == pytest.approx(share * len(drawn_facts), abs=50)


def test_values_or_roles_by_chance_but_the_same_in_a_whole_batch() -> None:
    data = small_data()
    groups, sampler = ids_of(data.train), corruptions(data, num_negatives=1, value_fraction=0.75)
    kinds = Counter()
    for seed in range(100):
        torch.manual_seed(seed)
        drawn_facts = sampler(groups)
        changed = {
            replaced(row, other)[0] in ("relation", "attribute")
            for ids, subset in zip(groups, drawn_facts, strict=True)
            for row, other in zip(rows(ids), rows(subset), strict=True)
        }
        assert len(changed) == 1
        kinds[changed.pop()] += 1
    assert kinds[False] == pytest.approx(75, abs=20)


def test_without_a_setting_chance_goes_by_the_numbers_of_entities_and_relations() -> None:
    assert corruptions(small_data()).value_fraction == pytest.approx(20 / 26)


def test_corruptions_follow_from_the_seed_alone() -> None:
    data = small_data()
    sampler, again = corruptions(data), corruptions(data)
    torch.manual_seed(7)
    first = sampler(ids_of(data.train))
    torch.manual_seed(7)
    assert all(torch.equal(*both) for both in zip(first, again(ids_of(data.train)), strict=True))
    assert not all(torch.equal(*both) for both in zip(first, sampler(ids_of(data.train)), strict=True))


@pytest.mark.parametrize("changed", [{"merge_queries": True}, {"relation_fraction": 0.5}])
def test_what_masks_elements_is_refused(changed: dict[str, Any]) -> None:
    settings = {"loss.name": "corruption_bce", "training.shuffle": "instances"}
    settings |= {f"training.{key}": value for key, value in changed.items()}
    with pytest.raises(SettingError, match='"corruption_bce" learns whole facts'):
        choose_recipe("mine", "nalp", overrides=settings)


@settings(max_examples=25)
@given(seed=st.integers(0, 1000))
def test_near_entities_were_seen_in_the_role_and_make_no_fact(seed: int) -> None:
    data = small_data()
    facts = [row for ids in ids_of(data.train) for row in rows(ids)]
    known = [as_set(row) for row in facts]
    seen = {(f"{role} of {row[0]}", row[place]) for row in facts for place, role in ((1, "subject"), (2, "object"))}
    seen |= {(f"value of {attribute}", value) for _, pairs in known for attribute, value in pairs}
    pools = SlotPools(DatasetInfo.from_dataset(data), CPU)
    torch.manual_seed(seed)
    for ids in ids_of(data.train):
        m = (ids.shape[1] - 3) // 2
        for column in (1, 2, *range(3 + m, 3 + 2 * m)):
            entities = draw_from_slots(pools, ids, torch.full((len(ids),), column), torch.full((len(ids), 4), -1))
            for row, drawn in zip(rows(ids), entities.tolist(), strict=True):
                for entity in (one for one in drawn if one != -1):
                    corrupted = (*row[:column], entity, *row[column + 1 :])
                    assert as_set(corrupted) not in known
                    role, new, of = replaced(row, corrupted)
                    assert (f"{role} of {of}", new) in seen


def test_slot_negatives_are_for_random_candidates() -> None:
    with pytest.raises(SettingError, match=r"unknown key loss\.slot_negatives"):
        choose_recipe("mine", overrides={"loss.slot_negatives": 0.5})


# Random candidates for a masked element

FACT = [0, 1, 2]  # relation 0, subject 1, object 2


def negatives_of(info: DatasetInfo, count: int, *columns: int) -> Tensor:
    """The fact with each of ``columns`` masked, and its negatives [n, 1 + count, 3]."""
    group = Group(torch.tensor([FACT] * len(columns)), torch.tensor(columns))
    return NegativeSampler(count, 0.0, info)(group)


def test_negatives_replace_the_masked_element_alone() -> None:
    by_subject, by_object = negatives_of(info_of(50, 1, 2), 20, 1, 2)
    assert by_subject[0].tolist() == by_object[0].tolist() == FACT
    assert by_subject[:, [0, 2]].tolist() == [[0, 2]] * 21
    assert by_object[:, [0, 1]].tolist() == [[0, 1]] * 21
    assert len(set(by_subject[1:, 1].tolist())) > 5  # drawn from all entities
    assert len(set(by_object[1:, 2].tolist())) > 5


def test_a_masked_relation_is_replaced_by_relations() -> None:
    by_relation, by_subject = negatives_of(info_of(50, 7, 2), 60, 0, 1)
    assert set(by_relation[:, 0].tolist()) == set(range(7))
    assert by_relation[:, 1:].tolist() == [FACT[1:]] * 61
    assert by_subject[:, 0].tolist() == [0] * 61
    assert max(by_subject[:, 1].tolist()) > 7


def test_the_share_of_slot_negatives() -> None:
    """Of the three subjects of "r", of 1000 entities, one alone makes no fact with the object asked about."""
    facts = [Fact("s0", "r", "o"), Fact("s1", "r", "o"), Fact("s2", "r", "p")]
    data = dataset_of(train=facts + [Fact(f"e{i}", "q", f"e{i}") for i in range(995)])
    names = data.vocabulary
    subject, near, asked_about = (names.entities.index(name) for name in ("s0", "s2", "o"))
    ids = torch.tensor([[names.relations.index("r"), subject, asked_about]] * 30)
    sampler = NegativeSampler(40, 0.6, DatasetInfo.from_dataset(data), CPU)
    torch.manual_seed(0)
    drawn = sampler(Group(ids, torch.ones(30, dtype=torch.int64)))[:, 1:, 1]
    assert (drawn == near).double().mean().item() == pytest.approx(0.6 / 3, abs=0.04)
