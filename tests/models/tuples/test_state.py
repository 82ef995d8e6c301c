"""Saved and loaded again: what follows from the facts is built from those in the folder."""

from pathlib import Path

import pytest
import torch
from models.tuples.small import SETTINGS, build, facts, groups, make, scores
from runs.small import dataset_of, small_data, small_recipe
from safetensors.torch import load_file, save_file

from nary.data.dataset import Dataset
from nary.facts import Fact
from nary.inference.folder import ModelFolderError, load_module, read_description, save_description, save_weights
from nary.models.base import DatasetInfo, Model
from nary.models.registry import MODELS
from nary.models.tuples.base import TupleModel
from nary.training.checkpoint import Checkpoints, TrainState
from nary.training.optimizer import Optimizer
from nary.training.settings import TrainingSettings


def saved(name: str, data: Dataset, folder: Path) -> TupleModel:
    model = build(name, DatasetInfo.from_dataset(data), **SETTINGS[name])
    save_description(folder, data, small_recipe(data, name, **{f"model__{k}": v for k, v in SETTINGS[name].items()}))
    save_weights(folder / "model.safetensors", model)
    return model.eval()


def loaded(folder: Path, data: Dataset) -> Model:
    return load_module(folder, read_description(folder).recipe, data)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_loaded_model_is_the_same(name: str, tmp_path: Path) -> None:
    data = small_data()
    model = saved(name, data, tmp_path / "model")
    again = loaded(tmp_path / "model", data)
    assert isinstance(again, TupleModel)
    assert again.arities == model.arities == {2, 3, 4}
    assert not any("schemas" in key for key in again.state_dict())
    assert [key for key, _ in again.named_parameters()] == [key for key, _ in model.named_parameters()]
    assert torch.equal(scores(again, *groups(data.test)), scores(model, *groups(data.test)))


@pytest.mark.parametrize("name", SETTINGS)
def test_arities_that_training_lacks_have_no_parameters(name: str, tmp_path: Path) -> None:
    train = [Fact("a", "r", "b"), Fact("b", "r", "c", [("p", "a"), ("q", "b")])]
    data = dataset_of(train=train, test=[Fact("c", "r", "a", [("p", "b")])])
    model = saved(name, data, tmp_path / "model")
    again = loaded(tmp_path / "model", data)
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
    for key in [key for key, tensor in whole.items() if tensor.dim() > 1]:
        save_file({**whole, key: whole[key][1:].clone()}, path)
        with pytest.raises(ModelFolderError, match=f"{key} is of shape"):
            loaded(tmp_path / "model", data)


def test_parameters_follow_from_the_facts() -> None:
    model = make("ram", facts((3,)))
    assert model.arities == {3}
    assert [key for key, _ in model.named_parameters() if key.startswith("pattern")] == ["pattern_3"]
    assert scores(model, *groups(facts((3,)))).any()


@pytest.mark.parametrize("name", SETTINGS)
def test_every_model_can_be_chosen_in_a_recipe(name: str) -> None:
    recipe = small_recipe(small_data(), name)
    assert recipe.model_name == name
    assert recipe.model == MODELS.get(name).settings_class()
