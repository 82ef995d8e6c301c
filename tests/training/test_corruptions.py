"""Corrupted facts: wrong in one slot, in a way its role allows, and never a fact that is known."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from contracts.info import info_of
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from runs.small import dataset_of, small_data
from torch import Tensor

from nary.config import Settings
from nary.data.dataset import Dataset
from nary.facts import Fact, FactTable
from nary.models.base import DatasetInfo, Model
from nary.models.batch import Batch, Group
from nary.training.corruptions import Corruptions
from nary.training.instances import Instances
from nary.training.lesson import Lesson
from nary.training.objective import loss_of
from nary.training.settings import TrainingSettings

CPU = torch.device("cpu")
Row = tuple[int, ...]


def corruptions(data: Dataset, **changed: Any) -> Corruptions:
    chosen = TrainingSettings.model_validate({"loss": "corruption_bce", **changed})
    return Corruptions(data.train, DatasetInfo.from_dataset(data), chosen, CPU)


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
def test_one_element_is_replaced_by_one_that_its_role_allows(seed: int, values: float, pool: str) -> None:
    data = small_data()
    groups, facts = ids_of(data.train), {row for ids in ids_of(data.train) for row in rows(ids)}
    torch.manual_seed(seed)
    found = corruptions(data, negatives=3, corrupt_values=values, corrupt_from=pool).of(groups)
    seen = _seen if pool == "slot" else _seen_anywhere
    outside = 0
    for ids, corrupted in zip(groups, found, strict=True):
        assert corrupted.shape == (3 * len(ids), ids.shape[1])
        for row, other in zip(rows(ids.repeat_interleave(3, 0)), rows(corrupted), strict=True):
            assert other not in facts
            what, new, role = replaced(row, other)
            assert (what in ("subject", "object", "value")) == bool(values)
            outside += bool(values) and new not in seen(facts, what, role)
    assert outside <= sum(map(len, found)) / 20  # where nothing that was seen is left to take


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
    found = corruptions(data, negatives=200, corrupt_values=1.0).of(ids_of(data.train))[1]
    assert not known & set(rows(found))
    values = found[:, 5:]
    assert (found[:, 3:5] == found[:, 3:4]).all()
    assert (values[:, 0] <= values[:, 1]).all()  # in the order of a table
    assert (values[:, 0] < values[:, 1]).any()


def test_a_role_that_was_seen_with_one_entity_takes_any() -> None:
    data = dataset_of(train=[Fact("a", "r", "b"), Fact("c", "q", "d"), Fact("e", "q", "f")])
    torch.manual_seed(0)
    found = corruptions(data, negatives=200, corrupt_values=1.0).of(ids_of(data.train))[0][:200]
    subjects, objects = Counter(found[:, 1].tolist()), Counter(found[:, 2].tolist())
    assert set(subjects) == set(objects) == set(range(6))
    assert subjects[0] == pytest.approx(100, abs=30)  # the slot is drawn evenly
    assert objects[1] == pytest.approx(100, abs=30)


@pytest.mark.parametrize(("pool", "share"), [("slot", 0.0), ("mixed", 0.5), ("all", 1.0)])
def test_how_many_are_drawn_from_all_entities(pool: str, share: float) -> None:
    """In the slots of "r" there were 3 entities each, of 1000."""
    facts = [Fact(f"s{i}", "r", f"o{i}") for i in range(3)] + [Fact(f"e{i}", "q", f"e{i}") for i in range(994)]
    data = dataset_of(train=facts)
    own = torch.from_numpy(data.train.blocks[0].ids[data.train.blocks[0].ids[:, 0] == 1].astype(np.int64))
    torch.manual_seed(0)
    (found,) = corruptions(data, negatives=200, corrupt_values=1.0, corrupt_from=pool).of([own])
    names = [[data.vocabulary.entities[i] for i in row] for row in found[:, 1:].tolist()]
    outside = sum(not (first.startswith("s") and second.startswith("o")) for first, second in names)
    assert outside == pytest.approx(share * len(found), abs=50)


def test_values_or_roles_by_chance_but_the_same_in_a_whole_batch() -> None:
    data = small_data()
    groups, made = ids_of(data.train), corruptions(data, negatives=1, corrupt_values=0.75)
    kinds = Counter()
    for seed in range(100):
        torch.manual_seed(seed)
        found = made.of(groups)
        changed = {
            replaced(row, other)[0] in ("relation", "attribute")
            for ids, own in zip(groups, found, strict=True)
            for row, other in zip(rows(ids), rows(own), strict=True)
        }
        assert len(changed) == 1
        kinds[changed.pop()] += 1
    assert kinds[False] == pytest.approx(75, abs=20)


def test_without_a_setting_chance_goes_by_the_numbers_of_entities_and_relations() -> None:
    assert corruptions(small_data()).share == pytest.approx(20 / 26)


def test_corruptions_follow_from_the_seed_alone() -> None:
    data = small_data()
    made, again = corruptions(data), corruptions(data)
    torch.manual_seed(7)
    first = made.of(ids_of(data.train))
    torch.manual_seed(7)
    assert all(torch.equal(*both) for both in zip(first, again.of(ids_of(data.train)), strict=True))
    assert not all(torch.equal(*both) for both in zip(first, made.of(ids_of(data.train)), strict=True))


class Told(Model):
    """Scores a fact 3 if it is the one it knows, and -1 otherwise."""

    name = "told"

    def fact_scores(self, ids: Tensor) -> Tensor:
        return torch.where((ids == torch.tensor([0, 0, 1])).all(1), 3.0, -1.0)


def test_the_loss_by_hand() -> None:
    data = dataset_of(train=[Fact("a", "r", "b"), Fact("c", "r", "d")])
    lesson = Lesson.of(Batch([Group(ids_of(data.train)[0], torch.zeros(2, dtype=torch.int64))]))
    chosen = TrainingSettings(loss="corruption_bce", negatives=4, corrupt_values=1.0)
    loss = loss_of(
        Told(Settings(), info_of(4, 1, 2)),
        lesson,
        chosen,
        Corruptions(data.train, DatasetInfo.from_dataset(data), chosen, CPU),
    )
    known, unknown, wrong = (math.log1p(math.exp(x)) for x in (-3, 1, -1))
    assert loss.item() == pytest.approx((known + unknown + 8 * wrong) / 10, rel=1e-5)


def test_an_epoch_has_every_fact_once() -> None:
    table = small_data().train
    instances = Instances(table, TrainingSettings(loss="corruption_bce", batch_size=len(table), shuffle="instances"))
    assert len(instances) == len(table)
    for step in range(3):
        found = [row for group in instances.at(step).batch.groups for row in rows(group.ids)]
        assert sorted(found) == sorted(row for ids in ids_of(table) for row in rows(ids))


@pytest.mark.parametrize("changed", [{"merge_queries": True}, {"relation_fraction": 0.5}])
def test_what_masks_elements_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match='"corruption_bce" learns whole facts'):
        TrainingSettings.model_validate({"loss": "corruption_bce", "shuffle": "instances", **changed})


@settings(max_examples=25)
@given(seed=st.integers(0, 1000))
def test_near_entities_were_seen_in_the_role_and_make_no_fact(seed: int) -> None:
    data = small_data()
    facts = [row for ids in ids_of(data.train) for row in rows(ids)]
    known = [as_set(row) for row in facts]
    seen = {(f"{role} of {row[0]}", row[place]) for row in facts for place, role in ((1, "subject"), (2, "object"))}
    seen |= {(f"value of {attribute}", value) for _, pairs in known for attribute, value in pairs}
    made = corruptions(data)
    torch.manual_seed(seed)
    for ids in ids_of(data.train):
        m = (ids.shape[1] - 3) // 2
        for column in (1, 2, *range(3 + m, 3 + 2 * m)):
            found = made.near(ids, torch.full((len(ids),), column), torch.full((len(ids), 4), -1))
            for row, drawn in zip(rows(ids), found.tolist(), strict=True):
                for entity in (one for one in drawn if one != -1):
                    corrupted = (*row[:column], entity, *row[column + 1 :])
                    assert as_set(corrupted) not in known
                    role, new, of = replaced(row, corrupted)
                    assert (f"{role} of {of}", new) in seen


def test_near_negatives_are_for_random_candidates() -> None:
    with pytest.raises(ValidationError, match='near_negatives is for the losses "sampled_cross_entropy" and "margin"'):
        TrainingSettings(near_negatives=0.5)
