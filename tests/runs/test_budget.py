"""Training for a given time: what follows from the speed of a step, by hand, and that a run of it can be resumed."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from contracts.model import train_in_parts
from runs.small import small_data, small_recipe, train_in, weights

import nary
from nary.errors import SettingError
from nary.runs import budget, fit_epochs
from nary.runs.training import build_parts
from nary.training.optimizer import learning_rate_at

DATA = small_data()


@pytest.fixture
def speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step takes a hundredth of a second, ranking valid three seconds, and building a model no time."""
    monkeypatch.setattr(budget, "_measure_step", lambda *_: 0.01)
    monkeypatch.setattr(budget, "_measure_validation", lambda *_: 3.0)
    monkeypatch.setattr(budget, "time", SimpleNamespace(perf_counter=lambda: 0.0))


@pytest.mark.usefixtures("speed")
def test_as_many_steps_as_fit() -> None:
    recipe = small_recipe(DATA)  # 4 epochs
    per_epoch = len(build_parts(DATA, recipe).batches) / recipe.training.batch_size
    fitted = fit_epochs(DATA, recipe, 0.5).training
    assert fitted.max_steps == 3000
    assert fitted.epochs - 1 < 3000 / per_epoch <= fitted.epochs
    assert fit_epochs(DATA, recipe, 1e-9).training.max_steps == 1
    assert fitted.model_copy(update={"epochs": 4, "max_steps": 0}) == recipe.training  # nothing else has changed


@pytest.mark.usefixtures("speed")
def test_validation_counts_and_takes_a_fifth_at_most() -> None:
    recipe = small_recipe(DATA, training__eval_every=1)
    fitted = fit_epochs(DATA, recipe, 1).training
    validations = fitted.epochs // fitted.eval_every + 1
    assert fitted.eval_every > 1
    assert 3.0 * (validations - 1) <= 0.2 * 60
    assert 55 < 3.0 * validations + 0.01 * fitted.max_steps <= 62
    rarely = small_recipe(DATA, training__eval_every=10_000)
    assert fit_epochs(DATA, rarely, 1).training.eval_every == 10_000


@pytest.mark.usefixtures("speed")
def test_the_learning_rate_decays_as_far_as_in_the_recipe() -> None:
    recipe = small_recipe(DATA, training__lr_scheduler="exponential", training__lr_gamma=0.5)
    fitted = fit_epochs(DATA, recipe, 0.5).training
    assert learning_rate_at(2999, 3000, fitted) == pytest.approx(0.01 * 0.5**4, rel=0.02)
    assert learning_rate_at(1500, 3000, fitted) == pytest.approx(0.01 * 0.5**2, rel=0.02)


def test_a_run_of_some_minutes_resumes_exactly(tmp_path: Path) -> None:
    recipe = fit_epochs(DATA, small_recipe(DATA, training__qualifier_dropout=0.5), 1e-3)
    recipe = recipe.with_overrides({"training.max_steps": min(20, recipe.training.max_steps)})
    whole = train_in(tmp_path / "whole", DATA, recipe)
    assert whole.steps == recipe.training.max_steps
    train_in_parts(tmp_path / "parts", DATA, recipe, 3)
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")


def test_a_longer_time_has_more_steps() -> None:
    recipe = small_recipe(DATA)
    short, long = (fit_epochs(DATA, recipe, minutes).training.max_steps for minutes in (0.001, 1.0))
    assert long > 2 * short


def test_minutes_in_python() -> None:
    settings = {"num_layers": 1, "num_heads": 2, "hidden_dim": 16, "ffn_dim": 16, "batch_size": 32}
    result = nary.train(DATA, recipe="gran/nobel", minutes=0.002, **settings)  # type: ignore[arg-type]
    assert result.steps == result.model.recipe.training.max_steps > 0
    with pytest.raises(SettingError, match=r"training.epochs is given beside"):
        nary.train(DATA, recipe="gran/nobel", minutes=1, epochs=3)
    for minutes in (0, -1, float("nan")):
        with pytest.raises(SettingError, match="minutes of training"):
            nary.train(DATA, recipe="gran/nobel", minutes=minutes)


@pytest.mark.usefixtures("speed")
def test_parts_of_a_blend_share_the_time_and_leave_what_they_do_not_need() -> None:
    short = {"model": {"name": "m-distmult"}, "training": {"epochs": 2, "batch_size": 8}}
    long = {"model": {"name": "m-distmult"}, "training": {"epochs": 100_000, "batch_size": 8}}
    recipe = small_recipe(DATA, "blend", model__parts=["rules", short, long])
    equal = [part.training.max_steps for part in fit_epochs(DATA, recipe, 1).parts]
    assert equal == [0, 2550, 2550]  # 60 seconds less 15 %, two trained parts
    _, kept, longer = fit_epochs(DATA, recipe, 1, at_most=True).parts
    assert kept.training.epochs == 2
    assert 2550 < longer.training.max_steps <= 5100
    both = small_recipe(DATA, "blend", model__parts=[long, long])
    assert [part.training.max_steps for part in fit_epochs(DATA, both, 1, at_most=True).parts] == [2550, 2550]
    shorter = small_recipe(DATA, "blend", model__parts=["rules", short, short])
    assert fit_epochs(DATA, shorter, 1, at_most=True) == shorter
    alone = small_recipe(DATA)
    assert fit_epochs(DATA, alone, 1, at_most=True) == alone
