"""Run and model folders: nothing is lost when several processes work, nothing changes unnoticed."""

import shutil
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import orjson
import pytest
from apps.command import Nary
from runs.small import small_data, small_recipe, small_run, start_in, train_in, weights

from nary.errors import NaryWarning, OutputError, SettingError
from nary.files.locks import LockedError, file_lock
from nary.files.manifest import IntegrityError, verify, write_manifest
from nary.inference.batch import Job, predict_file
from nary.runs import RunFolder, load_model, resume
from nary.training.callbacks import Callback, StepReport
from nary.training.trainer import Trainer, TrainingError


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "run"
    small_run(folder, training__eval_every=1, training__checkpoint_minutes=1e-9)
    return folder


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "run"))


def test_lost_results_of_six_evaluations_at_once(run: Path) -> None:
    models = [load_model(run) for _ in range(6)]
    filters = ("slots", "none")
    ties = ("mean", "optimistic", "pessimistic")
    protocols = [{"evaluation.filter": filter, "evaluation.ties": tie} for filter in filters for tie in ties]
    reports = [
        model.evaluate(protocol=model.protocol(protocol)) for model, protocol in zip(models, protocols, strict=True)
    ]
    together = threading.Barrier(6)

    def store(number: int) -> None:
        together.wait()
        models[number].add_report(reports[number], run / "model")

    threads = [threading.Thread(target=store, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stored = load_model(run).reports
    assert len([report for report in stored if report.split == "test"]) == 6
    assert {check.state for check in verify(run)} == {"ok"}


def test_lost_results_when_the_model_was_trained_anew_meanwhile(run: Path) -> None:
    model = load_model(run)
    report = model.evaluate()
    other = load_model(run)
    next(other.module.parameters()).data += 1
    other.save_trained(run / "model")
    with pytest.raises(OutputError, match="has changed since it was loaded"):
        model.add_report(report, run / "model")


def test_lost_results_of_parallel_predictions_to_one_file(run: Path, tmp_path: Path) -> None:
    model = load_model(run)
    queries, out = tmp_path / "queries.txt", tmp_path / "answers.jsonl"
    name, relation = model.vocabulary.entities[0], model.vocabulary.relations[-1]
    queries.write_text(f"{name} | {relation} | ?\n" * 5)
    with file_lock(out), pytest.raises(LockedError, match=r"answers\.jsonl is in use"):
        predict_file(model.predictor, Job(queries, out))
    for _ in range(2):
        predict_file(model.predictor, Job(queries, out))
    assert len(out.read_bytes().splitlines()) == 5
    names = ["answers.jsonl", "answers.jsonl.meta.json", "queries.txt", "run"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_lost_results_of_a_second_resume(run: Path) -> None:
    before = (run / "metrics.jsonl").read_bytes()
    with RunFolder(run).locked(), pytest.raises(LockedError, match="run is in use by another process"):
        resume(run)
    assert (run / "metrics.jsonl").read_bytes() == before
    resume(run)


class Removing(Callback):
    """Removes the run folder, or does something else to it, at a step, by default the last."""

    def __init__(self, step: int | None, action: Callable[[], object]) -> None:
        self.step, self.action = step, action

    def on_step(self, trainer: Trainer, report: StepReport) -> None:
        if report.step == (self.step or report.steps):
            self.action()


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("step", [3, None])
def test_training_into_a_folder_that_was_deleted_meanwhile(step: int | None, replaced: bool, tmp_path: Path) -> None:
    data, folder = small_data(), tmp_path / "run"
    recipe = small_recipe(data, training__checkpoint_minutes=1e-9)
    small_run(tmp_path / "whole", dataset=data)

    def remove() -> None:
        shutil.rmtree(folder)
        if replaced:  # by another run
            start_in(folder, data, recipe)

    with pytest.raises(TrainingError, match="was removed, or replaced, during the training") as caught:
        train_in(folder, data, recipe, Removing(step, remove))
    rescued = tmp_path / "run-rescued"
    assert caught.value.exit_code == 1
    assert str(caught.value.hint).endswith(f"nary train --resume {rescued}")
    resume(rescued)
    assert weights(rescued) == weights(tmp_path / "whole")
    assert load_model(rescued).evaluate().metrics == load_model(tmp_path / "whole").evaluate().metrics
    assert not (folder / "checkpoints").exists()


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("name", ["config", "vocabulary", "model.safetensors", "metrics", "facts/train.parquet"])
def test_no_checksums_of_models(name: str, run: Path) -> None:
    path = run / "model" / (name if "." in name else f"{name}.json")
    flip_a_bit(path)
    for folder in (run, run / "model"):
        with pytest.raises(IntegrityError, match="changed since it was written") as caught:
            load_model(folder)
        assert caught.value.file == str(path)


def test_no_checksums_of_swapped_labels(run: Path) -> None:
    path = run / "model" / "vocabulary.json"
    content = orjson.loads(path.read_bytes())
    first, second = content["entities"][:2]
    path.write_bytes(orjson.dumps({**content, "labels": {first: second, second: first}}))
    with pytest.raises(IntegrityError):
        load_model(run)
    assert load_model(run, verify=False).vocabulary.label(first) == second


def test_no_checksums_of_edited_model_settings(run: Path) -> None:
    path = run / "model" / "config.json"
    path.write_bytes(path.read_bytes().replace(b'"dropout": 0.1', b'"dropout": 0.9'))
    with pytest.raises(IntegrityError):
        load_model(run)
    assert load_model(run, verify=False).settings.model_dump()["dropout"] == 0.9


@pytest.mark.parametrize("damage", [flip_a_bit, Path.unlink, lambda path: path.write_bytes(b"")])
def test_a_bad_newest_checkpoint_gives_way_to_the_one_before(damage: Callable[[Path], object], run: Path) -> None:
    before = weights(run)
    older, newest = sorted((run / "checkpoints").glob("step-*"))
    damage(newest)
    with pytest.warns(NaryWarning, match=f"{newest.name}: damaged.*going on from {older.name}") as caught:
        resume(run)
    assert len(caught) == 1
    assert weights(run) == before
    assert {check.state for check in verify(run)} == {"ok"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        resume(run)


def test_an_edited_recipe_is_said_on_resume(run: Path) -> None:
    path = run / "recipe.toml"
    path.write_text(path.read_text().replace("epochs = 4", "epochs = 5"))
    with pytest.warns(NaryWarning, match=r"edited after training: training\.epochs is 5, was 4; the model is used as"):
        assert load_model(run).recipe.training.epochs == 4
    with pytest.warns(NaryWarning, match=r"recipe\.toml was edited: training\.epochs is 5, was 4"):
        resume(run)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_model(run).recipe.training.epochs == 5
    assert {check.state for check in verify(run)} == {"ok"}


def test_folders_without_a_manifest_say_so(run: Path) -> None:
    for manifest in run.rglob("manifest.json"):
        manifest.unlink()
    with pytest.warns(NaryWarning, match="has no manifest.json"):
        load_model(run)
    with pytest.warns(NaryWarning, match="has no manifest.json"):
        resume(run)


def test_verify_lists_what_was_changed(run: Path, nary: Nary) -> None:
    assert nary("verify", run).code == 0
    assert nary("verify", run / "model", "--json").json["ok"]
    (run / "model" / "README.md").write_text("my own card")
    flip_a_bit(run / "metrics.jsonl")
    (run / "checkpoints" / "best.safetensors").unlink()
    (run / "notes.txt").write_text("mine")
    outcome = nary("verify", run, "--json")
    assert outcome.code == 1
    assert {name: state for name, state in outcome.json["files"].items() if state != "ok"} == {
        "checkpoints/best.safetensors": "missing",
        "metrics.jsonl": "changed",
        "model/README.md": "changed",
        "notes.txt": "not listed",
    }
    assert "3 of" in nary("verify", run).err
    load_model(run)  # the card may be edited
    assert nary("verify", run, "--update").code == 0
    assert nary("verify", run).code == 0
    for manifest in run.rglob("manifest.json"):
        manifest.unlink()
    assert "has no manifest.json" in nary("verify", run).err
    assert nary("verify", run, "--update").code == 0
    assert len(list(run.rglob("manifest.json"))) == 3
    assert "no model or run folder" in nary("verify", run.parent).err


def test_path_traversal_on_write(run: Path, tmp_path: Path, nary: Nary) -> None:
    """A stranger's run that names its dataset ../../../x recorded its result there."""
    for path in (run / "recipe.toml", run / "model" / "config.json"):
        path.write_text(path.read_text().replace('"generated"', '"../../../x"'))
    write_manifest(run / "model")
    before = set(tmp_path.rglob("*"))
    outcome = nary("evaluate", run, "--record", tmp_path / "a" / "b" / "c")
    assert (outcome.code, "'../../../x' cannot be the name of a folder" in outcome.err) == (2, True)
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["log.txt", "metrics.jsonl"])
def test_path_traversal_through_a_linked_log(name: str, run: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes((run / name).read_bytes())
    (run / name).unlink()
    (run / name).symlink_to(victim)
    shutil.rmtree(run / "checkpoints")
    before = victim.read_bytes()
    with suppress(OutputError):  # or the link is replaced by a file
        resume(run)
    assert victim.read_bytes() == before


@pytest.mark.parametrize("name", ["model", "checkpoints"])
def test_path_traversal_through_a_linked_folder(name: str, run: Path, tmp_path: Path) -> None:
    (run / name).rename(tmp_path / name)
    (run / name).symlink_to(tmp_path / name)
    for work in (load_model, resume):
        with pytest.raises(SettingError, match=f"{name} is a link"):
            work(run)


def test_a_log_of_a_stranger_is_read_with_care(run: Path) -> None:
    (run / "metrics.jsonl").write_bytes(b'1\n[]\n{"step": "x"}\n{}\nnull\n' + b"[" * 1000 + b"\n")
    assert RunFolder(run).records() == []
    shutil.rmtree(run / "checkpoints")
    resume(run)
    assert RunFolder(run).records()
