"""Training by rows: what a step uses, what it leaves alone, and that it resumes exactly."""

from pathlib import Path
from typing import Any

import pytest
import torch
from contracts.model import train_in_parts
from runs.small import small_data, small_recipe, train_in, weights
from training.small import loss_of

from nary.models.base import DatasetInfo
from nary.models.gran import Gran, GranSettings
from nary.training.batches import TrainingBatches
from nary.training.row_trainer import RowTrainer
from nary.training.rows import entities_used, renumber
from nary.training.settings import TrainingSettings


def test_a_batch_is_renumbered_to_the_places_of_its_entities() -> None:
    data = small_data()
    batch = TrainingBatches(data.train, TrainingSettings(batch_size=8)).batch_at(0)
    entities = entities_used(batch, torch.tensor([17, 3]))
    assert {3, 17} <= set(entities.tolist())
    assert torch.equal(entities, entities.sort().values)
    local = renumber(batch, entities)
    for before, after in zip(batch.batch.groups, local.batch.groups, strict=True):
        for column in range(before.ids.shape[1]):
            is_entity = column in (1, 2) or column >= 3 + before.qualifiers
            back = entities[after.ids[:, column]] if is_entity else after.ids[:, column]
            assert torch.equal(back, before.ids[:, column])
    asks_entity = batch.batch.asks_entity[batch.rows]
    assert torch.equal(entities[local.targets[asks_entity]], batch.targets[asks_entity])
    assert torch.equal(local.targets[~asks_entity], batch.targets[~asks_entity])


def one_step(**changed: Any) -> tuple[Gran, dict[str, torch.Tensor], set[int]]:
    """A model after a step, its weights before, and the entities that the step used."""
    data = small_data()
    settings = TrainingSettings.model_validate(
        {"batch_size": 4, "warmup_ratio": 0, "precision": "fp32", "weight_decay": 0.5, "epochs": 1, **changed}
    )
    torch.manual_seed(0)
    model = Gran(
        GranSettings(num_layers=1, num_heads=2, hidden_dim=16, ffn_dim=16, tie_embeddings=False),
        DatasetInfo.from_dataset(data),
    )
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    batches = TrainingBatches(data.train, settings)
    loss = loss_of("sampled_softmax", model.info, num_candidates=3)
    trainer = RowTrainer(model, batches, loss, settings)
    trainer.optimizer = trainer._make_optimizer(())
    trainer._step()
    torch.manual_seed(settings.seed << 32)
    sample = loss.sample(batches.batch_at(0))  # type: ignore[attr-defined]
    return model, before, set(entities_used(batches.batch_at(0), sample.ids).tolist())


@pytest.mark.parametrize("optimizer", ["adam", "adagrad", "sgd"])
def test_a_step_changes_the_rows_it_uses_and_no_others(optimizer: str) -> None:
    model, before, used = one_step(optimizer=optimizer)
    first = model.num_relations
    others = torch.tensor([entity for entity in range(model.info.num_entities) if entity not in used])
    assert len(others) > 3
    assert torch.equal(model.entity_embedding[others], before["entity_embedding"][others])
    for name in ("output_bias", "output_embedding"):
        assert torch.equal(getattr(model, name)[first + others], before[name][first + others])
        assert not torch.equal(getattr(model, name)[:first], before[name][:first])  # of relations
    changed = (model.entity_embedding != before["entity_embedding"]).any(1)
    assert set(changed.nonzero()[:, 0].tolist()) == used
    assert not torch.equal(model.head_transform.weight, before["head_transform.weight"])


def test_the_gradient_is_clipped_as_a_whole() -> None:
    """With SGD the length of all changes together is learning rate times the clipped norm."""
    model, before, _ = one_step(optimizer="sgd", weight_decay=0, max_grad_norm=0.01, learning_rate=1.0)
    squares = sum((tensor - before[name]).square().sum() for name, tensor in model.state_dict().items())
    assert float(squares) ** 0.5 == pytest.approx(0.01, rel=1e-3)


def test_resumed_runs_are_equal_to_the_last_bit(tmp_path: Path) -> None:
    data = small_data()
    recipe = small_recipe(data, loss__name="sampled_softmax", loss__num_candidates=5)
    whole = train_in(tmp_path / "whole", data, recipe)
    assert train_in_parts(tmp_path / "parts", data, recipe, 7) == (whole.steps - 1) // 7
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")


def test_it_learns_as_much_as_the_exact_loss() -> None:
    data = small_data()
    recipe = small_recipe(data, loss__name="sampled_softmax", loss__num_candidates=8, training__epochs=40)
    result = train_in(None, data, recipe)  # the exact loss: 0.43
    assert result.model.evaluate("train").metrics["entity"]["mrr"] > 0.45
