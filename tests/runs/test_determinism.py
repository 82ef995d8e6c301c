"""Equal seeds give equal runs."""

from pathlib import Path

import pytest
from runs.small import small_data, small_run, weights

from nary.errors import SettingError


def test_the_same_seed_gives_the_same_weight_file(tmp_path: Path) -> None:
    data = small_data()
    small_run(tmp_path / "one", dataset=data)
    small_run(tmp_path / "two", dataset=data)
    small_run(tmp_path / "other", dataset=data, training__seed=1)
    assert weights(tmp_path / "one") == weights(tmp_path / "two")
    assert weights(tmp_path / "one") != weights(tmp_path / "other")


def test_the_largest_seed_works_and_a_larger_one_is_refused(tmp_path: Path) -> None:
    small_run(tmp_path / "run", training__seed=(1 << 31) - 1, training__epochs=1)
    with pytest.raises(SettingError, match=r"training\.seed"):
        small_run(tmp_path / "none", training__seed=1 << 31)


def test_how_often_is_saved_changes_nothing(tmp_path: Path) -> None:
    small_run(tmp_path / "often", training__checkpoint_minutes=1e-9)
    small_run(tmp_path / "once")
    assert weights(tmp_path / "often") == weights(tmp_path / "once")


def test_dropout_is_used(tmp_path: Path) -> None:
    small_run(tmp_path / "without", model__dropout=0.0)
    small_run(tmp_path / "with", model__dropout=0.5)
    assert weights(tmp_path / "without") != weights(tmp_path / "with")
