"""Saved and loaded again: what grows with the facts is in the weights."""

from pathlib import Path

import pytest
import torch
from models.tuples.small import SETTINGS, facts, groups, make, scores
from runs.small import dataset_of, small_data, small_recipe
from safetensors.torch import load_file, save_file

from nary.data.dataset import Dataset
from nary.facts import Fact
from nary.inference.folder import (
    ModelFolderError,
    load_model,
    read_description,
    save_description,
    save_weights,
    sizes_of,
)
from nary.models.registry import find
from nary.models.tuples.base import TupleModel
from nary.training.checkpoint import Checkpoints, TrainState
from nary.training.optimizer import Optimizer
from nary.training.settings import TrainingSettings


def saved(name: str, data: Dataset, folder: Path) -> TupleModel:
    entry = find(name)
    settings = entry.settings(**SETTINGS[name])
    model = entry.make(settings, sizes_of(data))
    assert isinstance(model, TupleModel)
    model.prepare(data.train)
    save_description(folder, data, settings)
    save_weights(folder, model)
    return model.eval()


@pytest.mark.parametrize("name", SETTINGS)
def test_a_model_folder_needs_no_facts(name: str, tmp_path: Path) -> None:
    data = small_data()
    model = saved(name, data, tmp_path / "model")
    again = load_model(tmp_path / "model", read_description(tmp_path / "model"), data)
    assert isinstance(again, TupleModel)
    assert again.arities == model.arities == {2, 3, 4}
    assert [key for key, _ in again.named_parameters()] == [key for key, _ in model.named_parameters()]
    assert torch.equal(scores(again, *groups(data.test)), scores(model, *groups(data.test)))


@pytest.mark.parametrize("name", SETTINGS)
def test_arities_that_training_lacks_have_no_parameters(name: str, tmp_path: Path) -> None:
    train = [Fact("a", "r", "b"), Fact("b", "r", "c", [("p", "a"), ("q", "b")])]
    data = dataset_of(train=train, test=[Fact("c", "r", "a", [("p", "b")])])
    model = saved(name, data, tmp_path / "model")
    again = load_model(tmp_path / "model", read_description(tmp_path / "model"), data)
    assert not any(key.endswith("_3") for key, _ in again.named_parameters())
    assert torch.equal(scores(again, *groups(data.train)), scores(model, *groups(data.train)))


@pytest.mark.parametrize("name", SETTINGS)
def test_a_checkpoint_is_put_into_the_parameters_that_are_there(name: str, tmp_path: Path) -> None:
    settings = TrainingSettings()
    model, other = make(name), make(name)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(1)
    tmp_path.joinpath("checkpoints").mkdir()
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    checkpoints.save(other, Optimizer(other, settings, 1), TrainState(step=1))
    before = list(model.parameters())
    checkpoints.restore(model, Optimizer(model, settings, 1))
    assert all(new is old for new, old in zip(model.parameters(), before, strict=True))
    assert torch.equal(scores(model, *groups(facts())), scores(other, *groups(facts())))


@pytest.mark.parametrize("name", SETTINGS)
def test_weights_that_do_not_belong_together_are_refused(name: str, tmp_path: Path) -> None:
    data = small_data()
    saved(name, data, tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    whole = load_file(path)
    assert len(whole["schemas.keys"]) > 1
    for key in ("schemas.keys", "schemas.codes"):
        save_file({**whole, key: whole[key][1:].clone()}, path)
        with pytest.raises(ModelFolderError, match="damaged"):
            load_model(tmp_path / "model", read_description(tmp_path / "model"), data)


def test_a_model_can_be_prepared_again() -> None:
    model = make("ram", facts((2, 4)))
    model.prepare(facts((3,)))
    assert model.arities == {3}
    assert [key for key, _ in model.named_parameters() if key.startswith("pattern")] == ["pattern_3"]
    assert scores(model, *groups(facts((3,)))).any()


@pytest.mark.parametrize("name", SETTINGS)
def test_every_model_can_be_chosen_in_a_recipe(name: str) -> None:
    recipe = small_recipe(small_data(), name)
    assert recipe.model_name == name
    assert recipe.model == find(name).settings()
