"""Recipes over seeds, and the test of their differences."""

from pathlib import Path

import numpy as np
import pytest
from runs.small import small_data, small_recipe, train_in

import nary
from nary.errors import SettingError
from nary.evaluation.ranks import ALL_GIVEN, ROLES, Ranks
from nary.facts import Role
from nary.reproduction.significance import paired_bootstrap


def ranks_of(values: list[int], facts: list[int] | None = None) -> Ranks:
    """Ranks of object queries, one a fact unless told."""
    count = len(values)
    row = np.array(range(count) if facts is None else facts)
    same = np.full(count, ALL_GIVEN)
    rank = np.array(values)
    role = np.full(count, ROLES.index(Role.OBJECT))
    zero = np.zeros(count, int)
    return Ranks("mean", 0, row, zero + 2, zero, np.arange(count), role, zero, rank, rank, zero, same)


def test_the_difference_by_hand() -> None:
    difference = paired_bootstrap([ranks_of([1, 2, 4])], [ranks_of([2, 2, 4])])
    assert difference.mean == pytest.approx(0.5 / 3)
    assert difference.low == 0.0  # some resamples do not draw the first fact
    assert not difference.significant


def test_a_constant_advantage_is_significant_and_none_is_not() -> None:
    better, worse = ranks_of([1] * 50), ranks_of([2] * 50)
    difference = paired_bootstrap([better], [worse])
    assert (difference.mean, difference.low, difference.high) == (0.5, 0.5, 0.5)
    assert difference.significant
    assert paired_bootstrap([worse], [better]).mean == -0.5
    assert not paired_bootstrap([better], [better]).significant


def test_the_interval_is_about_that_of_the_normal_distribution() -> None:
    generator = np.random.default_rng(1)
    first, second = (generator.integers(1, 10, 800).tolist() for _ in range(2))
    difference = paired_bootstrap([ranks_of(first)], [ranks_of(second)])
    paired = 1 / np.array(first) - 1 / np.array(second)
    half = 1.96 * paired.std() / 800**0.5
    assert difference.low == pytest.approx(paired.mean() - half, abs=0.1 * half)
    assert difference.high == pytest.approx(paired.mean() + half, abs=0.1 * half)


def test_queries_of_one_fact_are_drawn_together() -> None:
    """A fact with many queries is no more evidence than its share: the interval is wider than of as many facts."""
    values, others = [1, 2] * 20, [2, 1] * 10 + [1, 2] * 10
    apart = paired_bootstrap([ranks_of(values)], [ranks_of(others)])
    together = paired_bootstrap([ranks_of(values, [0] * 20 + [1] * 20)], [ranks_of(others, [0] * 20 + [1] * 20)])
    assert together.high - together.low < apart.high - apart.low  # here differences cancel within each fact
    assert together.mean == pytest.approx(apart.mean)


def test_seeds_are_averaged_before_the_test() -> None:
    ours = [ranks_of([1, 2, 2]), ranks_of([1, 1, 2])]
    assert paired_bootstrap(ours, [ranks_of([2, 2, 2])]).mean == pytest.approx((0.5 + 0.25 + 0) / 3)


def test_only_shared_queries_count() -> None:
    assert paired_bootstrap([ranks_of([1, 2, 9], [0, 1, 2])], [ranks_of([2, 2, 1], [0, 1, 3])]).mean == 0.25
    with pytest.raises(SettingError, match="different queries"):
        paired_bootstrap([ranks_of([1, 2], [0, 1])], [ranks_of([1, 2], [2, 3])])


def test_runs_are_grouped_by_recipe_and_tested(tmp_path: Path) -> None:
    data, paths = small_data(), []
    for dim in (8, 16):
        for seed in (0, 1):
            recipe = small_recipe(data, model__hidden_dim=dim, training__seed=seed)
            result = train_in(tmp_path / f"{dim}-{seed}", data, recipe)
            result.model.add_report(result.model.evaluate("test"), result.run_folder.model_path)
            paths.append(tmp_path / f"{dim}-{seed}")
    comparison = nary.compare(paths, significance=True)
    best, other = comparison.recipes
    assert sorted(len(group.runs) for group in comparison.recipes) == [2, 2]
    values = [run.metrics["entity"]["mrr"] for run in best.runs]
    assert best.mean("entity", "mrr") == pytest.approx(sum(values) / 2)
    assert best.std("entity", "mrr") == pytest.approx(abs(values[0] - values[1]) / 2**0.5)
    assert best.difference is None
    assert other.difference is not None
    gap = (best.mean("entity", "mrr") or 0) - (other.mean("entity", "mrr") or 0)
    assert other.difference.mean == pytest.approx(gap)
    assert "behind the best by" in comparison.text()
    assert "±" in comparison.markdown()
    assert comparison.as_dict()["recipes"][1]["difference"]["significant"] == other.difference.significant
    assert nary.compare(paths[:1]).recipes[0].difference is None
    assert "Recipes" not in nary.compare(paths[::2]).text()  # one run each says nothing new
