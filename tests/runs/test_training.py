"""What can go wrong in a training, when it stops early, and what it writes down."""

import errno
import os
from pathlib import Path
from typing import Any

import orjson
import pytest
import torch
from runs.small import dataset_of, small_data, small_recipe, small_run, start_in, train_in, weights
from safetensors.torch import load_file
from training.small import OnStep

from nary import threads
from nary.config import read_toml
from nary.data.dataset import Dataset
from nary.data.synthetic import generate
from nary.errors import NaryError, OutputError, SettingError
from nary.facts import Fact
from nary.runs import load_model, resume, train_recipe
from nary.training.callbacks import Callback, StepReport
from nary.training.trainer import Trainer, TrainingError

_OFTEN = {"training__checkpoint_minutes": 1e-9}


def newest(folder: Path) -> Path:
    return max(folder.glob("checkpoints/step-*.safetensors"))


def records(folder: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (folder / "metrics.jsonl").read_bytes().splitlines()]


def test_a_full_disk_is_an_error_that_leaves_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = small_data()
    whole, folder = tmp_path / "whole", tmp_path / "run"
    small_run(whole, dataset=data)
    start_in(folder, data, small_recipe(data, **_OFTEN))
    replace = os.replace

    def full(source: Path, target: Path) -> None:
        if "step-000000005" in str(target):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(OutputError, match="No space left on device") as caught:
            resume(folder)
    assert caught.value.exit_code == 2
    assert newest(folder).stem == "step-000000004"
    assert not list((folder / "checkpoints").glob(".nary-*"))
    resume(folder)
    assert weights(folder) == weights(whole)


def test_a_checkpoint_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    data = small_data()
    start_in(tmp_path / "run", data, small_recipe(data))
    (tmp_path / "run" / "checkpoints").write_text("in the way")
    with pytest.raises(OutputError, match="checkpoints"):
        resume(tmp_path / "run")


def test_a_log_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    data = small_data()
    start_in(tmp_path / "run", data, small_recipe(data))
    (tmp_path / "run" / "log.txt").mkdir()
    with pytest.raises(OutputError, match=r"log\.txt"):
        resume(tmp_path / "run")


def test_a_diverging_run_stops_and_keeps_its_last_good_checkpoint(tmp_path: Path) -> None:
    data = small_data()
    start_in(tmp_path / "run", data, small_recipe(data, training__learning_rate=1e30, **_OFTEN))
    with pytest.raises(TrainingError, match=r"loss is (nan|inf)|no longer finite") as caught:
        resume(tmp_path / "run")
    assert caught.value.exit_code == 1
    assert "training.learning_rate" in str(caught.value.hint)
    assert all(tensor.isfinite().all() for tensor in load_file(newest(tmp_path / "run")).values())
    assert not (tmp_path / "run" / "model" / "model.safetensors").exists()


def test_weights_that_are_not_finite_are_never_saved(tmp_path: Path) -> None:
    data = small_data()

    class Spoil(Callback):
        def on_step(self, trainer: Trainer, report: StepReport) -> None:
            with torch.no_grad():
                next(trainer.model.parameters())[0, 0] = torch.inf

    with pytest.raises(TrainingError, match="no longer finite at step 1"):
        train_in(tmp_path / "run", data, small_recipe(data, **_OFTEN), Spoil())
    assert not list(tmp_path.glob("run/checkpoints/step-*"))


def scripted(monkeypatch: pytest.MonkeyPatch, scores: list[float]) -> None:
    """Let validations come out as ``scores`` say: the score of epoch 1, of epoch 2, ..."""
    from nary.runs import training

    remaining = iter(scores)
    monkeypatch.setattr(training, "_validation", lambda model, workers: lambda: next(remaining))


def test_patience_ends_a_run_and_the_best_weights_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = small_data()
    recipe = small_recipe(data, training__epochs=9, training__eval_every=1, training__patience=2)
    embeddings: dict[int, Any] = {}

    class Keep(Callback):
        def on_step(self, trainer: Trainer, report: StepReport) -> None:
            embeddings[report.step] = trainer.model.entity_embedding.detach().clone()

    scripted(monkeypatch, [0.1, 0.3, 0.2, 0.3, 0.9])  # best after epoch 2; an equal score is not better
    trained = train_in(tmp_path / "run", data, recipe, Keep())
    module = trained.model.module
    validated = [record for record in records(tmp_path / "run") if "valid_mrr" in record]
    assert [record["valid_mrr"] for record in validated] == [0.1, 0.3, 0.2, 0.3]
    assert trained.steps == validated[-1]["step"]
    assert 4 <= trained.epochs + 0.2 < 5
    assert torch.equal(module.entity_embedding, embeddings[validated[1]["step"]])
    assert not torch.equal(module.entity_embedding, embeddings[trained.steps])
    again = resume(tmp_path / "run")  # a run that has stopped early has nothing left to do
    assert again.steps == trained.steps
    assert torch.equal(again.model.module.entity_embedding, module.entity_embedding)


def test_resuming_between_validations_changes_nothing(tmp_path: Path) -> None:
    data = small_data()
    settings: dict[str, Any] = {"training__epochs": 6, "training__eval_every": 1, "training__learning_rate": 0.05}
    small_run(tmp_path / "whole", dataset=data, **settings)
    start_in(tmp_path / "run", data, small_recipe(data, **settings, **_OFTEN))

    class KilledError(Exception):
        pass

    def kill_at(step: int) -> Any:
        def listen(report: Any) -> None:
            if report.step == step:
                raise KilledError

        return listen

    for step in (4, 11, 17, 24):
        with pytest.raises(KilledError):
            resume(tmp_path / "run", [OnStep(kill_at(step))])
    resume(tmp_path / "run")
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")
    key = ("step", "valid_mrr")
    both = [[tuple(r.get(k) for k in key) for r in records(tmp_path / name)] for name in ("run", "whole")]
    assert both[0] == both[1]
    assert len([record for record in both[0] if record[1] is not None]) >= 6


