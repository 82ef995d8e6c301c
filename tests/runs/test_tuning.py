"""Choosing settings: what is tried, what is chosen, and that test facts are never there."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from runs.small import small_data, small_recipe, train_in

from nary.data.dataset import Dataset
from nary.data.transforms.splits import hold_out_valid
from nary.errors import OutputError, SettingError
from nary.recipe import Recipe
from nary.reproduction.records import read_results, record_trial
from nary.runs import RunFolder, TrainingResult, load_model, prepare_dataset, train_or_resume
from nary.runs.search import new_search
from nary.runs.space import Range, Space
from nary.runs.tuning import Train, Trial, Tuning, folder_name
from nary.training.callbacks import Callback

SPACE: Space = {"loss.entity_label_smoothing": [0.0, 0.9], "model.dropout": [0.1]}


def never(recipe: Recipe, folder: Path, load: Callable[[], Dataset], callbacks: Sequence[Callback]) -> TrainingResult:
    raise AssertionError(f"{folder} was trained again")


@pytest.fixture(scope="module")
def data() -> Dataset:
    return small_data()


@pytest.fixture
def tuning(data: Dataset, tmp_path: Path) -> Tuning:
    return Tuning(data, small_recipe(data, data__train_on=["train", "valid"]), SPACE, tmp_path)


def test_the_best_on_valid_wins_and_learns_from_valid_too(tuning: Tuning, data: Dataset, tmp_path: Path) -> None:
    trials = list(tuning.trials(new_search("grid", SPACE, None, 0)))
    assert [trial.values["loss.entity_label_smoothing"] for trial in trials] == [0.0, 0.9]
    for trial in trials:
        run = load_model(trial.folder)
        assert run.recipe is not None
        assert run.recipe.data.train_on == ["train"]
        assert trial.mrr == run.evaluate("valid").metrics["entity"]["mrr"]
    best, recipe = tuning.best(trials)
    assert best.mrr == max(trial.mrr or 0 for trial in trials)
    assert recipe.data.train_on == ["train", "valid"]
    assert recipe.loss.entity_label_smoothing == best.values["loss.entity_label_smoothing"]
    assert recipe.model.dropout == 0.1  # type: ignore[attr-defined]
    train_in(tmp_path / "retrained", data, recipe)


def test_no_trial_has_a_test_fact(tuning: Tuning) -> None:
    for trial in tuning.trials(new_search("grid", SPACE, None, 0)):
        assert {path.stem for path in (trial.folder / "model" / "facts").iterdir()} == {"train", "valid"}


def test_finished_trials_are_only_read_and_a_larger_grid_adds_to_them(
    tuning: Tuning, data: Dataset, tmp_path: Path
) -> None:
    before = list(tuning.trials(new_search("grid", SPACE, None, 0)))
    assert list(tuning.trials(new_search("grid", SPACE, None, 0), never)) == before
    larger: Space = {**SPACE, "loss.entity_label_smoothing": [0.0, 0.5, 0.9]}
    trained: list[str] = []

    def note(
        recipe: Recipe, folder: Path, load: Callable[[], Dataset], callbacks: Sequence[Callback]
    ) -> TrainingResult:
        trained.append(folder.name)
        return train_or_resume(recipe, folder, load, callbacks)

    more = Tuning(data, small_recipe(data, data__train_on=["train", "valid"]), larger, tmp_path)
    after = list(more.trials(new_search("grid", larger, None, 0), note))
    assert trained == [folder_name({"loss.entity_label_smoothing": 0.5, "model.dropout": 0.1})]
    assert [after[0], after[2]] == before


def test_trials_with_other_settings_are_not_taken_for_these(tuning: Tuning, data: Dataset, tmp_path: Path) -> None:
    list(tuning.trials(new_search("grid", SPACE, None, 0)))
    other = Tuning(data, small_recipe(data, training__epochs=5), SPACE, tmp_path)
    with pytest.raises(OutputError, match="holds a run with other settings"):
        list(other.trials(new_search("grid", SPACE, None, 0), never))


def test_without_a_valid_split_a_fifth_of_train_is_held_out(data: Dataset, tmp_path: Path) -> None:
    whole = Dataset("whole", data.vocabulary, {"train": data.train, "test": data.test})
    tuning = Tuning(whole, small_recipe(whole), SPACE, tmp_path)
    (trial, *_) = trials = list(tuning.trials(new_search("grid", SPACE, None, 0)))
    tried = load_model(trial.folder).dataset
    held_out = hold_out_valid(whole, 0.2)
    assert (tried.train, tried.valid) == (held_out.train, held_out.valid)
    recipe = tuning.best(trials)[1]
    assert (recipe.data.valid_fraction, recipe.data.train_on) == (0.2, ["train", "valid"])
    again = prepare_dataset(whole, recipe)
    assert len(again.train) + len(again.valid) == len(data.train)


def test_the_best_number_of_epochs_is_kept(data: Dataset, tmp_path: Path) -> None:
    recipe = small_recipe(data, training__eval_every=2, training__patience=1, training__epochs=9)
    space: Space = {"training.learning_rate": [1e-7, 0.01]}
    tuning = Tuning(data, recipe, space, tmp_path)
    trials = list(tuning.trials(new_search("grid", space, None, 0)))
    assert {trial.epochs for trial in trials} <= {2, 4, 6, 8, 9}
    best, winner = tuning.best(trials)
    assert winner.training.epochs == best.epochs
    assert (winner.training.eval_every, winner.training.patience) == (0, 0)
    train_in(tmp_path / "retrained", data, winner)  # there is nothing left to validate on


def test_epochs_that_are_smaller_than_a_batch_are_counted_as_they_are(data: Dataset, tmp_path: Path) -> None:
    changed = {"training__batch_size": 400, "training__epochs": 12, "training__eval_every": 1}
    space: Space = {"training.learning_rate": [0.01]}
    (trial,) = Tuning(data, small_recipe(data, **changed), space, tmp_path).trials(new_search("grid", space, None, 0))
    validations = [record for record in RunFolder(trial.folder).records() if "valid_mrr" in record]
    assert len(validations) < 12  # a step has more than an epoch
    best = max(validations, key=lambda record: record["valid_mrr"])
    assert best["epoch"] <= trial.epochs < best["epoch"] + 1


def test_a_trial_is_judged_by_its_own_protocol(tuning: Tuning, tmp_path: Path) -> None:
    before = list(tuning.trials(new_search("grid", SPACE, None, 0)))
    run = load_model(before[0].folder)
    for report in (run.evaluate("valid", protocol=run.protocol({"evaluation.filter": "none"})), run.evaluate("train")):
        run.add_report(report, RunFolder(before[0].folder).model_path)
    assert list(tuning.trials(new_search("grid", SPACE, None, 0), never)) == before
    path = record_trial(before[0], tmp_path / "results")
    assert path is not None
    (result,) = read_results(tmp_path / "results")
    assert (result["split"], result["protocol"]["filter"]) == ("valid", "slots")
    assert result["metrics"]["entity"]["mrr"] == before[0].mrr


def test_what_is_to_be_chosen_by_must_be_asked_for(data: Dataset, tmp_path: Path) -> None:
    recipe = small_recipe(data, evaluation__positions=["relation"])
    with pytest.raises(SettingError, match=r"evaluation\.positions is relation"):
        Tuning(data, recipe, SPACE, tmp_path)
    recipe = small_recipe(data, evaluation__positions=["relation"], training__eval_every=1)
    with pytest.raises(SettingError, match=r"evaluation\.positions is relation"):
        train_in(tmp_path / "run", data, recipe)


def test_a_training_that_diverges_is_a_trial_that_lost(data: Dataset, tmp_path: Path) -> None:
    space: Space = {"training.learning_rate": [1e30, 0.01]}
    changed = {"training__warmup_ratio": 0.0, "training__max_grad_norm": 0.0}
    tuning = Tuning(data, small_recipe(data, **changed), space, tmp_path)
    lost, won = tuning.trials(new_search("grid", space, None, 0))
    assert lost.mrr is None
    assert tuning.best([lost, won])[0] == won
    with pytest.raises(SettingError, match="every training diverged"):
        tuning.best([lost])


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({}, "the search space is empty"),
        ({"evaluation.filter": ["none", "slots"]}, "evaluation.filter cannot be tuned"),
        ({"data.train_on": [["train"]]}, "data.train_on cannot be tuned"),
        ({"model.dropout": [0.1, 0.1]}, "given twice"),
        ({"model.dropout": [0.1, 7.0]}, "model.dropout is 7.0"),
        ({"training.dropout": [0.1]}, "unknown key training.dropout"),
    ],
)
def test_what_cannot_be_tuned_is_refused_before_anything_is_trained(
    data: Dataset, tmp_path: Path, space: Space, message: str
) -> None:
    with pytest.raises(SettingError, match=message):
        Tuning(data, small_recipe(data), space, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def space() -> Space:
    """One rate that learns, and three that do not."""
    return {"training.learning_rate": [0.01, 1e-9, 2e-9, 3e-9]}


def test_halving_stops_what_is_behind_and_a_study_goes_on_where_it_was(
    data: Dataset, tmp_path: Path, space: Space
) -> None:
    data = small_data(300)  # with few valid facts, a model without training may be the best by chance
    recipe = small_recipe(data, training__epochs=9)

    def trials(train: Train = train_or_resume) -> list[Trial]:
        tuning = Tuning(data, recipe, space, tmp_path, halving=True)
        return list(tuning.trials(new_search("grid", space, None, 0), train))

    first = trials()
    assert [trial.stopped for trial in first] == [False, True, True, True]
    assert {trial.epochs for trial in first if trial.stopped} == {1}
    for trial in first:
        epochs = [record["epoch"] for record in RunFolder(trial.folder).records() if "valid_mrr" in record]
        assert round(epochs[-1]) == (1 if trial.stopped else 9)
    best, winner = Tuning(data, recipe, space, tmp_path, halving=True).best(first)
    assert best == first[0]
    assert winner.training.learning_rate == 0.01
    assert trials(never) == first
    (first[1].folder / "model" / "metrics.json").unlink()  # killed after it was stopped and before it was ranked
    assert trials() == first


def test_halving_and_ranges_need_settings_that_are_valid(data: Dataset, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"model\.dropout is 1\.5"):
        Tuning(data, small_recipe(data), {"model.dropout": Range(0.1, 1.5)}, tmp_path)
