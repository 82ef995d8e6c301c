"""The library as its users call it."""

from pathlib import Path
from typing import Any

import pytest
import torch
from runs.small import SMALL, small_data
from training.small import OnStep

import nary
from nary.config import Settings
from nary.data.io.writer import write
from nary.keywords import TrainKeywords
from nary.models.gran import Gran
from nary.models.registry import MODELS
from nary.recipe import DataSettings, choose_recipe
from nary.training.callbacks import Callback, StepReport
from nary.training.settings import BUILT_IN_LOSSES, LOSSES, TrainingSettings
from nary.training.trainer import Trainer

_SETTINGS: dict[str, Any] = {key.partition(".")[2]: value for key, value in SMALL.items()}


def test_from_data_to_answers(tmp_path: Path) -> None:
    data = small_data()
    reports: list[StepReport] = []
    result = nary.train(data, model="gran", out=tmp_path / "run", callbacks=[OnStep(reports.append)], **_SETTINGS)
    assert reports[-1].step == reports[-1].steps == len(reports)
    assert result.losses == [report.loss for report in reports]
    model = result.model
    assert model.recipe.training.batch_size == 32
    name, relation = data.vocabulary.entities[0], data.vocabulary.relations[-1]
    prediction = model.predict(f"{name} | {relation} | ?", k=5)
    assert len(prediction.answers) == 5
    assert model.predict(nary.Query(name, relation, nary.GAP), k=5) == prediction
    model.save(tmp_path / "saved")
    for folder in ("saved", "run"):
        loaded = nary.load_model(tmp_path / folder, device="cpu")
        assert loaded.to("cpu").predict(f"{name} | {relation} | ?", k=5) == prediction


def test_nothing_is_written_unless_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = small_data()
    settings = {**_SETTINGS, "eval_every": 1, "patience": 2}
    result = nary.train(data, **settings)
    assert list(tmp_path.iterdir()) == []
    assert result.folder is None
    with pytest.raises(nary.NaryError, match="wrote no run folder"):
        _ = result.run_folder
    written = nary.train(data, out="run", **settings)
    pairs = zip(result.model.module.parameters(), written.model.module.parameters(), strict=True)
    assert all(torch.equal(*pair) for pair in pairs)
    assert result.metrics == written.metrics == result.model.evaluate("valid").metrics


def test_predict_fills_one_gap_and_complete_several() -> None:
    model = nary.train(small_data(), **_SETTINGS).model
    relation = model.vocabulary.relations[0]
    with pytest.raises(nary.NaryError, match="has 2 gaps") as caught:
        model.predict(f"? | {relation} | ?")
    assert "complete" in str(caught.value.hint)
    assert model.complete(f"? | {relation} | ?", k=2).positions == ["subject", "object"]


def test_a_model_class_and_a_model_to_train_further() -> None:
    data = small_data()
    first = nary.train(data, Gran, **_SETTINGS).model
    before = [parameter.detach().clone() for parameter in first.module.parameters()]
    second = nary.train(data, first.module, epochs=1, batch_size=32).model
    assert second.module is first.module
    assert second.settings == first.settings
    assert not all(torch.equal(old, new) for old, new in zip(before, second.module.parameters(), strict=True))


def test_a_default_recipe_is_named() -> None:
    with pytest.warns(UserWarning, match="no recipe for this data: using gran/nobel"):
        nary.train(small_data(), epochs=1, batch_size=32)


def test_everything_public_is_listed() -> None:
    assert set(nary.__all__) < set(dir(nary))
    for name in nary.__all__:
        assert getattr(nary, name) is not None
    assert "import_module" not in dir(nary)
    assert {"gran", "frequency"} <= set(nary.list_models())
    assert "nobel" in nary.list_datasets()
    assert "gran/nobel" in nary.list_recipes()


def test_every_setting_is_a_keyword_that_editors_know() -> None:
    """``TrainKeywords`` has the keys of all built-in settings, and nothing else."""
    losses = [LOSSES.get(name).settings_class for name in BUILT_IN_LOSSES]
    models = [MODELS.get(name).settings_class for name in nary.list_models()]
    classes: list[type[Settings]] = [TrainingSettings, DataSettings, nary.Protocol, *losses, *models]
    keys = {key for one in classes for key in one.model_fields} - {"name", "device"} | {"loss"}
    assert set(TrainKeywords.__annotations__) == keys


