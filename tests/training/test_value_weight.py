"""``training.value_weight``: how much answers that are values count."""

import pytest
import torch
from runs.small import dataset_of, small_data

from nary.config import validated
from nary.errors import SettingError
from nary.facts import Fact, FactTable
from nary.models.base import DatasetInfo
from nary.models.hy_transformer import HyTransformer, HyTransformerSettings
from nary.training.instances import Instances
from nary.training.lesson import Lesson
from nary.training.objective import masked_loss
from nary.training.settings import TrainingSettings

MERGED = {"shuffle": "instances", "merge_queries": True}


def lesson_of(table: FactTable, **settings: object) -> Lesson:
    """A whole epoch."""
    whole = Instances(table, TrainingSettings.model_validate(settings))
    return Instances(table, TrainingSettings.model_validate({**settings, "batch_size": len(whole)})).at(0)


def test_values_alone_weigh_more() -> None:
    table = dataset_of(train=[Fact("Ada", "likes", "Ben"), Fact("Cy", "sees", "Dee", [("with", "Eve")])]).train
    lesson = lesson_of(table, value_weight=2.5)
    assert lesson.weights.tolist() == [1, 1, 1, 1, 1, 1, 1, 2.5]  # the last column of the second fact
    assert lesson_of(table).weights.tolist() == [1] * 8


def test_merged_questions_too() -> None:
    facts = [Fact("Ada", "sees", "Ben", [("with", name)]) for name in ("Cy", "Dee")]
    lesson = lesson_of(dataset_of(train=facts).train, value_weight=3.0, **MERGED)
    columns = lesson.batch.groups[0].columns[lesson.rows]
    share = 9 / 10  # ten instances make nine questions: with whom, twice, is one
    assert sorted(lesson.weights[columns == 4].tolist()) == pytest.approx([3 * share] * 2)
    assert lesson.weights[columns < 4].tolist() == pytest.approx([share] * 8)


def test_the_loss_is_that_of_the_others_and_the_weight_times_that_of_the_values() -> None:
    data = small_data()
    torch.manual_seed(0)
    model = HyTransformer(
        HyTransformerSettings(num_layers=1, num_heads=2, hidden_dim=8, ffn_dim=8), DatasetInfo.from_dataset(data)
    ).eval()
    settings = TrainingSettings(entity_smoothing=0.1)
    losses = {
        weight: masked_loss(model, lesson_of(data.train, value_weight=weight), settings) for weight in (0.5, 1.0, 2.0)
    }
    of_values = losses[2.0] - losses[1.0]
    assert of_values > 0.1
    torch.testing.assert_close(losses[1.0] - losses[0.5], of_values / 2)


def test_only_where_weights_count() -> None:
    with pytest.raises(SettingError, match='value_weight is for the objective "cross_entropy", not for "bce"'):
        validated(TrainingSettings, {"value_weight": 2.0, "loss": "bce"}, "training")
    with pytest.raises(SettingError, match="value_weight is 0"):
        validated(TrainingSettings, {"value_weight": 0.0}, "training")
