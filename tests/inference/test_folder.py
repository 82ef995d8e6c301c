"""The model folder: what it holds, and what is said about one that is not in order."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest
import torch
from runs.small import small_run, weights
from safetensors.torch import load_file, save_file

from nary.errors import NaryError, OutputError, SettingError
from nary.facts.storage import save_table_parquet
from nary.facts.table import Block, FactTable
from nary.files.manifest import write_manifest
from nary.inference.folder import ModelFolderError
from nary.models.batch import Batch, Group
from nary.models.gran import Gran
from nary.runs import TrainedModel, load_model, resume


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trained") / "run"


@pytest.fixture(scope="module")
def trained(folder: Path) -> TrainedModel:
    return small_run(folder, training__epochs=1)


@pytest.fixture
def saved(trained: TrainedModel, tmp_path: Path) -> Path:
    trained.save(tmp_path / "model")
    return tmp_path / "model"


def test_a_saved_model_answers_as_before(trained: TrainedModel, saved: Path) -> None:
    again = load_model(saved)
    name = trained.dataset.vocabulary.entities[0]
    query = f"{name} | {trained.dataset.vocabulary.relations[-1]} | ?"
    assert again.predict(query) == trained.predict(query)
    assert again.evaluate().metrics == trained.evaluate().metrics
    assert again.dataset.fingerprint == trained.dataset.fingerprint
    assert again.settings == trained.settings
    assert not again.module.training


@pytest.mark.parametrize("model", ["gran", "frequency", "rules"])
def test_scores_come_back_to_the_last_bit(model: str, tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", model)
    run.save(tmp_path / "model")
    for again in (load_model(tmp_path / "run"), load_model(tmp_path / "model")):
        for block in run.dataset.test.blocks:
            ids = torch.from_numpy(block.ids).long()
            for column in range(ids.shape[1]):
                batch = Batch([Group(ids, torch.full((len(ids),), column))])
                kind = "entity" if column in block.entity_columns else "relation"
                assert torch.equal(again.module.score(batch, kind), run.module.score(batch, kind))


@pytest.mark.parametrize("model", ["gran", "hype"])
def test_large_weights_stay_in_their_file(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nary.inference.folder._MAPPED", 0)
    run = small_run(tmp_path / "run", model, training__epochs=1)
    before = weights(tmp_path / "run")
    again = load_model(tmp_path / "run")
    assert again.evaluate().metrics["entity"] == pytest.approx(run.evaluate().metrics["entity"])
    with torch.no_grad():
        for parameter in again.module.parameters():
            parameter.zero_()
    assert weights(tmp_path / "run") == before  # what is in memory is a copy from then on


def test_a_run_folder_and_its_model_folder_are_the_same_model(trained: TrainedModel, folder: Path) -> None:
    run, model = load_model(folder), load_model(folder / "model")
    assert run.evaluate().metrics == model.evaluate().metrics
    assert run.recipe == model.recipe == trained.recipe


def test_it_is_written_once(trained: TrainedModel, saved: Path) -> None:
    with pytest.raises(OutputError, match="cannot write"):
        trained.save(saved)
    load_model(saved)


def test_equal_models_give_equal_files(trained: TrainedModel, saved: Path, tmp_path: Path) -> None:
    load_model(saved).save(tmp_path / "again")
    files = [path.relative_to(saved) for path in saved.rglob("*") if path.is_file()]
    assert len(files) == 9
    for file in files:
        if file.suffix != ".parquet" and file.name != "manifest.json":
            assert (tmp_path / "again" / file).read_bytes() == (saved / file).read_bytes(), file


FILES = ["config.json", "vocabulary.json", "model.safetensors", "metrics.json"]
FILES += [f"facts/{split}.parquet" for split in ("train", "valid", "test")]
READ = [name for name in FILES if name != "metrics.json"]


def refused(folder: Path, message: str = ".") -> ModelFolderError:
    """The error of loading ``folder``, whatever its checksums."""
    with pytest.raises(ModelFolderError, match=message) as caught:
        load_model(folder, verify=False)
    assert (caught.value.exit_code, caught.value.kind) == (2, "model")
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_checked(saved: Path, name: str) -> None:
    path = saved / name
    whole = path.read_bytes()
    chance = random.Random(0)
    contents = [whole[: len(whole) * part // 8] for part in range(8)] + [whole[:-1]]
    contents += [chance.randbytes(size) for size in (1, 9, len(whole))]
    contents += [b"[]" if name != "metrics.json" else b"{}", b"{}", b"null", b'"text"', b"[" * 100_000, b"\xff\xfe"]
    for content in contents:
        path.write_bytes(content)
        assert str(path.parent.parent if name.startswith("facts") else path.parent) in str(refused(saved).file)
    path.write_bytes(whole)
    load_model(saved)


@pytest.mark.parametrize("name", READ)
def test_no_file_may_be_missing(saved: Path, name: str) -> None:
    (saved / name).unlink()
    refused(saved)
    (saved / name).mkdir()
    refused(saved)


@pytest.mark.parametrize("name", FILES)
def test_files_of_another_kind_are_refused(saved: Path, name: str) -> None:
    for other in FILES:
        if other != name:
            content = (saved / name).read_bytes()
            (saved / name).write_bytes((saved / other).read_bytes())
            refused(saved)
            (saved / name).write_bytes(content)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"format": 2, "nary": "9.0"}, r"newer version of Nary \(format 2, 9\.0\)"),
        ({"format": "new"}, "not the description of a model"),
        ({"format": True}, "not the description of a model"),
        ({"dataset": 5}, "dataset is missing or of the wrong type"),
        ({"fingerprint": None}, "fingerprint is missing or of the wrong type"),
        ({"fingerprint": "0"}, "not those it was made with"),
        ({"model": {"name": "grannn"}}, "unknown model 'grannn'"),
        ({"model": {"name": ["gran"]}}, "unknown model"),
        ({"model": {"name": "gran", "layer": 2}}, r"unknown key model\.layer"),
        ({"model": {"name": "gran", "num_layers": "1"}}, r"model\.num_layers is '1'"),
        (
            {"model": {"name": "gran", "num_layers": 1, "hidden_dim": 15, "num_heads": 2, "ffn_dim": 16}},
            "2 heads cannot share",
        ),
        ({"model": {"name": "gran", "num_layers": 1, "hidden_dim": 8, "num_heads": 2, "ffn_dim": 16}}, "is of shape"),
        ({"model": {"name": "frequency"}}, "is missing, or not part of this model"),
        ({"model": "gran"}, "model is 'gran', not a table"),
        ({"sizes": {"num_entities": 20}}, "sizes are not those"),
        ({"sizes": {"num_entities": 10**12, "num_relations": 6, "max_arity": 4}}, "sizes are not those"),
        ({"recipe": []}, "damaged"),
        ({"recipe": {"training": {"epoch": 1}}}, r"data\.name is missing|unknown key"),
    ],
)
def test_a_description_that_is_not_right(saved: Path, changed: dict[str, object], message: str) -> None:
    path = saved / "config.json"
    config = orjson.loads(path.read_bytes())
    if "model" in changed:
        config["recipe"]["model"] = changed["model"]
    else:
        config |= changed
    path.write_bytes(orjson.dumps(config))
    assert str(saved) in str(refused(saved, message).file)


@pytest.mark.parametrize("key", ["num_layers", "hidden_dim", "ffn_dim", "num_heads"])
def test_no_model_is_built_that_is_larger_than_its_weights(saved: Path, key: str) -> None:
    path = saved / "config.json"
    config = orjson.loads(path.read_bytes())
    config["recipe"]["model"][key] = 10**12
    path.write_bytes(orjson.dumps(config))
    refused(saved, rf"model\.{key} is 1,000,000,000,000, and the weights are of a smaller model")


def test_an_empty_weight_file_does_not_lift_that_limit(saved: Path) -> None:
    save_file({}, saved / "model.safetensors")
    refused(saved, "the weights are of a smaller model")


def test_weights_that_are_not_right(saved: Path) -> None:
    path = saved / "model.safetensors"
    weights = load_file(path)
    name = next(name for name, tensor in weights.items() if tensor.dim() == 2)
    changes: list[tuple[dict[str, torch.Tensor], str]] = [
        ({name: weights[name][:-1].clone()}, f"{name} is of shape"),
        ({name: weights[name].double()}, r"of torch\.float64, not torch\.float32"),
        ({name: torch.full_like(weights[name], torch.nan)}, "no number"),
        ({"eval": torch.zeros(1)}, "eval is missing, or not part of this model"),
    ]
    for changed, message in changes:
        save_file({**weights, **changed}, path)
        refused(saved, message)
    save_file({key: tensor for key, tensor in weights.items() if key != name}, path)
    refused(saved, f"{name} is missing")
    header = b'{"a": {"dtype": "F32", "shape": [1000000000000], "data_offsets": [0, 4000000000000]}}'
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    refused(saved, "damaged")
    path.write_bytes((1 << 62).to_bytes(8, "little") + b"{}")
    refused(saved, "damaged")


def test_names_and_labels_that_are_not_right(saved: Path) -> None:
    path = saved / "vocabulary.json"
    content = orjson.loads(path.read_bytes())
    repeated = [content["entities"][0], *content["entities"][:-1]]
    for changed in (
        {"labels": []},
        {"labels": {content["entities"][0]: 5}},
        {"entities": repeated},
        {"relations": content["relations"][:-1]},
        {"entities": "abc"},
        {"entities": [*content["entities"], "one more"]},
        {"relations": [[], {}]},
    ):
        path.write_bytes(orjson.dumps({**content, **changed}))
        refused(saved)


def test_ids_that_no_name_has(trained: TrainedModel, saved: Path) -> None:
    """Even where the fingerprint fits."""
    blocks = trained.dataset.train.blocks
    strange = FactTable(
        [Block(np.where(block.ids == block.ids.max(), 9999, block.ids), block.rows) for block in blocks]
    )
    save_table_parquet(strange, saved / "facts" / "train.parquet")
    dataset = replace(trained.dataset, splits={**trained.dataset.splits, "train": strange})
    path = saved / "config.json"
    path.write_bytes(orjson.dumps({**orjson.loads(path.read_bytes()), "fingerprint": dataset.fingerprint}))
    refused(saved, "an id that is not in the vocabulary")


def test_facts_of_another_model_are_noticed(saved: Path) -> None:
    (saved / "facts" / "test.parquet").write_bytes((saved / "facts" / "valid.parquet").read_bytes())
    refused(saved, "not those it was made with")


def test_older_folders_have_no_metrics(saved: Path) -> None:
    (saved / "metrics.json").unlink()
    (saved / "README.md").unlink()
    assert load_model(saved, verify=False).reports == []


def test_a_training_that_is_not_finished(saved: Path) -> None:
    (saved / "model.safetensors").unlink()
    assert "--resume" in str(refused(saved, "no weights yet").hint)


def test_what_was_evaluated_is_kept(trained: TrainedModel, saved: Path, tmp_path: Path) -> None:
    run = load_model(saved)
    assert (run.reports, orjson.loads((saved / "metrics.json").read_bytes())) == ([], [])
    test, valid = run.evaluate(), run.evaluate("valid")
    unfiltered = run.evaluate(protocol=run.protocol({"evaluation.filter": "none"}))
    for report in (test, valid, unfiltered, test):
        run.add_report(report, saved)
    assert orjson.loads((saved / "metrics.json").read_bytes()) == [
        report.as_dict() for report in (valid, unfiltered, test)
    ]
    again = load_model(saved)
    assert [report.as_dict() for report in again.reports] == [report.as_dict() for report in run.reports]
    assert again.reports[-1].table() == test.table()
    again.save(tmp_path / "again")
    assert (tmp_path / "again" / "metrics.json").read_bytes() == (saved / "metrics.json").read_bytes()
    with pytest.raises(SettingError, match="other facts"):
        run.add_report(replace(test, split="other facts"), saved)


def test_training_keeps_what_it_validated_at_the_end(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", training__eval_every=1, training__epochs=3)
    kept = load_model(tmp_path / "run").reports
    assert [report.split for report in kept] == ["valid"]
    assert kept[0].metrics == run.evaluate("valid").metrics
    run.add_report(run.evaluate("test"), tmp_path / "run" / "model")
    before = (tmp_path / "run" / "model" / "metrics.json").read_bytes()
    resume(tmp_path / "run")  # which has nothing left to do
    assert (tmp_path / "run" / "model" / "metrics.json").read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        [{"split": "test"}],
        [{"dataset": "a", "split": "b", "protocol": {"filter": "some"}, "metrics": {}, "notes": []}],
        [{"dataset": "a", "split": "b", "protocol": {}, "metrics": {"entity": {"mrr": "high"}}, "notes": []}],
    ],
)
def test_metrics_that_are_not_right(saved: Path, content: object) -> None:
    (saved / "metrics.json").write_bytes(orjson.dumps(content))
    assert refused(saved).file == str(saved / "metrics.json")


def test_a_metric_that_an_older_report_lacks_is_absent(saved: Path) -> None:
    run = load_model(saved)
    run.add_report(run.evaluate(), saved)
    content = orjson.loads((saved / "metrics.json").read_bytes())
    for figures in content[0]["metrics"].values():
        del figures["hits@5"]
    del content[0]["metrics"]["entity"]["mr"]
    (saved / "metrics.json").write_bytes(orjson.dumps(content))
    write_manifest(saved)
    (report,) = load_model(saved).reports
    assert "Hits@5" not in report.table()
    assert (
        report.table().splitlines()[1].split() == run.reports[0].table().replace("Hits@5", "").splitlines()[1].split()
    )
    assert len(report.table().splitlines()[2].split()) == len(report.table().splitlines()[3].split()) - 1
    load_model(saved).add_report(report, saved)
    assert report.csv()
    assert report.latex()


@pytest.mark.parametrize("error", [TypeError, LookupError, ZeroDivisionError])
def test_a_bug_in_a_model_looks_like_one(saved: Path, error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise error("a bug")

    for method in ("__init__", "load_state_dict"):
        with monkeypatch.context() as patched:
            patched.setattr(Gran, method, broken)
            with pytest.raises(error, match="a bug"):
                load_model(saved)
    load_model(saved)


@pytest.mark.parametrize("open", [load_model, resume])
def test_what_is_no_folder_of_ours(open: Callable[[Path], object], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "none", tmp_path, tmp_path / "file"):
        with pytest.raises(NaryError, match=r"no model or run folder|not a run folder") as caught:
            open(path)
        assert caught.value.exit_code == 2
        assert "nary train" in str(caught.value.hint)
