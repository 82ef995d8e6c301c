"""Every element of every fact once an epoch, in batches that follow from the table, the seed and the step."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from runs.small import dataset_of, small_data

from nary.data.load import load
from nary.facts import Fact, FactTable, Role
from nary.models.base import DatasetInfo
from nary.models.batch import Batch
from nary.models.gran import Gran, GranSettings
from nary.training.instances import Instances
from nary.training.objective import masked_loss
from nary.training.settings import TrainingSettings

PLAIN = Fact("Ada", "likes", "Ben")
LONG = Fact("Cy", "sees", "Dee", [("with", "Eve")])


def toy() -> FactTable:
    """Two facts with 3 and 5 elements: 8 instances."""
    return dataset_of(train=[LONG, PLAIN]).train


def instances_of(table: FactTable, **settings: object) -> Instances:
    return Instances(table, TrainingSettings.model_validate(settings))


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
    instances = instances_of(toy(), batch_size=8, seed=0)
    assert len(instances) == 8
    batch = instances.at(0).batch
    # Entities Ada 0, Ben 1, Cy 2, Dee 3, Eve 4; relations likes 0, sees 1, with 2; columns r, s, o, attribute, value.
    assert batch.groups[0].ids.tolist() == [[0, 0, 1]] * 3
    assert batch.groups[0].columns.tolist() == [0, 1, 2]
    assert batch.groups[1].ids.tolist() == [[1, 2, 3, 2, 4]] * 5
    assert batch.groups[1].columns.tolist() == [0, 1, 2, 3, 4]
    assert batch.asks_entity.tolist() == [False, True, True, False, True, True, False, True]
    assert batch.answers.tolist() == [0, 0, 1, 1, 2, 3, 2, 4]


def test_steps_are_whole_batches_of_all_epochs_together() -> None:
    instances = instances_of(toy(), batch_size=5, seed=0)
    assert [instances.steps(epochs) for epochs in (0, 1, 2, 5)] == [0, 1, 3, 8]  # 0, 8/5, 16/5, 40/5


@pytest.mark.parametrize("shuffle", ["facts", "instances"])
def test_every_instance_once_an_epoch(shuffle: str) -> None:
    table = small_data().train
    instances = instances_of(table, batch_size=7, seed=2, shuffle=shuffle)
    seven_epochs = sum((Counter(pairs(instances.at(step).batch)) for step in range(len(instances))), Counter())
    expected = every_instance(table)
    assert seven_epochs == Counter({instance: 7 * count for instance, count in expected.items()})
    one = instances_of(table, batch_size=len(instances), seed=2, shuffle=shuffle)
    assert Counter(pairs(one.at(0).batch)) == Counter(pairs(one.at(1).batch)) == expected


@settings(max_examples=40)
@given(batch=st.integers(1, 40), seed=st.integers(0, 9), step=st.integers(0, 50))
def test_a_batch_is_a_window_of_the_epochs_one_after_the_other(batch: int, seed: int, step: int) -> None:
    table = small_data(12).train
    single = instances_of(table, batch_size=1, seed=seed)
    window = [pair for i in range(step * batch, (step + 1) * batch) for pair in pairs(single.at(i).batch)]
    found = instances_of(table, batch_size=batch, seed=seed).at(step).batch
    assert len(found) == batch
    assert Counter(pairs(found)) == Counter(window)


def test_the_masks_of_a_fact_are_side_by_side() -> None:
    table = small_data().train
    single = instances_of(table, batch_size=1, seed=0)
    order = [pairs(single.at(i).batch)[0] for i in range(len(single))]
    place = 0
    while place < len(order):
        ids = order[place][0]
        assert order[place : place + len(ids)] == [(ids, column) for column in range(len(ids))]
        place += len(ids)


def test_shuffled_instances_are_not_side_by_side() -> None:
    single = instances_of(small_data().train, batch_size=1, seed=0, shuffle="instances")
    columns = [pairs(single.at(i).batch)[0][1] for i in range(len(single))]
    assert sum(after == before + 1 for before, after in pairwise(columns)) < len(columns) / 2


def test_a_batch_follows_from_table_seed_and_step_alone() -> None:
    table = small_data().train
    used, fresh = instances_of(table, batch_size=16, seed=4), instances_of(table, batch_size=16, seed=4)
    for step in (0, 9, 3):
        used.at(step)
    assert pairs(used.at(21).batch) == pairs(fresh.at(21).batch)
    assert pairs(fresh.at(21).batch) != pairs(instances_of(table, batch_size=16, seed=5).at(21).batch)


def test_epochs_have_different_orders() -> None:
    table = small_data().train
    instances = instances_of(table, batch_size=len(instances_of(table)) // 2)
    assert Counter(pairs(instances.at(0).batch)) != Counter(pairs(instances.at(2).batch))


def test_the_order_is_the_same_on_every_machine_and_numpy() -> None:
    """By hand from the definition: facts in the order of their random words."""
    table = dataset_of(train=[Fact(name, "is", name) for name in "abcdef"]).train
    words = np.random.PCG64([3, 1]).random_raw(6)
    instances = instances_of(table, batch_size=3, seed=3)
    subjects = [int(instances.at(6 + i).batch.groups[0].ids[0, 1]) for i in range(6)]
    assert subjects == np.argsort(words).tolist()


MERGED = {"shuffle": "instances", "merge_queries": True}


def test_equal_questions_are_merged_by_hand() -> None:
    facts = [Fact("Ada", "likes", name) for name in ("Ben", "Cy", "Dee")] + [Fact("Eve", "likes", "Ben")]
    instances = instances_of(dataset_of(train=facts).train, batch_size=7, **MERGED)
    # Questions: Ada likes ?, Eve likes ?; ? likes Ben, Cy, Dee; Ada ? Ben, Cy, Dee and Eve ? Ben: 9 for 12 instances.
    assert len(instances) == 9
    lesson = instances_of(dataset_of(train=facts).train, batch_size=9, **MERGED).at(0)
    answers: dict[tuple[int, ...], list[int]] = {}
    for row, answer, weight in zip(
        *(part.tolist() for part in (lesson.rows, lesson.answers, lesson.weights)), strict=True
    ):
        ids, column = pairs(lesson.batch)[row]
        question = tuple(-1 if i == column else name for i, name in enumerate(ids))
        answers.setdefault(question, []).append(answer)
        assert weight == pytest.approx(9 / 12)
    # Entities Ada 0, Ben 1, Cy 2, Dee 3, Eve 4; columns relation, subject, object.
    assert answers[0, 0, -1] == [1, 2, 3]
    assert answers[0, 4, -1] == [1]
    assert sorted(answers[0, -1, 1]) == [0, 4]
    assert sum(map(len, answers.values())) == 12


def test_merged_questions_have_the_loss_and_gradient_of_all_their_instances() -> None:
    table = small_data().train
    torch.manual_seed(0)
    model = Gran(
        GranSettings(num_layers=2, num_heads=2, hidden_dim=16, ffn_dim=16, dropout=0.0),
        DatasetInfo.from_dataset(small_data()),
    )
    found = []
    for options in ({}, MERGED):
        settings = TrainingSettings.model_validate({"entity_smoothing": 0.3, **options})
        batch = len(Instances(table, settings))
        loss = masked_loss(model, Instances(table, settings.model_copy(update={"batch_size": batch})).at(0), settings)
        found.append((loss, *torch.autograd.grad(loss, list(model.parameters()))))
        assert options or batch > len(instances_of(table, **MERGED))
    for plain, merged in zip(*found, strict=True):
        torch.testing.assert_close(plain, merged, rtol=1e-4, atol=1e-5)


def test_relations_are_visited_less_often() -> None:
    table = small_data().train
    every = instances_of(table)
    some = instances_of(table, batch_size=1, shuffle="instances", relation_fraction=0.25)
    kinds = [bool(some.at(i).batch.asks_entity) for i in range(len(some))]
    relations = sum(len(block) * len(block.relation_columns) for block in table.blocks)
    assert kinds.count(True) == len(every) - relations
    assert kinds.count(False) == round(relations / 4)
    epochs = [{str(pairs(some.at(e * len(some) + i).batch)) for i in range(len(some))} for e in (0, 1)]
    assert epochs[0] != epochs[1]  # not always the same ones


@pytest.mark.parametrize("option", [{"merge_queries": True}, {"relation_fraction": 0.5}])
def test_facts_side_by_side_cannot_be_merged(option: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="shuffle"):
        instances_of(toy(), **option)


def test_negatives_cannot_be_merged() -> None:
    with pytest.raises(ValidationError, match="all candidates"):
        instances_of(toy(), **MERGED, loss="sampled_cross_entropy")


def test_ids_are_what_torch_indexes_with() -> None:
    group = instances_of(toy(), batch_size=3, seed=0).at(0).batch.groups[0]
    assert group.ids.dtype == group.columns.dtype == torch.int64


@pytest.mark.benchmark_data
@pytest.mark.usefixtures("benchmark_data")
def test_jf17k_has_the_published_number_of_steps() -> None:
    instances = instances_of(load("jf17k").train, batch_size=1024, seed=0)
    assert len(instances) == 313_063
    assert instances.steps(160) == 48_916


def test_only_elements_of_the_given_roles_are_masked() -> None:
    table = small_data().train
    for options in ({}, MERGED):
        settings = TrainingSettings.model_validate({"batch_size": 1, **options})
        some = Instances(table, settings, {Role.SUBJECT, Role.VALUE})
        columns = {
            (group.qualifiers, int(group.columns)) for i in range(len(some)) for group in some.at(i).batch.groups
        }
        expected = {
            (block.qualifiers, c)
            for block in table.blocks
            for c in (1, *range(3 + block.qualifiers, block.ids.shape[1]))
        }
        assert columns == expected
