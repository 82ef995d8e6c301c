"""The frequency model against counts by hand."""

import math

import pytest
import torch
from runs.small import dataset_of

from nary.data.dataset import Dataset
from nary.facts import Fact
from nary.models.base import DatasetInfo
from nary.models.batch import Batch, Group
from nary.models.frequency import Frequency, FrequencySettings

FACTS = [
    Fact("Ada", "likes", "Ben"),
    Fact("Cy", "likes", "Ben"),
    Fact("Ada", "likes", "Cy", [("since", "1900")]),
    Fact("Ada", "sees", "Dee", [("since", "1900"), ("with", "Ben")]),
]
TEST = [Fact("Eve", "likes", "Ada")]
# Entities: 1900 0, Ada 1, Ben 2, Cy 3, Dee 4, Eve 5; relations: likes 0, sees 1, since 2, with 3.


@pytest.fixture
def data() -> Dataset:
    return dataset_of(train=FACTS, test=TEST)


@pytest.fixture
def model(data: Dataset) -> Frequency:
    return Frequency(FrequencySettings(), DatasetInfo.from_dataset(data))


def shares(model: Frequency, ids: list[int], column: int) -> list[float]:
    group = Group(torch.tensor([ids]), torch.tensor([column]))
    kind = "entity" if group.asks_entity[0] else "relation"
    return [round(p, 2) for p in model.score(Batch([group]), kind)[0].softmax(-1).tolist()]  # type: ignore[arg-type]


def test_the_place_of_a_subject_or_object_is_the_relation(model: Frequency) -> None:
    assert shares(model, [0, 5, 4], 1) == [0, 0.67, 0, 0.33, 0, 0]  # Ada twice, Cy once likes
    assert shares(model, [0, 5, 4], 2) == [0, 0, 0.67, 0.33, 0, 0]  # Ben twice, Cy once is liked
    assert shares(model, [1, 5, 4, 2, 0], 2) == [0, 0, 0, 0, 1, 0]  # Dee is seen


def test_the_place_of_a_value_is_its_attribute(model: Frequency) -> None:
    assert shares(model, [0, 1, 2, 3, 5], 4) == [0, 0, 1, 0, 0, 0]  # with Ben
    assert shares(model, [0, 1, 2, 2, 5], 4) == [1, 0, 0, 0, 0, 0]  # since 1900


def test_the_place_of_an_attribute_is_the_relation(model: Frequency) -> None:
    assert shares(model, [0, 1, 2, 3, 5], 3) == [0, 0, 1, 0]
    assert shares(model, [1, 1, 2, 3, 5], 3) == [0, 0, 0.5, 0.5]


def test_relations_go_by_how_often_they_are_relations(model: Frequency) -> None:
    assert shares(model, [3, 1, 2], 0) == [0.75, 0.25, 0, 0]


def test_what_was_never_in_the_place_goes_by_how_often_it_occurs(model: Frequency) -> None:
    """An attribute that never was a relation leaves nothing but the overall counts, plus one each."""
    scores = model.score(Batch([Group(torch.tensor([[3, 1, 2]]), torch.tensor([2]))]), "entity")[0]
    overall = [2, 3, 3, 2, 1, 0]  # 1900, Ada, Ben, Cy, Dee, Eve
    expected = [math.log(1e-3 * (n + 1) / (sum(overall) + 6)) for n in overall]
    torch.testing.assert_close(scores, torch.tensor(expected))


def test_a_name_that_train_lacks_has_a_finite_score(model: Frequency) -> None:
    scores = model.score(Batch([Group(torch.tensor([[0, 1, 2]]), torch.tensor([1]))]), "entity")[0]
    assert scores.isfinite().all()
    assert scores.argmin() == 5


def test_groups_of_several_arities_keep_their_order(model: Frequency) -> None:
    two = Group(torch.tensor([[0, 5, 4], [1, 5, 4]]), torch.tensor([2, 1]))
    three = Group(torch.tensor([[0, 1, 2, 3, 5]]), torch.tensor([4]))
    best = model.score(Batch([two, three]), "entity").argmax(-1).tolist()
    assert best == [2, 1, 2]  # Ben is liked, Ada sees, with Ben


def test_counts_are_no_weights(model: Frequency) -> None:
    assert not model.state_dict()
    assert all(counts.device.type == "cpu" for counts in model.buffers())
