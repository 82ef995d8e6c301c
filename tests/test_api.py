"""The library as its users call it."""

from pathlib import Path
from typing import Any

import pytest
from runs.small import SMALL, small_data
from training.small import OnStep

import nary
from nary.data.io.writer import write
from nary.recipe import choose_recipe
from nary.training.callbacks import Callback, StepReport
from nary.training.trainer import Trainer

_SETTINGS: dict[str, Any] = {key.partition(".")[2]: value for key, value in SMALL.items()}


def test_from_data_to_answers(tmp_path: Path) -> None:
    data = small_data()
    heard = []
    run = nary.train(data, model="gran", out=tmp_path / "run", callbacks=[OnStep(heard.append)], **_SETTINGS)
    assert heard[-1].step == heard[-1].steps == len(heard)
    assert run.recipe is not None
    assert run.recipe.training.batch_size == 32
    name, relation = data.vocabulary.entities[0], data.vocabulary.relations[-1]
    found = run.predict(f"{name} | {relation} | ?", k=5)
    assert len(found.answers) == 5
    assert run.predict(nary.Query(name, relation, nary.GAP), k=5) == found
    run.save(tmp_path / "saved")
    for folder in ("saved", "run"):
        assert nary.load_model(tmp_path / folder).predict(f"{name} | {relation} | ?", k=5) == found


def test_facts_to_rank_are_a_split_or_a_table(tmp_path: Path) -> None:
    data = small_data()
    run = nary.train(data, out=tmp_path / "run", **_SETTINGS)
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
    first, second = (nary.train("mine.jsonl", recipe="gran/nobel", **settings) for _ in range(2))
    assert (first.folder, second.folder) == (Path("runs/mine-gran"), Path("runs/mine-gran-2"))
    assert first.recipe is not None
    assert (first.recipe.data.name, first.recipe.training.learning_rate) == (
        "mine",
        choose_recipe("nobel").training.learning_rate,
    )


def test_a_recipe_says_which_model_its_settings_are_for(tmp_path: Path) -> None:
    run = nary.train(small_data(), recipe="ram/nobel", out=tmp_path / "run", num_parts=2, epochs=1, batch_size=32)
    assert run.module.name == "ram"
    with pytest.raises(nary.NaryError, match="the recipe gran/nobel is for gran, not ram"):
        nary.train(small_data(), model="ram", recipe="gran/nobel", out=tmp_path / "other")


def test_the_loss_and_its_settings_by_their_own_names(tmp_path: Path) -> None:
    data, settings = small_data(), {"epochs": 1, "batch_size": 32, "embedding_dim": 8}
    run = nary.train(data, model="m-transh", out=tmp_path / "margin", loss="margin", num_negatives=3, **settings)
    assert run.recipe is not None
    assert run.recipe.as_tables()["loss"] == {
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


def test_the_frequency_model(tmp_path: Path) -> None:
    run = nary.train(small_data(), model="frequency", out=tmp_path / "run")
    assert run.evaluate().metrics["entity"]["mrr"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epoch": 3}, "unknown setting 'epoch'"),
        ({"epochs": "3"}, r"training\.epochs is '3'"),
        ({"model": "gram"}, "unknown model 'gram'"),
        ({"recipe": "none.toml"}, "no recipe"),
    ],
)
def test_mistakes(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(nary.NaryError, match=message):
        nary.train(small_data(), out=tmp_path / "run", **arguments)
    assert not (tmp_path / "run").exists()