def test_facts_to_rank_are_a_split_or_a_table() -> None:
    data = small_data()
    run = nary.train(data, **_SETTINGS).model
    by_name, by_table = run.evaluate("valid"), run.evaluate(data.valid)
    assert by_table == by_name
    assert (by_table.dataset, by_table.split) == (data.name, "valid")
    assert run.evaluate().split == "test"
    other = data.train.take(range(3))  # type: ignore[arg-type]
    assert run.evaluate(other).split == "other facts"
    assert run.evaluate(other).metrics["primary"]["count"] == 3
    assert "MRR" in run.evaluate(data.test).table()


def test_a_file_and_a_recipe_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(small_data(), Path("mine.jsonl"))
    settings = {key: value for key, value in _SETTINGS.items() if key != "learning_rate"}
    recipe = nary.train("mine.jsonl", recipe="gran/nobel", **settings).model.recipe
    expected = choose_recipe("nobel").training.learning_rate
    assert (recipe.data.name, recipe.training.learning_rate) == ("mine", expected)
    assert nary.train(Path("mine.jsonl"), recipe=recipe).model.recipe == recipe


def test_a_recipe_says_which_model_its_settings_are_for(tmp_path: Path) -> None:
    result = nary.train(small_data(), recipe="ram/nobel", num_parts=2, epochs=1, batch_size=32)
    assert result.model.name == "ram"
    with pytest.raises(nary.NaryError, match="the recipe gran/nobel is for gran, not ram"):
        nary.train(small_data(), model="ram", recipe="gran/nobel", out=tmp_path / "other")


def test_the_loss_and_its_settings_by_their_own_names(tmp_path: Path) -> None:
    data, settings = small_data(), {"epochs": 1, "batch_size": 32, "embedding_dim": 8}
    result = nary.train(data, model="m-transh", loss="margin", num_negatives=3, **settings)
    assert result.model.recipe.as_tables()["loss"] == {
        "name": "margin",
        "num_negatives": 3,
        "slot_negatives": 0.0,
        "margin": 0.5,
    }
    with pytest.raises(nary.NaryError, match="unknown setting 'num_negatives'"):
        nary.train(data, model="gran", out=tmp_path / "none", num_negatives=3)
    with pytest.raises(nary.NaryError, match="unknown loss 'marign'"):
        nary.train(data, model="m-transh", out=tmp_path / "none", loss="marign")


def test_a_callback_stops_training(tmp_path: Path) -> None:
    class StopAtThree(Callback):
        def on_step(self, trainer: Trainer, report: StepReport) -> None:
            if report.step == 3:
                trainer.stop()

    data = small_data()
    nary.train(data, out=tmp_path / "run", callbacks=[StopAtThree()], **_SETTINGS)
    assert "finished after 3 steps" in (tmp_path / "run" / "log.txt").read_text()


def test_facts_are_written_where_a_text_says(tmp_path: Path) -> None:
    nary.write(small_data(), str(tmp_path / "facts.jsonl"))
    assert nary.read(str(tmp_path / "facts.jsonl")).facts == small_data().facts


def test_the_frequency_model() -> None:
    assert nary.train(small_data(), model="frequency").model.evaluate().metrics["entity"]["mrr"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epoch": 3}, "unknown setting 'epoch'"),
        ({"epochs": "3"}, r"training\.epochs is '3'"),
        ({"model": "gram"}, "unknown model 'gram'"),
        ({"recipe": "none.toml"}, "no recipe"),
        ({"device": "abacus"}, "cannot compute on the device 'abacus'"),
        ({"hidden_dim": 15, "num_heads": 2}, "2 heads cannot share"),
        ({"batch_size": 10**6, "epochs": 1}, "do not fill one batch"),
    ],
)
def test_mistakes(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(nary.NaryError, match=message):
        nary.train(small_data(), out=tmp_path / "run", **arguments)
    assert not (tmp_path / "run").exists()
