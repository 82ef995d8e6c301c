"""Every element of every fact once an epoch, in batches that follow from the table, the seed and the step."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from runs.small import dataset_of, small_data

from nary.data.load import load
from nary.facts import Fact, FactTable
from nary.models.batch import Batch
from nary.training.instances import Instances

PLAIN = Fact("Ada", "likes", "Ben")
LONG = Fact("Cy", "sees", "Dee", [("with", "Eve")])


def toy() -> FactTable:
    """Two facts with 3 and 5 elements: 8 instances."""
    return dataset_of(train=[LONG, PLAIN]).train


def pairs(batch: Batch) -> list[tuple[tuple[int, ...], int]]:
    """The fact and the masked column of each instance."""
    return [
        (tuple(ids), column)
        for group in batch.groups
        for ids, column in zip(group.ids.tolist(), group.columns.tolist(), strict=True)
    ]


def every_instance(table: FactTable) -> Counter[tuple[tuple[int, ...], int]]:
    return Counter(
        (tuple(ids), column) for block in table.blocks for ids in block.ids.tolist() for column in range(len(ids))
    )


def test_two_facts_by_hand() -> None:
    instances = Instances(toy(), batch=8, seed=0)
    assert len(instances) == 8
    batch = instances.at(0)
    # Entities Ada 0, Ben 1, Cy 2, Dee 3, Eve 4; relations likes 0, sees 1, with 2; columns r, s, o, attribute, value.
    assert batch.groups[0].ids.tolist() == [[0, 0, 1]] * 3
    assert batch.groups[0].columns.tolist() == [0, 1, 2]
    assert batch.groups[1].ids.tolist() == [[1, 2, 3, 2, 4]] * 5
    assert batch.groups[1].columns.tolist() == [0, 1, 2, 3, 4]
    assert batch.asks_entity.tolist() == [False, True, True, False, True, True, False, True]
    assert batch.answers.tolist() == [0, 0, 1, 1, 2, 3, 2, 4]


def test_steps_are_whole_batches_of_all_epochs_together() -> None:
    instances = Instances(toy(), batch=5, seed=0)
    assert [instances.steps(epochs) for epochs in (0, 1, 2, 5)] == [0, 1, 3, 8]  # 0, 8/5, 16/5, 40/5


@pytest.mark.parametrize("shuffle", ["facts", "instances"])
def test_every_instance_once_an_epoch(shuffle: str) -> None:
    table = small_data().train
    instances = Instances(table, batch=7, seed=2, shuffle=shuffle)
    seven_epochs = sum((Counter(pairs(instances.at(step))) for step in range(len(instances))), Counter())
    expected = every_instance(table)
    assert seven_epochs == Counter({instance: 7 * count for instance, count in expected.items()})
    one = Instances(table, batch=len(instances), seed=2, shuffle=shuffle)
    assert Counter(pairs(one.at(0))) == Counter(pairs(one.at(1))) == expected


@settings(max_examples=40, deadline=None)
@given(batch=st.integers(1, 40), seed=st.integers(0, 9), step=st.integers(0, 50))
def test_a_batch_is_a_window_of_the_epochs_one_after_the_other(batch: int, seed: int, step: int) -> None:
    table = small_data(12).train
    single = Instances(table, batch=1, seed=seed)
    window = [pair for i in range(step * batch, (step + 1) * batch) for pair in pairs(single.at(i))]
    found = Instances(table, batch=batch, seed=seed).at(step)
    assert len(found) == batch
    assert Counter(pairs(found)) == Counter(window)


def test_the_masks_of_a_fact_are_side_by_side() -> None:
    table = small_data().train
    single = Instances(table, batch=1, seed=0)
    order = [pairs(single.at(i))[0] for i in range(len(single))]
    place = 0
    while place < len(order):
        ids = order[place][0]
        assert order[place : place + len(ids)] == [(ids, column) for column in range(len(ids))]
        place += len(ids)


def test_shuffled_instances_are_not_side_by_side() -> None:
    single = Instances(small_data().train, batch=1, seed=0, shuffle="instances")
    columns = [pairs(single.at(i))[0][1] for i in range(len(single))]
    assert sum(after == before + 1 for before, after in pairwise(columns)) < len(columns) / 2


def test_a_batch_follows_from_table_seed_and_step_alone() -> None:
    table = small_data().train
    used, fresh = Instances(table, batch=16, seed=4), Instances(table, batch=16, seed=4)
    for step in (0, 9, 3):
        used.at(step)
    assert pairs(used.at(21)) == pairs(fresh.at(21))
    assert pairs(fresh.at(21)) != pairs(Instances(table, batch=16, seed=5).at(21))


def test_epochs_have_different_orders() -> None:
    table = small_data().train
    instances = Instances(table, batch=len(Instances(table, 1, 0)) // 2, seed=0)
    assert Counter(pairs(instances.at(0))) != Counter(pairs(instances.at(2)))


def test_the_order_is_the_same_on_every_machine_and_numpy() -> None:
    """By hand from the definition: facts in the order of their random words."""
    table = dataset_of(train=[Fact(name, "is", name) for name in "abcdef"]).train
    words = np.random.PCG64([3, 1]).random_raw(6)
    instances = Instances(table, batch=3, seed=3)
    subjects = [int(instances.at(6 + i).groups[0].ids[0, 1]) for i in range(6)]
    assert subjects == np.argsort(words).tolist()


def test_ids_are_what_torch_indexes_with() -> None:
    group = Instances(toy(), batch=3, seed=0).at(0).groups[0]
    assert group.ids.dtype == group.columns.dtype == torch.int64


@pytest.mark.benchmark_data
@pytest.mark.usefixtures("benchmark_data")
def test_jf17k_has_the_published_number_of_steps() -> None:
    instances = Instances(load("jf17k").train, batch=1024, seed=0)
    assert len(instances) == 313_063
    assert instances.steps(160) == 48_916
