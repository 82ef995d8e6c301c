"""Experiments: their names, the tables they belong to, and finding them."""

import pytest

from nary.errors import SettingError
from nary.recipe import shipped_recipes
from nary.reproduction.experiments import (
    RESULT_TABLES,
    all_experiments,
    experiments_in,
    find_experiment,
    find_experiments,
    is_ablation,
)


def test_every_shipped_recipe_is_an_experiment_with_a_name_of_its_own() -> None:
    experiments = all_experiments()
    assert set(shipped_recipes()) <= set(experiments)
    assert len({(experiment.dataset, experiment.stem) for experiment in experiments.values()}) == len(experiments)


@pytest.mark.parametrize(
    ("name", "label", "stem"),
    [
        ("gran/jf17k-4-fast", "fast", "gran-hete-fast"),
        ("gran/jf17k-4", "", "gran-hete"),
        ("gran/jf17k-clean", "", "gran-hete"),
        ("gran/wikipeople-", "", "gran-hete"),
        ("gran-homo/jf17k-4-fast", "fast", "gran-homo-fast"),
        ("gran-triples/jf17k-4-fast", "fast", "gran-hete-triples-fast"),
        ("gran-complete/wd50k_100-fast", "fast", "gran-complete-fast"),
        ("stare/wd50k_100-transformer-fast", "fast", "stare-transformer-fast"),
        ("stare-triples/wd50k_100-transformer", "", "stare-transformer-triples"),
        ("ram/jf17k", "", "ram"),
        ("frequency/nobel", "", "frequency"),
    ],
)
def test_names_of_experiments(name: str, label: str, stem: str) -> None:
    experiment = find_experiment(name)
    assert (experiment.label, experiment.stem) == (label, stem)


def test_tables_have_the_published_recipes_of_their_datasets() -> None:
    rows = {table.name: {experiment.name for experiment in experiments_in(table)} for table in RESULT_TABLES}
    assert {"gran/jf17k", "gran/wikipeople-", "ram/jf17k"} <= rows["mixed-arity"] == rows["breakdown"]
    assert "gran/jf17k" in rows["relations"]
    assert not {"ram/jf17k", "stare/jf17k"} & rows["relations"]  # which predict entities alone
    assert "stare/jf17k" in rows["mixed-arity"]
    assert {"gran/jf17k-4", "getd/wikipeople-3"} <= rows["single-arity"]
    assert {"gran/nobel", "gran/fb-auto"} <= rows["others"]
    assert {"gran/jf17k", "gran-homo/jf17k", "gran-complete/wikipeople-4"} <= rows["ablations"]
    assert {"stare-triples/wd50k", "hy-transformer-triples/jf17k", "gran-triples/jf17k-3"} <= rows["ablations"]
    assert not any("fast" in name for names in rows.values() for name in names)
    systems = [one for table in RESULT_TABLES if not table.ablations for one in experiments_in(table)]
    assert not any(is_ablation(one.stem) for one in systems)


def test_names_mean_tables_and_experiments_each_once() -> None:
    names = [experiment.name for experiment in find_experiments(["single-arity", "gran/jf17k-4", "gran/jf17k-4-fast"])]
    assert len(names) == len(set(names))
    assert {"gran/jf17k-4", "gran/jf17k-4-fast"} <= set(names)
    with pytest.raises(SettingError) as caught:
        find_experiments(["single-arty"])
    assert str(caught.value.hint).startswith("Did you mean single-arity")
