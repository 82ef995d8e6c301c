"""Recipes: those that come with Nary, and those of users."""

from pathlib import Path
from typing import Any

import pytest

from nary.config import read_toml, with_overrides
from nary.data import catalog
from nary.errors import SettingError
from nary.models.registry import MODELS
from nary.recipe import EXAMPLE, Recipe, choose_recipe, full_key, gran_sizes, shipped_recipes
from nary.training.settings import LOSSES

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


@pytest.mark.parametrize("name", shipped_recipes())
def test_shipped_recipes_are_in_order(name: str) -> None:
    dataset = read_toml(shipped_recipes()[name])["data"]["name"]
    assert dataset in catalog.dataset_names()
    recipe = choose_recipe(dataset, recipe=name)
    usual = f"{recipe.model_name}/{dataset}"
    assert name == usual or name.startswith(f"{usual}-")
    if recipe.training.eval_every and not recipe.data.valid_fraction:
        assert "valid" not in recipe.data.train_on
        assert dataset not in ("jf17k", "jf17k-clean")  # without a valid split


@pytest.mark.parametrize("dataset", _PUBLISHED)
def test_the_published_runs(dataset: str) -> None:
    tables = choose_recipe(dataset).as_tables()
    entity, relation, dropout, epochs, train_on = _PUBLISHED[dataset]
    training = tables["training"]
    assert (tables["loss"]["entity_label_smoothing"], tables["loss"]["relation_label_smoothing"]) == (entity, relation)
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


@pytest.mark.parametrize("name", shipped_recipes())
def test_a_recipe_written_out_is_read_back(name: str, tmp_path: Path) -> None:
    recipe = choose_recipe(name.partition("/")[2], recipe=name, overrides={"data.valid_fraction": 0.2})
    path = tmp_path / "recipe.toml"
    path.write_text(recipe.as_toml())
    assert Recipe.from_tables(read_toml(path)) == recipe


@pytest.mark.parametrize("model", list(MODELS))
def test_unknown_data_take_the_model_s_example(model: str) -> None:
    recipe = choose_recipe("mine", model)
    assert recipe.data.name == "mine"
    assert recipe.loss.name in MODELS.get(model).losses
    example = f"{model}/{EXAMPLE}"
    if model in ("frequency", "rules"):  # counted, not trained
        assert example not in shipped_recipes()
    else:
        assert recipe == choose_recipe("mine", recipe=example)


def test_the_sizes_of_gran_follow_from_the_number_of_facts() -> None:
    sizes = [gran_sizes(num_facts) for num_facts in (1, 500, 9_999, 10_000, 50_000, 10**7)]
    assert [one["model.hidden_dim"] for one in sizes] == [64, 64, 64, 128, 256, 256]
    assert [one["training.batch_size"] for one in sizes] == [32, 32, 512, 512, 512, 512]
    assert [one["training.epochs"] for one in sizes] == [100, 100, 50, 50, 10, 4]
    assert [one["training.learning_rate"] for one in sizes] == [0.00125, 0.00125, 0.005, 0.0025, 0.00125, 0.00125]
    assert [one["model.composition_residual"] for one in sizes] == [False, False, False, True, True, True]
    recipe = choose_recipe("mine", overrides={"training.epochs": 3}, num_facts=20_000)
    assert (recipe.training.epochs, recipe.model.hidden_dim, recipe.model.ffn_dim) == (3, 128, 256)  # type: ignore[attr-defined]
    assert recipe.model.value_knots > 0  # type: ignore[attr-defined]
    sampled = choose_recipe("mine", overrides={"loss.name": "sampled_softmax"}, num_facts=20_000)
    assert sampled.model.value_knots == 0  # type: ignore[attr-defined]  # it uses the rows of a few entities
    assert choose_recipe("mine", recipe="gran/nobel", num_facts=20_000) == choose_recipe("mine", recipe="gran/nobel")
    assert choose_recipe("mine", "ram", num_facts=20_000) == choose_recipe("mine", "ram")
    assert choose_recipe("jf17k", num_facts=20_000) == choose_recipe("jf17k")  # it has a recipe


def test_a_recipe_serves_other_data(tmp_path: Path) -> None:
    recipe = choose_recipe("mine", recipe="gran/jf17k", overrides={"training.epochs": 2})
    assert (recipe.data.name, recipe.training.epochs) == ("mine", 2)
    assert recipe.as_tables()["loss"]["entity_label_smoothing"] == 0.9
    path = tmp_path / "own.toml"
    path.write_text("[training]\nepochs = 7\n")
    assert choose_recipe("mine", recipe=str(path)).training.epochs == 7


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
        ({"loss.entity_smoothing": 0.1}, "unknown key loss.entity_smoothing", "loss.entity_label_smoothing"),
        ({"loss.num_negatives": 5}, "unknown key loss.num_negatives", ""),
        ({"loss.name": "marign"}, "unknown loss 'marign'", "margin"),
        ({"loss.value_weight": 0}, "loss.value_weight is 0", "greater than 0"),
        (
            {"training.shuffle": "facts"},
            'training: merge_queries and relation_fraction need shuffle = "instances"',
            "",
        ),
        ({"model.name": "grann"}, "unknown model 'grann'", "gran"),
    ],
)
def test_a_wrong_setting_is_named(overrides: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(SettingError) as caught:
        choose_recipe("mine", overrides=overrides)
    assert caught.value.message == message
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("training = 3", "training is 3, not a table"),
        ("data = 'x'", "data is 'x', not a table"),
        ("model = 'gran'", "model is 'gran', not a table"),
        ("loss = 'bce'", "loss is 'bce', not a table"),
        ("[modle]\nlayers = 2", r"unknown table \[modle\]"),
        ("[training]\nepoch = 2", "unknown key training.epoch"),
    ],
)
@pytest.mark.parametrize("model", [None, "gran"])
def test_a_wrong_file_is_named(tmp_path: Path, content: str, message: str, model: str | None) -> None:
    path = tmp_path / "own.toml"
    path.write_text(content)
    with pytest.raises(SettingError, match=message) as caught:
        choose_recipe("mine", model, str(path))
    assert caught.value.file == str(path)


