"""Recipes: those that come with Nary, and those of users."""

from pathlib import Path
from typing import Any

import pytest

from nary.config import read_toml
from nary.data import catalog
from nary.errors import SettingError
from nary.models.registry import MODELS
from nary.recipe import EXAMPLE, choose, full_key, recipe_from, shipped

# entity and relation smoothing, dropout, epochs, trained on
_PUBLISHED = {
    "jf17k": (0.9, 0.0, 0.2, 160, ["train"]),
    "wikipeople": (0.2, 0.2, 0.1, 200, ["train", "valid"]),
    "wikipeople-": (0.2, 0.1, 0.1, 160, ["train", "valid"]),
    "jf17k-3": (0.8, 0.2, 0.2, 180, ["train", "valid"]),
    "jf17k-4": (0.8, 0.0, 0.3, 160, ["train", "valid"]),
    "wikipeople-3": (0.8, 0.4, 0.3, 100, ["train", "valid"]),
    "wikipeople-4": (0.8, 0.4, 0.3, 100, ["train", "valid"]),
}


@pytest.mark.parametrize("name", shipped())
def test_shipped_recipes_are_in_order(name: str) -> None:
    dataset = read_toml(shipped()[name])["data"]["name"]
    assert dataset in catalog.names()
    recipe = choose(dataset, recipe=name)
    usual = f"{recipe.model_name}/{dataset}"
    assert name == usual or name.startswith(f"{usual}-")


@pytest.mark.parametrize("dataset", _PUBLISHED)
def test_the_published_runs(dataset: str) -> None:
    tables = choose(dataset).as_tables()
    entity, relation, dropout, epochs, train_on = _PUBLISHED[dataset]
    training = tables["training"]
    assert (training["entity_smoothing"], training["relation_smoothing"]) == (entity, relation)
    assert (tables["model"]["dropout"], training["epochs"]) == (dropout, epochs)
    assert tables["data"]["train_on"] == train_on
    model = {"name": "gran", "variant": "hete", "num_layers": 12, "num_heads": 4, "hidden_dim": 256, "ffn_dim": 512}
    assert model.items() <= tables["model"].items()
    assert {"role_embeddings": "none", "edge_bias": "shared", "norm": "post", "tie_embeddings": True}.items() <= tables[
        "model"
    ].items()
    common = {
        "batch_size": 1024,
        "learning_rate": 5e-4,
        "warmup_ratio": 0.1,
        "warmup_jump": True,
        "weight_decay": 0.01,
        "weight_decay_on": "all",
    }
    assert common.items() <= training.items()
    adam = {"max_grad_norm": 1.0, "adam_epsilon": 1e-6, "adam_epsilon_on": "uncorrected", "shuffle": "facts"}
    assert adam.items() <= training.items()
    assert (training["eval_every"], training["patience"]) == (0, 0)
    assert tables["evaluation"]["filter"] == "slots"


@pytest.mark.parametrize("name", shipped())
def test_a_recipe_written_out_is_read_back(name: str, tmp_path: Path) -> None:
    recipe = choose(name.partition("/")[2], recipe=name, overrides={"data.valid_fraction": 0.2})
    path = tmp_path / "recipe.toml"
    path.write_text(recipe.as_toml())
    assert recipe_from(read_toml(path)) == recipe


@pytest.mark.parametrize("model", list(MODELS))
def test_unknown_data_take_the_model_s_example(model: str) -> None:
    recipe = choose("mine", model)
    assert recipe.data.name == "mine"
    assert recipe.training.loss in MODELS.get(model).losses
    example = f"{model}/{EXAMPLE}"
    if model == "frequency":  # counting has no settings
        assert example not in shipped()
    else:
        assert recipe == choose("mine", recipe=example)


def test_a_recipe_serves_other_data(tmp_path: Path) -> None:
    recipe = choose("mine", recipe="gran/jf17k", overrides={"training.epochs": 2})
    assert (recipe.data.name, recipe.training.epochs, recipe.training.entity_smoothing) == ("mine", 2, 0.9)
    path = tmp_path / "own.toml"
    path.write_text("[training]\nepochs = 7\n")
    assert choose("mine", recipe=str(path)).training.epochs == 7


@pytest.mark.parametrize(
    ("overrides", "message", "hint"),
    [
        ({"trainig.epochs": 3}, "unknown table [trainig]", "training"),
        ({"training.epoch": 3}, "unknown key training.epoch", "training.epochs"),
        ({"model.layer": 3}, "unknown key model.layer", "model.num_layers"),
        ({"training.epochs": "many"}, "training.epochs is 'many'", "integer"),
        ({"training.learning_rate": 0}, "training.learning_rate is 0", "greater than 0"),
        ({"data.train_on": ["test"]}, "data.train_on.0 is 'test'", "'train' or 'valid'"),
        ({"data.train_on": []}, "data.train_on is []", "at least 1"),
        ({"evaluation.filter": "slot"}, "evaluation.filter is 'slot'", "'slots'"),
        ({"model.name": "grann"}, "unknown model 'grann'", "gran"),
    ],
)
def test_a_wrong_setting_is_named(overrides: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(SettingError) as caught:
        choose("mine", overrides=overrides)
    assert caught.value.message == message
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("training = 3", "training is 3, not a table"),
        ("data = 'x'", "data is 'x', not a table"),
        ("model = 'gran'", "model is 'gran', not a table"),
        ("[modle]\nlayers = 2", r"unknown table \[modle\]"),
        ("[training]\nepoch = 2", "unknown key training.epoch"),
    ],
)
@pytest.mark.parametrize("model", [None, "gran"])
def test_a_wrong_file_is_named(tmp_path: Path, content: str, message: str, model: str | None) -> None:
    path = tmp_path / "own.toml"
    path.write_text(content)
    with pytest.raises(SettingError, match=message) as caught:
        choose("mine", model, str(path))
    assert caught.value.file == str(path)


def test_unknown_names() -> None:
    with pytest.raises(SettingError, match="no recipe 'gran/jf17'") as caught:
        choose("mine", recipe="gran/jf17")
    assert "gran/jf17k" in str(caught.value.hint)
    with pytest.raises(SettingError, match="unknown model 'gram'") as caught:
        choose("mine", "gram")
    assert "gran" in str(caught.value.hint)
    with pytest.raises(SettingError, match="is for gran, not frequency"):
        choose("mine", "frequency", "gran/jf17k")


def test_keys_by_their_own_name() -> None:
    assert full_key("epochs", "gran") == "training.epochs"
    assert full_key("num_layers", "gran") == "model.num_layers"
    assert full_key("train_on", "gran") == "data.train_on"
    assert full_key("filter", "gran") == "evaluation.filter"
    with pytest.raises(SettingError, match="unknown setting 'epoch'") as caught:
        full_key("epoch", "gran")
    assert "epochs" in str(caught.value.hint)
    with pytest.raises(SettingError, match="unknown setting 'num_layers'"):
        full_key("num_layers", "frequency")


def test_no_key_stands_in_two_tables() -> None:
    """Otherwise its own name alone would not say which is meant."""
    tables = choose("mine", overrides={"data.valid_fraction": 0.1}).as_tables()
    keys = [key for table in tables.values() for key in table if key != "name"]
    assert len(keys) == len(set(keys))
