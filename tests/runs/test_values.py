"""Numbers and dates that a model embeds by their value: also those that it has never seen."""

from pathlib import Path

import pytest
import torch
from runs.small import dataset_of, small_recipe, train_in

from nary.errors import DataError, SettingError
from nary.facts import Fact
from nary.models.gran import Gran
from nary.runs import TrainedModel, load_model

# Who earns less than 5,000 is a clerk, who earns more a head; every third amount is never seen.
_PAY = [(number, 1000 + 100 * number) for number in range(80)]
_FACTS = [
    Fact(f"P{number % 10}", "works as", "clerk" if pay < 5000 else "head", [("amount", f"{pay}^^number")])
    for number, pay in _PAY
    if number % 3
]


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    data = dataset_of(train=_FACTS, valid=_FACTS[:2], test=_FACTS[:2])
    settings = {"model__value_knots": 8, "loss__entity_label_smoothing": 0.1, "model__dropout": 0.0}
    settings |= {"training__epochs": 80, "training__batch_size": 64, "training__learning_rate": 0.01}
    return train_in(None, data, small_recipe(data, **settings)).model


@pytest.mark.parametrize("amount", ["1900", "1900^^number", "4300", "5800", "8500^^number"])
def test_an_unseen_number_is_known_by_its_value(model: TrainedModel, amount: str) -> None:
    prediction = model.predict(f"P1 | works as | ? | amount: {amount}", known="mark")
    right, wrong = ("clerk", "head") if float(amount.split("^")[0]) < 5000 else ("head", "clerk")
    probabilities = {answer.name: answer.probability for answer in prediction.answers}
    assert probabilities[right] > 2 * probabilities[wrong]
    assert any(f"{amount.split('^')[0]}^^number" in note and "its value" in note for note in prediction.notes)


def test_other_unseen_names_are_still_errors(model: TrainedModel) -> None:
    for amount in ("many", "12^^quantity:kg", "1990^^date"):
        with pytest.raises(DataError, match="unknown entity"):
            model.predict(f"P1 | works as | ? | amount: {amount}")
    with pytest.raises(DataError, match="unknown entity"):
        model.predict("5^^number | works as | ? | amount: Nobody")


def test_facts_with_unseen_numbers_are_scored(model: TrainedModel) -> None:
    good, bad = model.score(["P1 | works as | clerk | amount: 1900", "P1 | works as | head | amount: 1900"])
    assert good.elements[0].fit > bad.elements[0].fit
    assert any("its value" in note for note in good.notes)


def test_a_number_is_predicted_with_an_interval(model: TrainedModel) -> None:
    for role, low, high in (("clerk", 1000, 5000), ("head", 5000, 9000)):
        value = model.predict(f"P1 | works as | {role} | amount: ?").value
        assert value is not None
        numbers = [float(name.removesuffix("^^number")) for name in (value.low, value.median, value.high)]
        assert numbers == sorted(numbers)
        assert low <= numbers[1] < high
        assert value.label.startswith(f"{numbers[1]:g}; 80% between ")
    assert model.predict("P1 | works as | ?").value is None
    assert model.predict("? | works as | clerk").as_dict()["value"] is None


def test_saved_and_grown(model: TrainedModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    query = "P1 | works as | ? | amount: 1900"
    loaded = load_model(tmp_path / "model")
    assert loaded.predict(query).answers == model.predict(query).answers
    grown = loaded.with_facts(["Zoe | works as | clerk | amount: 99999^^number"])
    assert isinstance(grown.module, Gran)
    assert isinstance(loaded.module, Gran)
    assert grown.module.value_rows is not None
    assert loaded.module.value_rows is not None
    assert torch.equal(grown.module.value_rows.knots, loaded.module.value_rows.knots)
    known = len(loaded.vocabulary.entities)
    torch.testing.assert_close(grown.module.candidates("entity")[0][:known], loaded.module.candidates("entity")[0])
    assert grown.predict("Zoe | works as | ?", k=1).answers[0].name == "clerk"


def test_losses_that_use_a_few_rows_are_refused() -> None:
    data = dataset_of(train=_FACTS)
    recipe = small_recipe(data, model__value_knots=8, loss__name="sampled_softmax")
    with pytest.raises(SettingError, match="all entities"):
        train_in(None, data, recipe)


def test_without_literals_there_is_nothing_to_embed(tmp_path: Path) -> None:
    facts = [Fact("Ann", "knows", "Bob"), Fact("Bob", "knows", "Ann")]
    data = dataset_of(train=facts, valid=facts)
    recipe = small_recipe(data, model__value_knots=100, training__epochs=1, training__batch_size=4)
    train_in(tmp_path / "run", data, recipe)
    loaded = load_model(tmp_path / "run")
    assert not loaded.module.embeds_values
    assert loaded.predict("Ann | knows | ?").value is None
