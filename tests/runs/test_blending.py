"""Blends of trained models: what they are worth, what they must not see, and what cannot be blended."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from reference.blend import rank
from runs.small import finish, small_data, small_recipe, small_run, start, stop, train_in, wait_until, weights
from training.small import OnStep

import nary
from nary.data.dataset import Dataset
from nary.data.io.writer import write
from nary.errors import NaryError, SettingError
from nary.evaluation.known_answers import KnownAnswers
from nary.evaluation.protocol import Protocol
from nary.models.batch import Batch, Group
from nary.runs import BlendResult, InterruptedRun, TrainedModel, load_model, resume
from nary.runs.blend_training import blend_runs

_SMALL_GRAN = {"name": "gran", "num_layers": 1, "num_heads": 2, "hidden_dim": 16, "ffn_dim": 16}
_TRAINING = {"epochs": 4, "batch_size": 32, "learning_rate": 0.01, "precision": "fp32"}
_PARTS = [{"model": {"name": "rules"}}, {"model": _SMALL_GRAN, "training": _TRAINING}]


@pytest.fixture(scope="module")
def data() -> Dataset:
    return small_data(300)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parts")


@pytest.fixture(scope="module")
def parts(data: Dataset, folder: Path) -> list[TrainedModel]:
    names = ("rules", "gran", "m-distmult")
    return [small_run(folder / name, name, data, training__epochs=6) for name in names]


@pytest.fixture(scope="module")
def blended(parts: list[TrainedModel], folder: Path) -> BlendResult:
    return blend_runs([folder / part.name for part in parts], folder / "blend")


def test_no_role_is_worse_than_in_the_best_part(blended: BlendResult) -> None:
    *parts, whole = blended.parts
    for group in ("subject", "object", "value", "primary", "attribute"):
        assert whole.mrr[group] >= max(part.mrr.get(group, 0) for part in parts) - 1e-6
    assert whole.mrr["entity"] > max(part.mrr["entity"] for part in parts)


def test_parts_are_worth_what_a_plain_ranking_says(parts: list[TrainedModel], blended: BlendResult) -> None:
    data = parts[0].dataset
    known = KnownAnswers([data.train, data.valid], "slots")
    models = [*(part.module for part in parts), blended.model.module]
    for model, told in zip(models, blended.parts, strict=True):
        ranks = []
        for block in data.valid.blocks:
            for column in block.entity_columns:
                for ids in block.ids:
                    answer, others = int(ids[column]), set(known.of(ids[None], column)[1].tolist())
                    batch = Batch([Group(torch.from_numpy(ids[None]).long(), torch.tensor([column]))])
                    scores = model.score(batch, "entity")[0].tolist()
                    ranks.append(rank(scores, answer, sorted(others - {answer})))
        assert told.mrr["entity"] == pytest.approx(np.mean([1 / one for one in ranks]), abs=1e-6)


def test_partial_questions_do_not_go_to_a_part_at_a_loss(data: Dataset, folder: Path) -> None:
    """Trained without qualifiers, a model answers as well when they are left out; trained with all of them, not."""
    whole = small_run(folder / "whole", "gran", data, training__epochs=12)
    settings = {"training__qualifier_dropout": 1.0, "model__partial_embedding": True}
    partial = small_run(folder / "partial", "gran", data, training__epochs=12, **settings)
    blended = blend_runs([whole, partial]).model
    protocol = blended.protocol({"evaluation.given": "none"})
    mrr = [model.evaluate("valid", protocol=protocol).metrics["entity"]["mrr"] for model in (whole, partial, blended)]
    assert mrr[2] >= max(mrr[:2]) - 0.02
    rows = blended.module.weight.detach()
    assert not torch.equal(rows[: len(rows) // 2], rows[len(rows) // 2 :])


def test_the_report_is_that_of_an_evaluation(blended: BlendResult) -> None:
    protocol = Protocol(filter_splits=["train", "valid"])
    report = blended.model.evaluate("valid", protocol=protocol)
    assert report.metrics == blended.metrics
    assert blended.parts[-1].mrr["entity"] == pytest.approx(report.metrics["entity"]["mrr"])


def test_test_facts_have_no_influence(parts: list[TrainedModel], blended: BlendResult) -> None:
    data = parts[0].dataset
    others = data.test.take(np.arange(3))
    changed = Dataset(data.name, data.vocabulary, {**data.splits, "test": others})
    again = blend_runs([replace(part, dataset=changed) for part in parts])
    for name, tensor in blended.model.module.state_dict().items():
        assert torch.equal(again.model.module.state_dict()[name], tensor)


def test_saved_in_one_folder_and_loaded(blended: BlendResult, tmp_path: Path) -> None:
    blended.model.save(tmp_path / "model")
    assert not [path for path in (tmp_path / "model").rglob("*") if path.suffix in (".pkl", ".pt", ".bin")]
    for path in (tmp_path / "model", blended.run_folder.path):
        again = load_model(path)
        assert again.settings == blended.model.settings
        fact = next(iter(again.dataset.test.facts(again.vocabulary)))
        assert again.score([fact]) == blended.model.score([fact])
        assert again.evaluate("test").metrics == blended.model.evaluate("test").metrics
        assert again.reports == blended.model.reports


def test_damaged_folders_are_refused(blended: BlendResult, tmp_path: Path) -> None:
    blended.model.save(tmp_path / "model")
    config = tmp_path / "model" / "config.json"
    text = config.read_text()
    config.write_text(text.replace('"hidden_dim": 16', '"hidden_dim": 1600000'))
    with pytest.raises(NaryError, match="hidden_dim is 1,600,000, and the weights are of a smaller model"):
        load_model(tmp_path / "model", verify=False)
    config.write_text(text.replace('"name": "rules"', '"name": "frequency"', 1))
    with pytest.raises(NaryError):
        load_model(tmp_path / "model", verify=False)


def test_every_use_of_a_model(blended: BlendResult) -> None:
    model = blended.model
    fact = next(iter(model.dataset.test.facts(model.vocabulary)))
    assert len(model.predict(fact.query(nary.Position.parse("object")), k=3).answers) == 3
    assert model.score([fact])[0].fact == str(fact)
    assert model.explain(fact, "object").answer == fact.object
    assert model.complete(f"? | {fact.relation} | ?", k=2).answers
    assert model.suggest(fact, k=2)
    assert repr(model).startswith("TrainedModel(blend on")


def test_costs_are_those_of_the_parts(blended: BlendResult, folder: Path) -> None:
    *parts, whole = blended.parts
    assert whole.seconds is not None
    assert all(part.seconds is not None and part.seconds > 0 for part in parts)
    assert whole.seconds > sum(part.seconds or 0 for part in parts)
    assert blended.run_folder.seconds == pytest.approx(whole.seconds, abs=0.1)
    assert [record["part"] for record in blended.run_folder.records()] == [part.name for part in blended.parts]


def test_runs_that_cannot_be_blended(parts: list[TrainedModel], blended: BlendResult, data: Dataset) -> None:
    rules, gran, _ = parts
    with pytest.raises(SettingError, match="1 run to blend"):
        blend_runs([gran])
    with pytest.raises(SettingError, match="is a blend, which cannot be part of another"):
        blend_runs([gran, blended.model])
    valid = gran.recipe.with_overrides({"data.train_on": ["train", "valid"]})
    with pytest.raises(SettingError, match="gran has learned from valid"):
        blend_runs([rules, replace(gran, recipe=valid)])
    held_out = train_in(None, data, small_recipe(data, "rules", data__valid_fraction=0.5)).model
    with pytest.raises(SettingError, match="different data: 240 and 255 train facts"):
        blend_runs([gran, held_out])
    without = Dataset(data.name, data.vocabulary, {"train": data.train, "test": data.test})
    with pytest.raises(SettingError, match="gran has no valid facts"):
        blend_runs([replace(gran, dataset=without), rules])


def test_runs_that_hold_out_the_same_part_of_valid(data: Dataset) -> None:
    names = ("rules", "m-distmult")
    models = [train_in(None, data, small_recipe(data, name, data__valid_fraction=0.5)).model for name in names]
    result = nary.blend(models)
    assert len(result.model.dataset.valid) == 15
    assert len(result.model.module.info.facts) == 255


def test_a_recipe_trains_its_parts_and_blends_them(data: Dataset, tmp_path: Path) -> None:
    recipe = small_recipe(data, "blend", model__parts=_PARTS)
    result = train_in(tmp_path / "run", data, recipe)
    assert isinstance(result, BlendResult)
    assert [part.name for part in result.parts] == ["rules", "gran", "blend"]
    runs = [tmp_path / "run" / "parts" / name for name in ("rules", "gran")]
    blend_runs(runs, tmp_path / "again")
    assert weights(tmp_path / "again") == weights(tmp_path / "run")
    in_memory = train_in(None, data, recipe)
    assert in_memory.metrics == result.metrics
    finished = resume(tmp_path / "run")
    assert isinstance(finished, BlendResult)
    assert finished.parts == result.parts
    with pytest.raises(SettingError, match="a blend needs valid facts"):
        train_in(None, data, recipe.with_overrides({"data.train_on": ["train", "valid"]}))


def test_interrupted_in_a_part_it_goes_on_there(data: Dataset, tmp_path: Path) -> None:
    recipe = small_recipe(data, "blend", model__parts=_PARTS)
    interrupt = OnStep(lambda report: report.step == 5 and os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(InterruptedRun, match="gran: stopped after step 5; saved") as raised:
        train_in(tmp_path / "run", data, recipe, interrupt)
    assert raised.value.hint == f"Continue with: nary train --resume {tmp_path / 'run'}"
    with pytest.raises(NaryError, match="has no weights yet"):
        load_model(tmp_path / "run")
    resume(tmp_path / "run")
    train_in(tmp_path / "whole", data, recipe)
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")


def test_killed_it_goes_on(data: Dataset, tmp_path: Path) -> None:
    write(data, tmp_path / "data")
    parts = '[{model={name="rules"}},{model={name="m-distmult",embedding_dim=8},training={epochs=20,batch_size=16}}]'
    run = tmp_path / "run"
    process = start("train", tmp_path / "data", "--model", "blend", "--set", f"model.parts={parts}", "--out", run)
    log = run / "parts" / "m-distmult" / "metrics.jsonl"
    wait_until(lambda: log.is_file() and log.read_bytes().count(b"\n") > 1, process)
    stop(process, signal.SIGKILL)
    finish("train", "--resume", run)
    assert load_model(run).evaluate("test").metrics["entity"]["mrr"] > 0