def test_unknown_names() -> None:
    with pytest.raises(SettingError, match="no recipe 'gran/jf17'") as caught:
        choose_recipe("mine", recipe="gran/jf17")
    assert "gran/jf17k" in str(caught.value.hint)
    with pytest.raises(SettingError, match="unknown model 'gram'") as caught:
        choose_recipe("mine", "gram")
    assert "gran" in str(caught.value.hint)
    with pytest.raises(SettingError, match="is for gran, not frequency"):
        choose_recipe("mine", "frequency", "gran/jf17k")


def test_keys_by_their_own_name() -> None:
    assert full_key("epochs", "gran") == "training.epochs"
    assert full_key("num_layers", "gran") == "model.num_layers"
    assert full_key("train_on", "gran") == "data.train_on"
    assert full_key("filter", "gran") == "evaluation.filter"
    assert full_key("entity_label_smoothing", "gran") == "loss.entity_label_smoothing"
    assert full_key("num_negatives", "gran", "margin") == "loss.num_negatives"
    assert full_key("loss", "gran") == "loss.name"
    with pytest.raises(SettingError, match="unknown setting 'epoch'") as caught:
        full_key("epoch", "gran")
    assert "epochs" in str(caught.value.hint)
    with pytest.raises(SettingError, match="unknown setting 'num_layers'"):
        full_key("num_layers", "frequency")


@pytest.mark.parametrize("loss", [*LOSSES])
def test_another_loss_keeps_the_settings_that_it_has(loss: str) -> None:
    plain = "gran/nobel-roles"  # whose queries are not merged, which not every loss can learn from
    before = choose_recipe("nobel", recipe=plain).as_tables()["loss"]
    assert before["entity_label_smoothing"] > 0
    changed = choose_recipe("nobel", recipe=plain, overrides={"loss.name": loss})
    defaults = LOSSES.get(loss).settings_class().model_dump()  # type: ignore[call-arg]
    expected = {**defaults, **{key: value for key, value in before.items() if key in defaults}, "name": loss}
    assert changed.loss.model_dump() == expected
    with pytest.raises(SettingError, match=r"unknown key loss\.epoch"):
        choose_recipe("nobel", recipe=plain, overrides={"loss.name": loss, "loss.epoch": 3})


@pytest.mark.parametrize(
    ("loss", "changed", "message"),
    [
        ("margin", {"training.merge_queries": True}, 'all candidates, not for "margin"'),
        ("sampled_cross_entropy", {"training.merge_queries": True}, 'not for "sampled_cross_entropy"'),
        ("corruption_bce", {"training.merge_queries": True}, '"corruption_bce" learns whole facts'),
        ("corruption_bce", {"training.relation_fraction": 0.5}, '"corruption_bce" learns whole facts'),
    ],
)
def test_a_loss_and_training_must_go_together(tmp_path: Path, loss: str, changed: dict[str, Any], message: str) -> None:
    settings = {"loss.name": loss, "training.shuffle": "instances", **changed}
    path = tmp_path / "own.toml"
    path.write_text("")
    with pytest.raises(SettingError, match=message) as caught:
        choose_recipe("mine", "gran", str(path), settings)
    assert caught.value.file == str(path)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("loss", [*LOSSES])
def test_no_key_stands_in_two_tables(model: str, loss: str) -> None:
    """Otherwise its own name alone would not say which is meant."""
    overrides = {"data.valid_fraction": 0.1, "loss.name": loss, "model.name": model}
    tables = Recipe.from_tables(with_overrides({"data": {"name": "mine"}}, overrides)).as_tables()
    keys = [key for table in tables.values() for key in table if key != "name"]
    assert len(keys) == len(set(keys))


def test_a_part_that_is_listed_again_has_the_next_seed() -> None:
    parts = ["gran/nobel", "rules", "gran/nobel", "gran/nobel-roles"]
    recipe = Recipe.from_tables({"data": {"name": "nobel"}, "model": {"name": "blend", "parts": parts}})
    assert [part.training.seed for part in recipe.parts] == [0, 0, 1, 0]
    assert [part.training.seed for part in recipe.with_overrides({"training.seed": 5}).parts] == [5, 5, 6, 5]