def test_the_best_weights_are_those_of_the_best_validation(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", training__epochs=6, training__eval_every=2, training__learning_rate=0.1)
    scores = [record["valid_mrr"] for record in records(tmp_path / "run") if "valid_mrr" in record]
    assert len(scores) >= 3
    assert run.evaluate("valid").metrics["entity"]["mrr"] == pytest.approx(max(scores))
    assert load_model(tmp_path / "run").evaluate("valid").metrics["entity"]["mrr"] == pytest.approx(max(scores))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"training__patience": 3}, r"training\.eval_every is 0"),
        ({"training__eval_every": 1, "data__train_on": ["train", "valid"]}, "no valid split"),
        ({"training__epochs": 1, "training__batch_size": 100_000}, "do not fill one batch of 100,000"),
        ({"training__device": "abacus"}, "cannot compute on the device 'abacus'"),
        ({"model__hidden_dim": 15}, r"model\.hidden_dim is 15"),
    ],
)
def test_settings_that_make_no_sense_are_refused(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(NaryError, match=message) as caught:
        small_run(tmp_path / "run", **changed)
    assert caught.value.exit_code == 2


def test_a_split_to_learn_from_must_exist(tmp_path: Path) -> None:
    facts = [Fact("Ada", "likes", "Ben"), Fact("Ben", "likes", "Ada")]
    data = dataset_of(train=facts, test=facts[:1])
    with pytest.raises(SettingError, match="train_on names valid") as caught:
        small_run(tmp_path / "run", dataset=data, data__train_on=["train", "valid"])
    assert "train, test" in str(caught.value.hint)


def test_valid_can_be_held_out(tmp_path: Path) -> None:
    whole = small_data()
    data = Dataset("toy", whole.vocabulary, {"train": whole.train, "test": whole.test})
    run = small_run(tmp_path / "run", dataset=data, data__valid_fraction=0.1)
    assert len(run.dataset.train) + len(run.dataset.valid) == len(whole.train)
    assert len(run.dataset.valid) > 0


def test_facts_without_splits_are_divided(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", dataset=generate(facts=100, entities=10, relations=3, max_arity=3))
    assert {split: len(table) for split, table in run.dataset.splits.items()} == {"train": 80, "valid": 10, "test": 10}
    assert "split randomly" in run.dataset.notes[-1]


def test_a_folder_in_use_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="not an empty folder"):
        small_run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_run_folder_holds_what_it_should(tmp_path: Path) -> None:
    small_run(tmp_path / "run", training__epochs=3)
    found = {str(path.relative_to(tmp_path / "run")) for path in (tmp_path / "run").rglob("*") if path.is_file()}
    steps = records(tmp_path / "run")[-1]["step"]
    assert found == {
        "recipe.toml",
        *(f"{part}manifest.json" for part in ("", "checkpoints/", "model/")),
        "log.txt",
        "metrics.jsonl",
        f"checkpoints/step-{steps:09d}.safetensors",
        "model/README.md",
        "model/config.json",
        "model/metrics.json",
        "model/model.safetensors",
        "model/vocabulary.json",
        *(f"model/facts/{split}.parquet" for split in ("train", "valid", "test")),
    }
    assert read_toml(tmp_path / "run" / "recipe.toml")["training"]["epochs"] == 3
    log = (tmp_path / "run" / "log.txt").read_text()
    assert "started" in log
    assert f"finished after {steps} steps" in log


def test_others_may_read_the_weights(tmp_path: Path) -> None:
    small_run(tmp_path / "run")
    (tmp_path / "plain").write_text("")
    expected = (tmp_path / "plain").stat().st_mode
    assert (tmp_path / "run" / "model" / "model.safetensors").stat().st_mode == expected


def test_the_frequency_model_needs_no_steps(tmp_path: Path) -> None:
    data = small_data()
    trained = train_in(tmp_path / "run", data, small_recipe(data, "frequency"))
    assert (trained.steps, trained.loss) == (0, None)
    assert load_model(tmp_path / "run").evaluate().metrics == trained.model.evaluate().metrics
    assert not list((tmp_path / "run" / "checkpoints").glob("step-*"))


@pytest.mark.parametrize(
    ("model", "loss", "can"),
    [("m-transh", "cross_entropy", "margin, sampled_cross_entropy"), ("gran", "margin", "cross_entropy")],
)
def test_a_model_refuses_what_it_cannot_be_trained_with(tmp_path: Path, model: str, loss: str, can: str) -> None:
    data = small_data()
    with pytest.raises(SettingError, match=f"{model} cannot be trained with loss.name = '{loss}'") as error:
        train_in(tmp_path / "run", data, small_recipe(data, model, loss__name=loss))
    assert can in (error.value.hint or "")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("chosen", "batch_size", "count"), [(False, 8, 1), (False, 100_000, 2), (True, 8, 2)])
def test_small_models_are_trained_with_one_thread(
    monkeypatch: pytest.MonkeyPatch, chosen: bool, batch_size: int, count: int
) -> None:
    used = []

    class Threads(Callback):
        def on_start(self, trainer: Trainer) -> None:
            used.append(torch.get_num_threads())

    monkeypatch.setattr(threads, "_chosen", chosen)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        data = small_data()
        recipe = small_recipe(data, training__epochs=0, training__batch_size=batch_size)
        train_recipe(data, recipe, None, [Threads()])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert used == [count]
