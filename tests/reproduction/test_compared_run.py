"""Recipes in a few words."""

from nary.recipe import choose_recipe
from nary.reproduction.compared_run import recipe_label


def test_a_recipe_in_a_few_words() -> None:
    assert recipe_label(choose_recipe("nobel")) == "gran/nobel"
    assert (
        recipe_label(choose_recipe("nobel", overrides={"training.seed": 4, "training.epochs": 3}))
        == "gran/nobel, epochs=3"
    )
    assert recipe_label(choose_recipe("mine", recipe="gran/nobel")) == "gran/nobel"
    changed = {
        "training.epochs": 3,
        "training.batch_size": 7,
        "model.hidden_dim": 8,
        "model.num_layers": 1,
        "data.train_on": ["valid"],
    }
    assert (
        recipe_label(choose_recipe("nobel", overrides=changed))
        == "gran/nobel, train_on=valid, num_layers=1, hidden_dim=8, 2 more changes"
    )
