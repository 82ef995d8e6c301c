"""Training with partial context: what is left of a fact, of which instances, and that it follows from seed and step."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from runs.small import small_data

from nary.data.synthetic import generate
from nary.facts import FactTable, Role
from nary.facts.layout import FIRST_ATTRIBUTE
from nary.models.batch import Group
from nary.training.batches import TrainingBatch, TrainingBatches
from nary.training.settings import TrainingSettings

Pairs = Counter[tuple[int, int]]


def batches_of(table: FactTable, **settings: object) -> TrainingBatches:
    return TrainingBatches(table, TrainingSettings.model_validate(settings))


def long_facts(facts: int = 40) -> FactTable:
    return generate(facts=facts, entities=30, relations=6, max_arity=8).train


def instances(batch: TrainingBatch) -> list[tuple[tuple[int, ...], Pairs, str, bool, list[int]]]:
    """For each row: primary triple, qualifiers, where the mask is, whether it is partial, targets."""
    rows, targets = batch.rows.tolist(), batch.targets.tolist()
    answers: list[list[int]] = [[] for _ in range(len(batch.batch))]
    for row, target in zip(rows, targets, strict=True):
        answers[row].append(target)
    listed = [one for group in batch.batch.groups for one in _described(group)]
    return [(*one, answer) for one, answer in zip(listed, answers, strict=True)]


def _described(group: Group) -> list[tuple[tuple[int, ...], Pairs, str, bool]]:
    m = group.qualifiers
    partial = torch.zeros(len(group.columns), dtype=torch.bool) if group.partial is None else group.partial
    result = []
    for ids, column, flag in zip(group.ids.tolist(), group.columns.tolist(), partial.tolist(), strict=True):
        pairs = list(zip(ids[FIRST_ATTRIBUTE : FIRST_ATTRIBUTE + m], ids[FIRST_ATTRIBUTE + m :], strict=True))
        where = str(column)
        if column >= FIRST_ATTRIBUTE:
            where = (
                f"{'attribute' if column < FIRST_ATTRIBUTE + m else 'value'} of {pairs[(column - FIRST_ATTRIBUTE) % m]}"
            )
        result.append((tuple(ids[:FIRST_ATTRIBUTE]), Counter(pairs), where, flag))
    return result


def key(one: tuple[tuple[int, ...], Pairs, str, bool, list[int]]) -> tuple[object, ...]:
    return one[0], one[2], one[4]


@settings(max_examples=30)
@given(
    share=st.sampled_from([0.1, 0.5, 1.0]),
    seed=st.integers(0, 99),
    step=st.integers(0, 60),
    merge=st.booleans(),
)
def test_an_instance_keeps_its_mask_its_targets_and_some_qualifiers(
    share: float, seed: int, step: int, merge: bool
) -> None:
    table = long_facts()
    options = {"batch_size": 24, "seed": seed, "shuffle": "instances", "merge_queries": merge}
    whole = instances(batches_of(table, **options).batch_at(step))
    dropped = instances(batches_of(table, **options, qualifier_dropout=share).batch_at(step))
    assert sorted(map(str, map(key, dropped))) == sorted(map(str, map(key, whole)))
    contexts: dict[str, list[Pairs]] = {}
    for one in whole:
        contexts.setdefault(str(key(one)), []).append(one[1])
    for one in dropped:
        possible = contexts[str(key(one))]
        assert any(one[1] <= pairs for pairs in possible)
        if not one[3]:
            assert one[1] in possible


def test_the_share_is_kept_and_every_number_of_qualifiers_occurs() -> None:
    table = long_facts(400)
    batches = batches_of(table, batch_size=len(batches_of(table)), qualifier_dropout=0.3)
    batch = batches.batch_at(0).batch
    partial = torch.cat([group.partial for group in batch.groups if group.partial is not None])
    assert float(partial.float().mean()) == pytest.approx(0.3, abs=0.03)
    assert [group.qualifiers for group in batch.groups] == list(range(7))


def test_all_numbers_of_qualifiers_are_equally_likely() -> None:
    """The keep-probability is uniform, so of m qualifiers 0, 1, ..., m are kept equally often."""
    table = FactTable([block for block in long_facts(4000).blocks if block.qualifiers == 4])
    settings = TrainingSettings(batch_size=5 * len(table), qualifier_dropout=1.0)
    batch = TrainingBatches(table, settings, {Role.OBJECT}).batch_at(0).batch
    shares = np.array([len(group.columns) for group in batch.groups]) / len(batch)
    np.testing.assert_allclose(shares, 0.2, atol=0.03)


def test_a_batch_follows_from_table_seed_and_step_alone() -> None:
    table = small_data().train
    options = {"batch_size": 16, "seed": 4, "qualifier_dropout": 0.5}
    used, fresh = batches_of(table, **options), batches_of(table, **options)
    for step in (0, 9, 3):
        used.batch_at(step)
    assert instances(used.batch_at(21)) == instances(fresh.batch_at(21))
    one = batches_of(table, **{**options, "batch_size": len(used)})  # an epoch: the next one loses other qualifiers
    assert sorted(map(str, instances(one.batch_at(0)))) != sorted(map(str, instances(one.batch_at(1))))


def test_what_is_dropped_is_the_same_on_every_machine_and_numpy() -> None:
    """By hand from the definition: a word for whether, one for how likely, one for each qualifier."""
    table = FactTable([block for block in long_facts().blocks if block.qualifiers == 3])
    words = np.random.PCG64([5, 2, 1]).random_raw(5 * len(table)).reshape(-1, 5)
    numbers = (words >> np.uint64(11)) / 2**53
    settings = TrainingSettings(batch_size=len(table), seed=5, qualifier_dropout=0.5)
    batch = TrainingBatches(table, settings, {Role.OBJECT}).batch_at(2).batch
    kept = np.where(numbers[:, :1] < 0.5, numbers[:, 2:] < numbers[:, 1:2], True).sum(1)
    assert Counter(kept.tolist()) == Counter({g.qualifiers: len(g.columns) for g in batch.groups})
    assert sum(int(g.partial.sum()) for g in batch.groups if g.partial is not None) == (numbers[:, 0] < 0.5).sum()


def test_without_dropout_nothing_is_partial() -> None:
    batch = batches_of(small_data().train, batch_size=32).batch_at(0).batch
    assert all(group.partial is None for group in batch.groups)
