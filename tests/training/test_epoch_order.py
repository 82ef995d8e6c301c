"""Instances that are numbered, not stored; the orders of epochs that are too long to be stored keep all laws."""

import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs.small import small_data

from nary.facts import Block, FactTable, Role
from nary.facts.layout import num_columns
from nary.training import epoch_order
from nary.training.batches import TrainingBatches
from nary.training.epoch_order import CalculatedFactOrder, CalculatedOrder, EpochOrder
from nary.training.instances import Instances, MergedQueries
from nary.training.settings import TrainingSettings

ALL = frozenset(Role)
ROLES = st.frozensets(st.sampled_from(list(Role)), min_size=1)


def table_of(*sizes: int) -> FactTable:
    """So many facts without qualifiers, with one, with two, ...; all ids are different."""
    blocks, start = [], 0
    for number_of_qualifiers, size in enumerate(sizes):
        width = num_columns(number_of_qualifiers)
        ids = np.arange(start, start + size * width, dtype=np.int32).reshape(size, width)
        blocks.append(Block(ids, np.arange(size)))
        start += ids.size
    return FactTable(blocks)


TABLES = st.lists(st.integers(0, 9), min_size=1, max_size=4).filter(any).map(lambda sizes: table_of(*sizes))


def all_of(order: EpochOrder, epoch: int) -> list[int]:
    return order.queries(epoch, 0, len(order)).tolist()


@given(TABLES, ROLES)
def test_instances_are_numbered_by_block_row_and_column(table: FactTable, roles: frozenset[Role]) -> None:
    instances = Instances(table, roles)
    expected = [
        (number, row, column, block.ids[row, column], not role.is_entity)
        for number, block in enumerate(table.blocks)
        for row in range(len(block))
        for column, role in enumerate(block.roles)
        if role in roles
    ]
    numbers = np.arange(len(instances))
    places = instances.places(numbers)
    parts = (*places, instances.answers(numbers), instances.ask_relations(numbers))
    assert list(zip(*(part.tolist() for part in parts), strict=True)) == expected
    assert instances.numbers(*places).tolist() == numbers.tolist()


@settings(deadline=None)
@given(TABLES, ROLES, st.sampled_from([0.25, 0.5, 1.0]), st.integers(0, 5))
def test_an_epoch_has_all_entities_and_a_sample_of_the_relations(
    table: FactTable, roles: frozenset[Role], share: float, epoch: int
) -> None:
    instances = Instances(table, roles)
    order = CalculatedOrder(instances, 3, share)
    visited = all_of(order, epoch)
    asks_relation = instances.ask_relations(np.arange(len(instances)))
    assert len(set(visited)) == len(visited) == len(order)
    assert set(np.flatnonzero(~asks_relation).tolist()) <= set(visited)
    assert len(order) == (~asks_relation).sum() + round(share * asks_relation.sum())


@pytest.mark.parametrize("part", [4, 1 << 16])
@settings(deadline=None)
@given(table=TABLES, roles=ROLES, epoch=st.integers(0, 5))
def test_the_instances_of_a_fact_stay_side_by_side(
    part: int, table: FactTable, roles: frozenset[Role], epoch: int
) -> None:
    instances = Instances(table, roles)
    if not len(instances):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(epoch_order, "_FACTS", part)
        visited = all_of(CalculatedFactOrder(instances, 3), epoch)
    assert sorted(visited) == list(range(len(instances)))
    block, row, _ = instances.places(np.array(visited))
    facts = list(zip(block.tolist(), row.tolist(), strict=True))
    starts = [i for i, fact in enumerate(facts) if i == 0 or fact != facts[i - 1]]
    assert len(starts) == len(set(facts))  # none begins a second time
    assert all(visited[i] == visited[i - 1] + 1 for i in range(1, len(visited)) if i not in starts)


@pytest.mark.parametrize(
    "options", [{}, {"shuffle": "instances"}, {"shuffle": "instances", "relation_fraction": 0.3}], ids=str
)
def test_batches_of_a_calculated_order_keep_the_laws(
    options: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(epoch_order, "MANY", 0)
    monkeypatch.setattr(epoch_order, "_FACTS", 16)
    table = small_data().train

    def batches_of(batch_size: int, seed: int = 4) -> TrainingBatches:
        return TrainingBatches(
            table, TrainingSettings.model_validate({**options, "batch_size": batch_size, "seed": seed})
        )

    def instances_of(batches: TrainingBatches, step: int) -> Counter[tuple[object, ...]]:
        return Counter(
            (tuple(ids), column)
            for group in batches.batch_at(step).batch.groups
            for ids, column in zip(group.ids.tolist(), group.columns.tolist(), strict=True)
        )

    used, fresh = batches_of(50), batches_of(50)
    for step in (0, 9, 3):
        used.batch_at(step)
    assert instances_of(used, 7) == instances_of(fresh, 7) != instances_of(batches_of(50, seed=5), 7)
    single = batches_of(1)
    window = sum((instances_of(single, i) for i in range(7 * 50, 8 * 50)), Counter())
    assert window == instances_of(fresh, 7)
    whole = batches_of(len(fresh))
    assert max(instances_of(whole, 0).values()) == max(Counter(map(str, table)).values())
    assert batches_of(len(fresh) - 1).batch_at(1) is not None  # across the border of two epochs


def test_recorded_results_are_repeated_up_to_many_queries() -> None:
    """The largest benchmark, wd50k, has 1.2 million instances, and stays with the stored order."""
    assert epoch_order.MANY >= 10_000_000
    instances = Instances(table_of(3), ALL)
    merged = MergedQueries.of(instances)
    order = epoch_order.epoch_order(instances, merged, TrainingSettings(shuffle="instances", merge_queries=True))
    assert isinstance(order, epoch_order.StoredOrder)


@pytest.mark.parametrize(("shuffle", "facts"), [("instances", 10**9), ("facts", 3_400_000)])
def test_memory_does_not_grow_with_the_facts(shuffle: str, facts: int) -> None:
    row, places = np.array([[0, 1, 2]], np.int32), np.zeros(1, np.int64)
    table = FactTable([Block(np.broadcast_to(row, (facts, 3)), np.broadcast_to(places, facts))])  # one fact, very often
    tracemalloc.start()
    batches = TrainingBatches(table, TrainingSettings.model_validate({"shuffle": shuffle, "batch_size": 512}))
    sizes = [len(batches.batch_at(step).batch) for step in (0, batches.num_steps(1), batches.num_steps(1) - 1)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sizes == [512] * 3
    assert peak < 20e6
